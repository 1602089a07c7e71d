"""A stopped run has brought all rows up to one event time and none after, so another continues in order."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.coordination.stop import StopReason
from framework.runtime.leading import draining
from tests.framework.runtime.partitioned import Partitions, Row, Stopping, chain_of, expected_rows, rows_of
from tests.framework.runtime.pieces import drawn, plan_of, run_built
from tests.framework.runtime.test_partitioned import written
from tests.portions import at_every_change

COUNT = 3000
FAR = 6_000
"""Rows of a partition where the word to stop goes from process to process meanwhile."""
RUNS = [(3, 3, "thread", FAR), (3, 3, "process", FAR)]
RUNS += [(seed, tasks, "inline", COUNT) for tasks in (2, 1, 4) for seed in range(4)]
RUNS += [(1, 1, kind, FAR) for kind in ("thread", "process")]
PATIENT = {"viper__drain__timeout__secs": 60}


def stopped(spout: Stopping, seed: int, tasks: int, kind: str = "inline", **options: Any) -> RunReport:
    par, drawn_options = drawn(seed)
    workers = {"viper__worker": kind, "topology__workers": 1 if kind == "inline" else 2}
    report = run_built(chain_of(spout, tasks, par), **{**drawn_options, **workers, **PATIENT, **options})
    assert report.reason is StopReason.INTERRUPTED and report.drained
    return report


def stopping(seed: int, count: int = COUNT) -> Stopping:
    return Stopping(4, count, seed, os.getpid(), count // 3)


@pytest.mark.few(1)
@pytest.mark.parametrize(("seed", "tasks", "kind", "count"), at_every_change(RUNS, 3))
def test_two_runs_bring_what_one_does(tmp_path: Path, seed: int, tasks: int, kind: str, count: int) -> None:
    expected = expected_rows(4, count, seed)
    at_us = {row: time_us for partition in range(4) for time_us, row in rows_of(partition, count, seed)}
    first = stopped(stopping(seed, count), seed, tasks, kind)
    rows = first.result("rows")
    assert 0 < len(rows) < len(expected), "it was not stopped in the middle"
    assert at_us[expected[len(rows) - 1]] < at_us[expected[len(rows)]], "rows of one time were torn apart"
    again = {"start": written(first, tmp_path)}
    second = run_built(chain_of(Partitions(4, count, seed), 5 - tasks), again)
    assert rows + second.result("rows") == expected


def test_without_the_cut_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: each task that stops for itself leaves out rows that others go beyond."""
    monkeypatch.setattr(SourceCut, "ends_drain", True)
    assert not all(rows == expected_rows(4, COUNT, seed)[: len(rows)] for seed, rows in enumerate(loose()))


def loose() -> Iterator[list[Row]]:
    for seed in range(4):
        yield stopped(stopping(seed), seed, 4).result("rows")


class Sparse(Stopping):
    """Its partition 0 has few rows, which its task has brought long before others come to their times."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            if block is None or partition:
                yield block
            else:
                few = [(ts, row) for ts, row in zip(*block[:2], strict=True) if row[1] % 50 == 0]
                yield Block(array("q", [ts for ts, _ in few]), [row for _, row in few])


@pytest.mark.parametrize("waits_s", at_every_change([0.025, 15]))
def test_what_is_far_ahead_is_waited_for_a_while_only(
    tmp_path: Path, waits_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The rest of the time, for what is in flight, is long in both cases: a busy machine needs it.
    monkeypatch.setattr(draining, "OF_THE_DRAIN", waits_s / PATIENT["viper__drain__timeout__secs"])
    whole = run_built(chain_of(Sparse(4, FAR, 1, 0, 0), 1)).result("rows")
    spout = Sparse(4, FAR, 1, os.getpid(), 200)
    first = stopped(spout, 1, 4, viper__channel__tuples=8192)
    second = run_built(chain_of(Sparse(4, FAR, 1, 0, 0), 2), {"start": written(first, tmp_path)})
    rows, others = first.result("rows"), second.result("rows")
    assert sorted(rows + others) == sorted(whole)
    if waits_s == 15:
        assert rows + others == whole
    else:
        assert first.emitted < len(whole)


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
    assert [{named[task] for task in cut} for cut in plan.aligned_stops] == groups
    assert sorted(task for cut in plan.aligned_stops for task in cut) == sorted(
        task for task, name in named.items() if name in "ab"
    )
