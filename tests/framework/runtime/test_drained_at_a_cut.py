"""A drained run has brought all rows up to a cut and none behind it, so another goes on in order."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.coordination import source_cut
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader
from framework.runtime.coordination.cut_record import CutRecord, Purpose
from framework.runtime.coordination.source_cut import QUIET_S, QUIET_TURNS, SourceCut
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.leading import draining
from framework.runtime.leading.draining import Draining
from tests.framework.runtime.partitioned import Partitions, Row, Stopping, chain_of, expected_rows, rows_of
from tests.framework.runtime.pieces import Timed, drawn, plan_of, run_built
from tests.framework.runtime.test_partitioned import written
from tests.portions import at_every_change
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.position import Position

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


@pytest.mark.parametrize(("joined", "times_us"), [(True, [9, 9, 9]), (False, [7, 7, 9])])
def test_those_stop_together_whose_tuples_meet(joined: bool, times_us: list[int]) -> None:
    plan, _ = plan_of(two_sources(joined))
    named = [*plan.tasks_of("a"), *plan.tasks_of("b")]
    assert plan.drained_at_cut == tuple(task.id for task in named)
    record = CutRecord.create(Arena.private(10_000), plan)
    sources = [SourceCut(record, task.id) for task in named]

    def answer(missing: Sequence[int], hint: str) -> None:
        for source, time_us in zip(sources, [5, 7, 9], strict=True):
            source.drain(time_us)

    CutLeader(plan, record, lambda: None).agree(0, answer, Purpose.DRAIN)
    for source in sources:
        source.look(10**6)
    assert [source.until_us for source in sources] == times_us


# -- the leader and the sources of a run, without their tasks


class Drained:
    """The record of a run with two partitioned sources that meet, and an ordinary one beside them."""

    def __init__(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("source", Partitions(2, 5), 2)
        builder.set_spout("ordinary", Timed)
        builder.set_bolt("sink", CollectingSink).global_grouping("source").global_grouping("ordinary")
        self.plan, _ = plan_of(builder)
        self.record = CutRecord.create(Arena.private(10_000), self.plan)
        self.tasks = [task.id for task in self.plan.tasks_of("source")]
        (ordinary,) = self.plan.tasks_of("ordinary")
        self.sources = [self.source(task) for task in self.tasks]
        self.ordinary = SourceCut(self.record, ordinary.id)
        self.leader = CutLeader(self.plan, self.record, lambda: None)
        self.stop = StopSignal()

    def source(self, task: int) -> SourceCut:
        return SourceCut(self.record, task, only_drains=True)

    def agree(self, *told_us: int) -> None:
        """Have the sources hear that the run drains, one behind the other, and the leader decide."""

        def answer(missing: Sequence[int], hint: str) -> None:
            for source, time_us in zip(self.sources, told_us, strict=True):
                source.drain(time_us)

        self.leader.agree(0, answer, Purpose.DRAIN)
        for source in self.sources:
            source.look(10**6)

    def lead(self, reason: StopReason, timeout_s: float = 0.0) -> None:
        self.stop.request(reason)
        Draining(self.plan, self.record, self.leader, self.stop, timeout_s).lead()


def came_to(time_us: int) -> tuple[Position, Position]:
    """The position of a source's last row, and the one below which it has brought everything."""
    return Position(time_us, 0, 1), Position(time_us + 1, 0, 0)


def test_partitioned_sources_end_at_the_latest_time() -> None:
    run = Drained()
    run.ordinary.look(3)
    run.agree(5, 9)
    first, second = run.sources
    assert (first.until_us, second.until_us) == (9, 9)
    assert not first.brings_nothing and not first.ends_drain
    assert first.passed(*came_to(8), waits=False) is None and not first.ends_drain
    assert first.passed(*came_to(9), waits=False) is not None
    assert first.ends_drain and first.brings_nothing and not second.ends_drain
    run.ordinary.look(3)
    assert run.ordinary.until_us == NO_LIMIT, "an ordinary spout ends where it is"


def test_nothing_is_brought_from_the_word_to_drain_to_the_decision() -> None:
    run = Drained()
    first, second = run.sources
    assert not first.brings_nothing and first.ends_drain
    first.drain(5)
    assert first.brings_nothing and not first.ends_drain, "nobody has proposed anything"

    def answer(missing: Sequence[int], hint: str) -> None:
        assert list(missing) == run.tasks
        first.look(5)
        assert first.brings_nothing
        second.drain(7)

    run.leader.agree(0, answer, Purpose.DRAIN)
    first.look(5)
    assert not first.brings_nothing and first.until_us == 7


def test_a_run_whose_only_cut_is_a_drain_is_not_looked_at_before() -> None:
    run = Drained()
    run.record.propose(0, {}, Purpose.DRAIN)
    (first, _) = run.sources
    first.look(5)
    assert not first.has_news and first.until_us == NO_LIMIT and not first.is_alone
    first.end(12)
    assert run.record.ended_us(run.tasks[0]) == 12


def test_one_that_has_ended_counts_with_its_time() -> None:
    run = Drained()
    run.sources[0].end(12)

    def answer(missing: Sequence[int], hint: str) -> None:
        assert list(missing) == run.tasks[1:]
        run.sources[1].drain(7)

    run.leader.agree(0, answer, Purpose.DRAIN)
    run.sources[1].look(7)
    assert run.sources[1].until_us == 12


def test_a_death_takes_back_a_proposal_and_no_decision() -> None:
    run = Drained()

    def die(missing: Sequence[int], hint: str) -> None:
        run.sources[0].drain(5)
        run.leader.interrupt()

    with pytest.raises(CutInterruptedError):
        run.leader.agree(0, die, Purpose.DRAIN)
    run.sources[0].look(5)
    assert run.sources[0].brings_nothing and not run.sources[0].ends_drain
    run.agree(5, 9)
    run.sources[1].passed(*came_to(9), waits=False)
    run.leader.interrupt()
    run.leader.check()
    successors = [run.source(task) for task in run.tasks]
    for successor in successors:
        successor.drain(5)
    assert [successor.until_us for successor in successors] == [9, 9]
    assert [successor.ends_drain for successor in successors] == [False, True]


def test_a_second_without_a_row_ends_a_source_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Drained()
    run.agree(5, 9)
    first, _ = run.sources
    for turn in range(2 * QUIET_TURNS):
        assert not first.ends_drain
        now_s = 100.0 + (turn - QUIET_TURNS) * QUIET_S / (QUIET_TURNS - 1)
        monkeypatch.setattr(source_cut.time, "monotonic", lambda now_s=now_s: now_s)
        first.passed(*came_to(6), waits=turn != QUIET_TURNS - 1)  # then a row has come
    assert first.ends_drain


@pytest.mark.parametrize("reason", [StopReason.MAX_TUPLES, StopReason.SUSPENDED, StopReason.FAILED])
def test_where_nobody_could_catch_up_all_end_at_once(reason: StopReason) -> None:
    run = Drained()
    for source in run.sources:
        source.drain(5)
        assert not source.ends_drain
    run.lead(reason)
    assert run.record.attempt == 0 and all(source.ends_drain for source in run.sources)


def test_who_does_not_come_to_the_cut_is_named_and_all_are_released(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = Drained()
    first, second = run.sources
    first.drain(5)
    run.lead(StopReason.INTERRUPTED)
    second.drain(9)
    assert first.ends_drain and second.ends_drain
    (said,) = caplog.messages
    named = ", ".join(f"source:{task}" for task in run.tasks)
    assert said.startswith(f"{named} has not come to the time of the others")


def test_a_drain_does_not_wait_for_ever_for_its_turn(caplog: pytest.LogCaptureFixture) -> None:
    run = Drained()
    run.sources[0].drain(5)
    with run.leader.turn:
        run.lead(StopReason.DURATION)
    assert run.sources[0].ends_drain and run.record.attempt == 0
    assert "a checkpoint or a change of tasks goes on; all sources end" in caplog.text


def test_a_source_that_nobody_reads_ends_by_itself() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(2, 5))
    plan, _ = plan_of(builder)
    record = CutRecord.create(Arena.private(10_000), plan)
    source = SourceCut(record, 1, only_drains=True)
    source.drain(5)
    assert source.ends_drain and not source.brings_nothing
