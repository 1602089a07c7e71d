"""A stopped run has brought all rows up to one event time and none behind, so another goes on in order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.runtime import RunReport
from framework.runtime.common_stop import QUIET_S, CommonStop
from framework.runtime.stop import StopReason
from framework.sinks import CollectingSink
from tests.framework.runtime.partitioned import Partitions, Row, Stopping, chain_of, expected_rows, rows_of
from tests.framework.runtime.pieces import drawn, plan_of, run_built
from tests.framework.runtime.test_partitioned import written
from viper.arena import Arena
from viper.cut import Cut
from viper.partitions import NO_LIMIT

COUNT = 3000
RUNS = [(seed, tasks, "inline") for seed in range(4) for tasks in (1, 2, 4)]
RUNS += [(tasks, tasks, kind) for tasks in (1, 2, 4) for kind in ("thread", "process")]


def stopping(seed: int, at: int = COUNT // 3) -> Stopping:
    return Stopping(4, COUNT, seed, os.getpid(), at)


def stopped(seed: int, tasks: int, kind: str) -> RunReport:
    par, options = drawn(seed)
    options |= {"viper__worker": kind, "topology__workers": 1 if kind == "inline" else 2}
    report = run_built(chain_of(stopping(seed), tasks, par), **options)
    assert report.reason is StopReason.INTERRUPTED and report.drained
    return report


def times(seed: int) -> dict[Row, int]:
    return {row: time_us for partition in range(4) for time_us, row in rows_of(partition, COUNT, seed)}


@pytest.mark.parametrize(("seed", "tasks", "kind"), RUNS)
def test_two_runs_bring_what_one_does(tmp_path: Path, seed: int, tasks: int, kind: str) -> None:
    expected, at_us = expected_rows(4, COUNT, seed), times(seed)
    first = stopped(seed, tasks, kind)
    rows = first.result("rows")
    assert 0 < len(rows) < len(expected), "it was not stopped in the middle"
    assert at_us[expected[len(rows) - 1]] < at_us[expected[len(rows)]], "rows of one time were torn apart"
    again = {"start": written(first, tmp_path)}
    second = run_built(chain_of(stopping(seed, at=0), 5 - tasks), again)
    assert rows + second.result("rows") == expected


def test_without_the_cut_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: each task that stops for itself leaves out rows that others go beyond."""
    monkeypatch.setattr(CommonStop, "is_there", lambda *_: True)
    assert not all(rows == expected_rows(4, COUNT, seed)[: len(rows)] for seed, rows in enumerate(loose()))


def loose() -> Iterator[list[Row]]:
    for seed in range(4):
        yield stopped(seed, 4, "inline").result("rows")


def test_a_source_that_stands_still_is_not_waited_for() -> None:
    class Standing(Stopping):
        def blocks(self, partition: int, start_us: int | None) -> Any:
            yield from super().blocks(partition, start_us)
            while True:
                yield None

    report = run_built(chain_of(Standing(2, 200, 0, os.getpid(), 100), 2))
    assert report.drained and report.reason is StopReason.INTERRUPTED
    # What lies up to where both have said that nothing comes before; nobody knows whether more is to come.
    rows = report.result("rows")
    assert len(rows) > 100 and rows == expected_rows(2, 200, 0)[: len(rows)]


def test_a_quota_that_is_used_up_ends_all_where_they_are() -> None:
    report = run_built(chain_of(Partitions(4, 500, 1), 4), {"max_tuples": 300})
    assert report.reason is StopReason.MAX_TUPLES and report.emitted == 300


# -- groups


def two_sources(joined: bool) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("a", Partitions(2, 5), 2)
    builder.set_spout("b", Partitions(2, 5))
    builder.set_spout("alone", Partitions(2, 5))
    builder.set_bolt("x", CollectingSink).global_grouping("a")
    builder.set_bolt("y", CollectingSink).global_grouping("b")
    if joined:
        builder.set_bolt("z", CollectingSink).global_grouping("a").global_grouping("b")
    return builder


@pytest.mark.parametrize(("joined", "groups"), [(True, [{"a", "b"}]), (False, [{"a"}, {"b"}])])
def test_those_stop_together_whose_tuples_meet(joined: bool, groups: list[set[str]]) -> None:
    plan, _ = plan_of(two_sources(joined))
    named = {task.id: task.component for task in plan.tasks}
    assert [{named[task] for task in cut} for cut in plan.cuts] == groups
    assert sorted(task for cut in plan.cuts for task in cut) == sorted(
        task for task, name in named.items() if name in "ab"
    )


# -- one task's stop, by a clock of its own


def common_stop(longest_s: float = 100.0) -> tuple[CommonStop, Cut]:
    arena = Arena.private(10_000)
    cut = Cut.create(arena, 2)
    return CommonStop((cut, 0), longest_s), cut


def test_it_goes_on_until_the_latest_of_all() -> None:
    stop, cut = common_stop()
    assert stop.until_us == NO_LIMIT
    stop.ask(0.0)
    stop.say(50)
    assert stop.until_us is None and not stop.is_there(51, 0.0)
    cut.say(1, 70)
    assert stop.until_us == 70
    assert not stop.is_there(70, 0.0)
    assert stop.is_there(71, 0.0)


def test_it_waits_for_words_as_long_as_it_may_and_for_rows_only_a_while() -> None:
    stop, cut = common_stop()
    stop.ask(0.0)
    stop.say(50)
    stop.brought(0, 1.0)
    assert not stop.is_there(51, 99.0)
    assert stop.is_there(51, 100.0)
    cut.say(1, 70)
    stop.brought(0, 20.0)
    stop.brought(3, 21.0)
    stop.brought(0, 22.0)
    stop.brought(0, 22.0 + QUIET_S / 2)
    assert not stop.is_there(60, 22.0 + QUIET_S / 2)
    assert stop.is_there(60, 22.0 + QUIET_S)


def test_who_leaves_stops_for_itself_but_has_said_where() -> None:
    stop, cut = common_stop()
    stop.ask(0.0)
    stop.say(50)
    stop.leave()
    cut.say(1, 20)
    assert stop.until_us == NO_LIMIT and stop.is_there(51, 0.0) and cut.at == 50
