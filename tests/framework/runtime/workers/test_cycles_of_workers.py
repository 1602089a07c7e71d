"""A cycle stays on one worker, which sees when nothing goes round any more."""

from __future__ import annotations

from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime import StopReason, StopSignal
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.components import Pass, RowsOfTwo, Steps
from tests.framework.runtime.workers.running import Workers, every_kind, several

ROWS = [[n, n % 20 + 1] for n in range(200)]
ROUNDS = sum(left for _, left in ROWS)


def looped(par: int, rows: list[list[int]] = ROWS) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", RowsOfTwo, args=[rows])
    builder.set_bolt("before", Pass, par).shuffle_grouping("source")
    entry = builder.set_bolt("entry", Pass, par).fields_grouping("before", "n")
    entry.fields_grouping("step", "n", stream="again")
    builder.set_bolt("step", Steps, par).shuffle_grouping("entry")
    builder.set_bolt("after", Pass, par).shuffle_grouping("step", stream="done")
    builder.set_bolt("sink", CollectingSink).global_grouping("after")
    return builder


@pytest.mark.few(5)
@pytest.mark.parametrize("par", [1, 3])
@pytest.mark.parametrize("seed", range(2))
@every_kind
def test_nothing_is_lost_and_the_run_ends(workers: Workers, par: int, seed: int) -> None:
    options: dict[str, Any] = {"viper__scheduling": "random", "viper__seed": seed}
    tight = {"viper__channel__jumbos": 1, "viper__jumbo__size": 7} if seed % 2 else {}
    report = workers.run(looped(par), **options, **tight)
    assert sorted(report.result("sink")) == [(n, 0) for n in range(200)], (seed, options, tight)
    assert report.components["entry"].processed == report.components["step"].processed == ROUNDS
    assert (report.reason, report.drained) == (StopReason.EXHAUSTED, True)


@several
def test_all_its_tasks_are_on_one_worker_and_others_elsewhere(workers: Workers) -> None:
    plan, _ = plan_of(looped(3), **workers.options)
    of = {plan.tasks[t - 1].component: set() for e in plan.placement.executors for t in e.tasks}
    for executor in plan.placement.executors:
        for task in executor.tasks:
            of[plan.tasks[task - 1].component].add(executor.worker)
    assert of["entry"] == of["step"]
    assert len(of["entry"]) == 1
    assert len(of["before"] | of["after"] | of["source"] | of["sink"]) == 3


@every_kind
def test_one_that_goes_round_for_ever_is_stopped(workers: Workers) -> None:
    """Its tuples have a million rounds to go, so it has not ended by itself when it is told to."""
    options = {"viper__drain__timeout__secs": 0.2}
    limits = {"stop": (stop := StopSignal()), "duration_s": 0.2}
    report = workers.run(looped(2, [[n, 10**9] for n in range(10)]), limits, **options)
    assert stop.requested
    assert (report.reason, report.drained) == (StopReason.DURATION, False)
    assert report.components["step"].processed > 0
