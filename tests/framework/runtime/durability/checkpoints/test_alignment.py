"""Sources come to one event time when they are asked to; the leader closes the run there, or gives it up."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions
from framework.runtime.coordination import alignment as module
from framework.runtime.coordination.alignment import QUIET_S, QUIET_TURNS, Alignment, SourceAlignment, Stage
from framework.runtime.coordination.stop import StopReason
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
from viper.position import END, Position

BEGUN = 100.0


@pytest.fixture
def alignment() -> Alignment:
    plan, _ = plan_of(built(Partitions(), 2, 1))
    return Alignment.create(Arena.private(10_000), plan)


@pytest.fixture
def sources(alignment: Alignment) -> tuple[int, int]:
    plan, _ = plan_of(built(Partitions(), 2, 1))
    first, second = (task.id for task in plan.tasks_of("source"))
    return first, second


def test_all_come_to_the_latest_time(alignment: Alignment, sources: tuple[int, int]) -> None:
    first, second = (SourceAlignment(alignment, task) for task in sources)
    assert not first.is_asked and first.until_us == NO_LIMIT
    alignment.ask(1)
    first.answer(5)
    assert first.is_asked and first.until_us is None
    second.answer(9)
    first.answer(20)  # only the first answer counts
    assert first.until_us == second.until_us == 9
    assert list(alignment.laggards()) == list(sources)
    first.brought(Position(9, 0, 1), Position(9, 1, 0), BEGUN, waits=False)  # a row of that time may come
    assert list(alignment.laggards()) == list(sources)
    first.brought(Position(9, 0, 1), Position(10, 0, 0), BEGUN, waits=False)
    assert list(alignment.laggards()) == [sources[1]]
    second.brought(Position(9, 0, 1), END, BEGUN, waits=False)  # which waits behind its last row
    assert not list(alignment.laggards())
    assert alignment.close() == [] and alignment.stage is Stage.CLOSED
    assert first.until_us == 9


def test_what_was_given_up_binds_nobody(alignment: Alignment, sources: tuple[int, int]) -> None:
    first, second = (SourceAlignment(alignment, task) for task in sources)
    alignment.ask(1)
    first.answer(5)
    alignment.give_up()
    assert not first.is_asked and first.until_us == NO_LIMIT
    alignment.ask(1)
    assert alignment.attempt == 2
    second.answer(7)
    assert second.until_us is None  # the answer to the attempt before counts no more
    first.answer(30)
    assert second.until_us == 30


def test_who_has_ended_agrees_to_everything(alignment: Alignment, sources: tuple[int, int]) -> None:
    first, second = (SourceAlignment(alignment, task) for task in sources)
    first.end(50)
    assert not alignment.has_ended()
    alignment.ask(1)
    second.answer(7)
    assert second.until_us == 50 and list(alignment.laggards()) == [sources[1]]
    second.end(7)
    assert alignment.has_ended() and not list(alignment.laggards())


def test_a_source_that_stands_still_at_that_time_is_there(
    alignment: Alignment, sources: tuple[int, int]
) -> None:
    first, second = (SourceAlignment(alignment, task) for task in sources)
    alignment.ask(1)
    first.answer(9)
    second.answer(7)
    for turn in range(QUIET_TURNS):
        assert sources[0] in alignment.laggards()
        now_s = BEGUN + turn * QUIET_S / (QUIET_TURNS - 1)
        first.brought(Position(9, 2, 0), Position(9, 3, 0), now_s, waits=True)
        second.brought(Position(7, 2, 0), Position(8, 0, 0), now_s * 2, waits=True)
    assert list(alignment.laggards()) == [sources[1]]


def test_one_that_meets_no_other_is_there_at_once() -> None:
    last, behind = Position(9, 2, 0), Position(9, 2**63 + 1, 2**64 - 1)
    plan, _ = plan_of(built(Partitions(), 1, 1))
    lonely = Alignment.create(Arena.private(10_000), plan)
    (task,) = (spec.id for spec in plan.tasks_of("source"))
    alone = SourceAlignment(lonely, task)
    lonely.ask(1)
    alone.answer(9)
    alone.brought(behind, behind, BEGUN, waits=True)  # what it may bring is not above what it has brought
    assert not alone.is_there
    alone.brought(last, behind, BEGUN, waits=True)
    assert alone.is_there and lonely.place(task) == behind and not list(lonely.laggards())


def test_a_bolt_that_has_begun_its_end_prevents_it(alignment: Alignment) -> None:
    plan, _ = plan_of(built(Partitions(), 2, 1))
    (clock,) = plan.tasks_of("clock")
    alignment.ask(1)
    assert alignment.may_end(clock.id)
    assert alignment.close() == [clock.id] and alignment.stage is Stage.NOTHING


def test_no_bolt_ends_in_a_closed_run(alignment: Alignment, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _ = plan_of(built(Partitions(), 2, 1))
    (clock,) = plan.tasks_of("clock")
    alignment.ask(1)
    alignment._set(1, Stage.CLOSING)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        alignment._set(1, Stage.CLOSED)

    monkeypatch.setattr(module.time, "sleep", pause)
    assert not alignment.may_end(clock.id) and len(pauses) == 1


# -- in runs


def test_without_waiting_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of suspended runs can fail: here each task stops for itself."""
    whole = run_built(built(Suspending(4, 600, 2), 1, 1)).result("sink")
    monkeypatch.setattr(SourceAlignment, "until_us", NO_LIMIT)
    monkeypatch.setattr(Alignment, "laggards", lambda self: iter(()))
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
    """The bolt behind the spout that has ended has had its last tick; what it emitted stands behind all."""
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
    plain = SourceAlignment()
    plain.answer(5)
    plain.brought(END, END, BEGUN, waits=True)
    plain.end(5)
    assert (plain.is_asked, plain.until_us) == (False, NO_LIMIT)


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
