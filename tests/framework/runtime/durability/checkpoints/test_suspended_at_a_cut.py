"""A run is suspended by a cut: its sources stop, come to one event time, and the run is closed there."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions
from framework.runtime.coordination import cut_record, source_cut
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader
from framework.runtime.coordination.cut_record import CutRecord, CutState, InputEnd, Purpose
from framework.runtime.coordination.source_cut import QUIET_S, QUIET_TURNS, SourceCut
from framework.runtime.coordination.stop import StopReason
from framework.runtime.tasks.bolt_cut import BoltCut
from tests.framework.runtime.durability.checkpoints.suspended import (
    Clock,
    Suspending,
    Twice,
    built,
    run_suspended,
    suspending,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built
from viper.arena import Arena
from viper.partitions import NO_LIMIT
from viper.position import END, LEAST, Position


class Suspended:
    """The record of a run with some sources that meet in a bolt, and what its tasks do with it."""

    def __init__(self, sources: int) -> None:
        self.plan, _ = plan_of(built(Partitions(), sources, 1))
        self.record = CutRecord.create(Arena.private(10_000), self.plan)
        self.tasks = [task.id for task in self.plan.tasks_of("source")]
        self.sources = [SourceCut(self.record, task) for task in self.tasks]
        (clock,) = self.plan.tasks_of("clock")
        self.clock = clock.id
        self.leader = CutLeader(self.plan, self.record, lambda: None)

    def agree(self, *told_us: int) -> None:
        """Have the sources answer, one after the other, and the leader decide."""

        def answer(missing: Sequence[int], hint: str) -> None:
            for source, time_us in zip(self.sources, told_us, strict=True):
                source.look(time_us)

        self.leader.agree(1, answer, Purpose.SUSPENSION)
        self.look()

    def look(self) -> None:
        """Have the sources hear what the leader says."""
        for source in self.sources:
            source.look(10**6)

    @property
    def laggards(self) -> list[int]:
        return [task for task in self.tasks if not self.record.has_passed(task)]


def test_all_come_to_the_latest_time() -> None:
    run = Suspended(2)
    first, second = run.sources
    assert not first.suspends and first.until_us == NO_LIMIT
    asked: list[bool] = []

    def answer(missing: Sequence[int], hint: str) -> None:
        assert list(missing) == run.tasks
        first.look(5)
        asked.append(first.suspends and first.brings_nothing and not second.suspends)
        assert first.until_us == 5 and first.passed(Position(5, 0, 1), END, waits=True) is None
        second.look(9)

    run.leader.agree(1, answer, Purpose.SUSPENSION)
    first.look(20)  # only the first answer counts
    second.look(20)
    assert asked == [True] and first.until_us == second.until_us == 9
    assert not first.brings_nothing
    assert first.passed(Position(9, 0, 1), Position(9, 1, 0), waits=False) is None  # a row may come
    assert run.laggards == run.tasks
    passed = first.passed(Position(9, 0, 1), Position(10, 0, 0), waits=False)
    assert passed is not None and passed.purpose is Purpose.SUSPENSION
    assert first.is_there and first.brings_nothing and run.laggards == [run.tasks[1]]
    assert first.passed(Position(9, 0, 1), END, waits=False) is None  # once
    assert second.passed(Position(9, 0, 1), END, waits=False) is not None  # it waits behind its last row
    assert run.leader.close() == [] and run.record.state is CutState.CLOSED
    run.look()
    assert first.until_us == second.until_us == 9 and first.is_there and second.is_there


def test_no_cut_is_awaited_by_bolts_where_the_run_ends() -> None:
    run = Suspended(1)
    bolt = BoltCut(run.record, run.clock)
    run.agree(5)
    assert not bolt.has_come_to(END) and not bolt.is_there


def test_what_was_given_up_binds_nobody() -> None:
    run = Suspended(2)
    run.agree(5, 5)
    first, second = run.sources
    assert first.passed(Position(5, 0, 1), END, waits=False) is not None and first.is_there
    run.leader.give_up()
    run.look()
    assert not first.suspends and not first.is_there and first.until_us == NO_LIMIT
    run.agree(30, 7)
    assert run.record.attempt == 2 and first.until_us == second.until_us == 30
    assert not first.is_there and run.laggards == run.tasks


def test_who_has_ended_agrees_to_everything() -> None:
    run = Suspended(2)
    first, second = run.sources
    first.end(50)
    first.end(70)  # as a successor might say
    assert not run.record.has_ended() and run.record.ended_us(run.tasks[0]) == 50

    def answer(missing: Sequence[int], hint: str) -> None:
        assert list(missing) == [run.tasks[1]]
        second.look(7)

    run.leader.agree(1, answer, Purpose.SUSPENSION)
    second.look(7)
    assert second.until_us == 50
    second.end(7)
    assert run.record.has_ended()
    run.leader.wait_for_sources(lambda tasks, hint: pytest.fail("both have ended"))


def test_what_a_source_has_answered_stands_though_it_ends_further() -> None:
    run = Suspended(2)
    first, second = run.sources

    def answer(missing: Sequence[int], hint: str) -> None:
        first.look(5)
        first.end(80)
        second.look(7)

    run.leader.agree(1, answer, Purpose.SUSPENSION)
    second.look(7)
    assert second.until_us == 7


def test_a_source_that_stands_still_at_that_time_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Suspended(2)
    first, second = run.sources
    run.agree(9, 7)
    for turn in range(QUIET_TURNS):
        assert run.tasks[0] in run.laggards
        now_s = 100.0 + turn * QUIET_S / (QUIET_TURNS - 1)
        monkeypatch.setattr(source_cut.time, "monotonic", lambda now_s=now_s: now_s)
        first.passed(Position(9, 2, 0), Position(9, 3, 0), waits=True)
        monkeypatch.setattr(source_cut.time, "monotonic", lambda now_s=now_s: now_s * 2)
        second.passed(Position(7, 2, 0), Position(8, 0, 0), waits=True)
    assert run.laggards == [run.tasks[1]]


def test_one_that_meets_no_other_is_there_at_once() -> None:
    last, behind = Position(9, 2, 0), Position(9, 2**63 + 1, 2**64 - 1)
    run = Suspended(1)
    (alone,) = run.sources
    run.agree(9)
    alone.passed(behind, behind, waits=True)  # what it may bring is not above what it has brought
    alone.passed(Position(8, 2, 0), Position(8, 3, 0), waits=True)  # nor is it at that time
    assert not alone.is_there
    alone.passed(last, behind, waits=True)
    assert alone.is_there and not run.laggards
    assert run.leader.close() == [] and InputEnd(run.record, run.clock).closed_at() == behind


def test_a_successor_waits_where_a_closed_run_has_ended() -> None:
    run = Suspended(1)
    run.agree(9)
    run.sources[0].passed(Position(9, 2, 0), END, waits=False)
    assert not run.leader.close()
    run.leader.interrupt()
    run.leader.give_up()
    assert run.record.state is CutState.CLOSED
    successor = SourceCut(run.record, run.tasks[0])
    successor.go_on_behind(LEAST)
    successor.look(LEAST.ts)
    assert successor.is_there and successor.brings_nothing and successor.until_us == 9
    successor.end(12)
    assert not run.record.has_ended()


def test_a_death_before_the_run_is_closed_makes_it_void() -> None:
    run = Suspended(1)
    run.agree(9)
    run.sources[0].passed(Position(9, 2, 0), END, waits=False)
    run.leader.interrupt()
    assert run.record.state is CutState.VOID
    with pytest.raises(CutInterruptedError):
        run.leader.close()
    successor = SourceCut(run.record, run.tasks[0])
    successor.look(9)
    assert not successor.suspends


def test_a_bolt_that_has_begun_its_end_prevents_it() -> None:
    run = Suspended(1)
    run.agree(5)
    assert run.record.may_end(run.clock)
    assert run.leader.close() == [run.clock] and run.record.state is CutState.VOID


def test_no_bolt_ends_in_a_closed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Suspended(1)
    run.agree(5)
    run.record._set(1, CutState.CLOSING)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        run.record._set(1, CutState.CLOSED)

    monkeypatch.setattr(cut_record.time, "sleep", pause)
    assert not run.record.may_end(run.clock) and len(pauses) == 1


# -- in runs


def test_without_waiting_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of suspended runs can fail: here each task stops for itself."""
    whole = run_built(built(Suspending(4, 600, 2), 1, 1)).result("sink")
    monkeypatch.setattr(SourceCut, "until_us", NO_LIMIT)
    monkeypatch.setattr(SourceCut, "brings_nothing", False)
    monkeypatch.setattr(CutRecord, "has_passed", lambda self, task: True)
    first = run_suspended(built(Suspending(4, 600, 2, os.getpid(), 200), 4, 1), tmp_path)
    rows = first.result("sink")
    second = run_built(built(Suspending(4, 600, 2), 4, 1), {"start": tmp_path})
    assert rows + second.result("sink") != whole


class Halting(Suspending):
    """Its partition 0 brings nothing between row 10 and the end of the others, unless the file exists."""

    def __init__(self, count: int, seed: int, leader: int, at: int, gate: str) -> None:
        super().__init__(4, count, seed, leader, at)
        self._gate = gate

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            while partition == 0 and block and len(block.rows) and block.rows[0][1] > 10:
                if os.path.exists(self._gate):
                    break
                yield None
            yield block


def test_a_source_that_stands_still_before_that_time_is_named_and_the_run_goes_on(tmp_path: Path) -> None:
    whole = run_built(built(Suspending(4, 600, 2), 1, 1)).result("sink")
    gate = tmp_path / "gate"
    builder = built(Halting(600, 2, os.getpid(), 100, str(gate)), 2, 1)
    run = Run(
        *plan_of(builder, viper__checkpoint__timeout__secs=0.3), RunOptions(checkpoints=tmp_path / "folder")
    )
    with suspending(run) as refused:
        opener = Thread(target=_open_when_refused, args=(refused, gate))
        opener.start()
        report = run.execute()
        tmp_path.joinpath("over").touch()
        opener.join()
    assert report.reason is StopReason.EXHAUSTED and report.checkpoint is None
    assert report.result("sink") == whole
    assert "no checkpoint: source:" in str(refused[0]) and "the run goes on" in str(refused[0])


def _open_when_refused(refused: list[object], gate: Path) -> None:
    while not refused and not gate.parent.joinpath("over").exists():
        pass
    gate.touch()


class Short(Partitions):
    """Ends after a few rows."""

    outputs = ["partition", "number", "copy"]


def test_a_last_tick_that_waits_for_others_prevents_it(tmp_path: Path) -> None:
    """The bolt after the spout that has ended has had its last tick; what it emitted stands after all."""
    builder = TopologyBuilder()
    builder.set_spout("short", Short(1, 5))
    builder.set_spout("source", Suspending(4, 600, 2, os.getpid(), 300))
    builder.set_bolt("twice", Twice).shuffle_grouping("source")
    builder.set_bolt("clock", Clock).global_grouping("short")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("twice")
    sink.global_grouping("clock")
    run = Run(*plan_of(builder), RunOptions(checkpoints=tmp_path))
    with suspending(run) as refused:
        report = run.execute()
    assert report.reason is StopReason.EXHAUSTED
    assert [str(error) for error in refused] == [
        "no checkpoint: clock:1 has begun its end, as its spouts have ended, and what it emitted with its "
        "last tick may wait for others; let the run come to its end"
    ]


class Idle(Partitions):
    """Has its rows, and then nothing for now."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        rows = [] if start_us is not None else list(range(3))
        yield Block(array("q", rows), [("idle", row, 0) for row in rows])
        while True:
            yield None


def test_a_run_whose_source_stands_still_is_suspended(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Idle(1))
    builder.set_bolt("rows", CollectingSink).global_grouping("source")
    run = Run(*plan_of(builder), RunOptions(checkpoints=tmp_path))
    done = []

    def suspend() -> None:
        while not _has_rows(run):
            pass
        done.append(run.suspend())

    thread = Thread(target=suspend)
    thread.start()
    report = run.execute()
    thread.join()
    assert report.reason is StopReason.SUSPENDED and len(report.result("rows")) == 3
    assert report.checkpoint == done[0]


def _has_rows(run: Run) -> bool:
    workers = run._workers
    return workers is not None and any(
        counted.emitted == 3 for counters in workers.counters() for counted in counters.values()
    )


def test_a_task_without_checkpoints_asks_nobody() -> None:
    plain = SourceCut()
    plain.look(5)
    assert plain.passed(END, END, waits=True) is None
    plain.end(5)
    assert (plain.suspends, plain.is_there, plain.until_us) == (False, False, NO_LIMIT)


class Behind(Suspending):
    """Its partition 0 brings nothing until the others have filled their channels, and the run is asked."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for number, block in enumerate(super().blocks(partition, start_us)):
            for _ in range(200 if partition == 0 and number == 2 else 0):
                yield None
            yield block


@pytest.mark.few(1)
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_source_without_room_says_how_far_it_is(tmp_path: Path, goes_on: bool) -> None:
    """Nobody gives it room before the source that is behind brings more, which waits for its answer."""
    whole = run_built(built(Suspending(2, 600, 2), 1, 1)).result("sink")
    builder = built(Behind(2, 600, 2, os.getpid(), 40), 2, 2)
    tiny = {"viper__channel__tuples": 4, "viper__channel__jumbos": 1, "viper__jumbo__size": 2}
    times = {"viper__checkpoint__timeout__secs": 5, "viper__poll__pause__max__ms": 1}
    run = Run(*plan_of(builder, **times, **tiny), RunOptions(checkpoints=tmp_path))
    with suspending(run, goes_on=goes_on) as refused:
        report = run.execute()
    assert not refused and report.checkpoints == 1 and report.checkpoint is not None
    rows = report.result("sink")
    again = run_built(built(Partitions(2, 600, 2), 2, 2), {"start": tmp_path}).result("sink")
    assert (rows == whole and again == whole[-len(again) :]) if goes_on else rows + again == whole
