"""Runs that are suspended when a row comes, and what they bring."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from framework import Bolt, TopologyBuilder
from framework.model.errors import SuspendError
from framework.operators.components import Block
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.coordination import cut_leader
from framework.runtime.coordination.cut_record import CutRecord, Purpose
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built

SIGNAL = signal.SIGURG
"""Asks the process that leads the run to suspend it; whoever does not expect it ignores it."""


def heard(leader: int) -> Path:
    """Is there once the leader of a run has asked the sources, or has been refused."""
    return Path(tempfile.gettempdir()) / f"heard-{leader}"


def decided(leader: int) -> Path:
    """Is there once the first time of a checkpoint was decided on, or none can be."""
    return Path(tempfile.gettempdir()) / f"decided-{leader}"


def settled(leader: int) -> Path:
    """Is there once that checkpoint is there, or was refused."""
    return Path(tempfile.gettempdir()) / f"settled-{leader}"


class Suspending(Partitions):
    """Has the leader of the run suspend it when a row of partition 1 comes; or do something else."""

    def __init__(
        self, partitions: int, count: int, seed: int, leader: int = 0, at: int = -1, every: int = 0
    ) -> None:
        super().__init__(partitions, count, seed)
        self._leader = leader
        self._at = at
        self._every = every

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            yield block
            if partition == 1 and block is not None and block.rows and block.rows[-1][1] >= self._at >= 0:
                self._at = self._at + self._every if self._every else -1
                os.kill(self._leader, SIGNAL)
                while not self._every and not heard(self._leader).exists():
                    yield None  # the leader may be another process, and all may be brought before it hears


class Awaiting(Suspending):
    """Has its first checkpoint made, however slow the machine is; it asks for others, and continues.

    All partitions wait until its time is decided on, and then before their last rows until it is there.
    """

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        blocks = Partitions.blocks(self, partition, start_us)
        *first, last = (block for block in blocks if block and block.rows)
        at, waits = self._at, True
        for block in first:
            yield block
            if block.rows[-1][1] < at:
                continue
            if waits or partition == 1:  # which of them comes there first depends on their times
                at += self._every
                os.kill(self._leader, SIGNAL)
            while waits and not decided(self._leader).exists():
                yield None
            waits = False
        while not self.is_there():
            yield None
        yield last

    def is_there(self) -> bool:
        """True if the first checkpoint is."""
        return settled(self._leader).exists()


class Twice(Bolt):
    """Emits each row two times; it keeps nothing."""

    outputs = ["partition", "number", "copy"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        for copy in range(2):
            self.emit([*tup.values[:2], copy])


class Clock(Bolt):
    """Emits the number of each tick."""

    outputs = ["partition", "number", "copy"]
    config = {"topology.tick.tuple.freq.secs": 0.000002}

    def process(self, tup: Any) -> None:
        pass

    def process_tick(self, tup: Any) -> None:
        self.emit(["tick", tup.id, 0])


def built(spout: Partitions, sources: int, bolts: int) -> TopologyBuilder:
    """Rows by shuffle and by partial key, doubled and doubled again, and ticks among them."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("twice", Twice, bolts).shuffle_grouping("source")
    builder.set_bolt("again", Twice, bolts).partial_key_grouping("twice", "number")
    builder.set_bolt("clock", Clock).global_grouping("twice")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("again")
    sink.global_grouping("clock")
    builder.set_bolt("tasks", CollectingSink, bolts).shuffle_grouping("source")
    return builder


@contextmanager
def suspending(
    run: Run, *, goes_on: bool = False, margin_s: float = 0.001
) -> Iterator[list[SuspendError]]:
    """While the block runs, the signal suspends the run or makes a checkpoint; gives what prevented it.

    Checkpoints are cut so many seconds ahead of what sources have brought: most runs here are short.
    """
    refused: list[SuspendError] = []
    threads: list[threading.Thread] = []

    def suspend() -> None:
        try:
            run.checkpoint() if goes_on else run.suspend()
        except SuspendError as error:
            refused.append(error)
        finally:
            decided(os.getpid()).touch()
            settled(os.getpid()).touch()

    def agree(
        self: cut_leader.CutLeader, number: int, wait: cut_leader.Wait, purpose: Purpose = Purpose.CHECKPOINT
    ) -> int:
        attempt = agreed(self, number, wait, purpose)
        if purpose is Purpose.CHECKPOINT:
            decided(os.getpid()).touch()
        return attempt

    def handle(*_: object) -> None:
        if threads and threads[-1].is_alive():
            return  # one at a time
        record = run._network.cut
        assert record is not None
        word = record.word
        threads.append(threading.Thread(target=suspend))
        threads[-1].start()
        while record.word == word and threads[-1].is_alive():
            pass
        heard(os.getpid()).touch()

    said = heard(os.getpid()), decided(os.getpid()), settled(os.getpid())
    for path in said:
        path.unlink(missing_ok=True)
    agreed = cut_leader.CutLeader.agree
    before = signal.signal(SIGNAL, handle)
    try:
        with (
            mock.patch.object(cut_leader, "MARGIN_S", margin_s),
            mock.patch.object(cut_leader.CutLeader, "agree", agree),
        ):
            yield refused
    finally:
        signal.signal(SIGNAL, before)
        for thread in threads:
            thread.join()
        for path in said:
            path.unlink(missing_ok=True)


@contextmanager
def ending_from(time_us: int) -> Iterator[None]:
    """While the block runs, runs are suspended at that time, unless a source has come further."""
    answer = CutRecord.answer

    def at_least(self: CutRecord, task: int, attempt: int, told_us: int) -> None:
        answer(self, task, attempt, max(told_us, time_us))

    with mock.patch.object(CutRecord, "answer", at_least):
        yield


def run_suspended(
    builder: TopologyBuilder, checkpoints: Path, start: Path | None = None, **options: Any
) -> RunReport:
    """Run what was built until it is suspended, or to its end; options with dots written as ``__``."""
    run = Run(*plan_of(builder, **options), RunOptions(checkpoints=checkpoints, start=start))
    with suspending(run) as refused:
        report = run.execute()
    assert not refused, refused
    return report


def check_suspended_at(
    times_us: Iterable[int], built: Callable[[Partitions], TopologyBuilder], folder: Path
) -> None:
    """Have a run suspended at each of some times, and resumed: it puts out what a whole run does.

    Sources end right after their last promise, so that a bolt may see that promise or nothing but the end.

    Args:
        times_us: in microseconds.
        built: makes the topology with its spout, which has rows up to half a millisecond.
        folder: for the checkpoints.
    """
    whole = run_built(built(Partitions(4, 300, 1))).result("sink")
    for time_us in times_us:
        with ending_from(time_us):
            first = run_suspended(built(Suspending(4, 300, 1, os.getpid(), 60)), folder)
        assert first.reason is StopReason.SUSPENDED
        second = run_built(built(Partitions(4, 300, 1)), {"start": folder})
        assert first.result("sink") + second.result("sink") == whole, time_us


@contextmanager
def cutting_from(time_us: int) -> Iterator[None]:
    """While the block runs, checkpoints are cut at that time, unless a source has come further."""
    found = cut_leader.CutLeader._times_us

    def at_least(self: cut_leader.CutLeader, margin: cut_leader.Margin) -> dict[Sequence[int], int]:
        return {part: max(found_us, time_us) for part, found_us in found(self, margin).items()}

    with mock.patch.object(cut_leader.CutLeader, "_times_us", at_least):
        yield


def check_cut_at(
    times_us: Iterable[int], built: Callable[[Partitions], TopologyBuilder], folder: Path
) -> None:
    """Have a run make a checkpoint at each of some times while it continues, and resume from that checkpoint.

    Arguments as of `check_suspended_at`.
    """
    whole = run_built(built(Partitions(4, 300, 1))).result("sink")
    for time_us in times_us:
        into = folder / str(time_us)
        run = Run(*plan_of(built(Awaiting(4, 300, 1, os.getpid(), 60, 1000))), RunOptions(checkpoints=into))
        with cutting_from(time_us), suspending(run, goes_on=True) as refused:
            assert run.execute().result("sink") == whole, time_us
        assert not refused, refused
        second = run_built(built(Partitions(4, 300, 1)), {"start": into}).result("sink")
        assert 0 < len(second) < len(whole), time_us
        assert second == whole[-len(second) :], time_us
