"""Checkpoints of runs whose spouts say where they are by `offset` and `seek`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import SeekableSpout, Spout, TopologyBuilder
from framework.model.errors import CheckpointError
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from framework.runtime.execution.assembly import task_factory
from framework.runtime.tasks import spout_task
from framework.runtime.tasks.aligned_spout import AlignedSpout
from tests.framework.runtime.durability.checkpoints import test_states
from tests.framework.runtime.durability.checkpoints.suspended import (
    SIGNAL,
    decided,
    heard,
    run_suspended,
    settled,
    suspending,
)
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.killed import Mortal, Written
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.portions import at_every_change

COUNT = 400
SPILL_AT = 30
"""Rows that wait until a call has returned."""
MOST_ASKED = 12
"""The number of times that a spout asks for a checkpoint and waits before it continues."""
LAST = 10
"""Rows before which a spout waits until the first checkpoint is there."""


class Counting(SeekableSpout):
    """Emits (name, 0, 0), (name, 1, 0) and so on, three of each key.

    Args:
        name: of the rows.
        count: how many there are.
        leader: the process that leads the run, which is to make checkpoints; 0 for no signals.
        every: after how many rows there is a signal.
        awaits: whether to wait until the time of the first checkpoint is decided on, and before the last rows
            until it is there.
    """

    outputs = ["partition", "number", "key"]

    def __init__(
        self, name: str, count: int = COUNT, leader: int = 0, every: int = 90, *, awaits: bool = False
    ) -> None:
        super().__init__()
        self._awaits = awaits
        self._name = name
        self._count = count
        self._leader = leader
        self._every = every
        self._next = 0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._signalled, self._asked = self._next, 0

    def tuples(self) -> Iterator[list[Any] | None]:
        while self._next < self._count:
            self._next += 1
            yield [self._name, self._next - 1, (self._next - 1) // 3]
            while self._asks():
                yield None

    def _asks(self) -> bool:
        """True if a checkpoint is due, and the leader may not have heard of it, unless it waits for this."""
        if not self._leader:
            return False
        if self._awaits and self._next >= self._count - LAST:
            return not settled(self._leader).exists()
        if self._next < self._signalled + self._every:
            return False
        if not self._asked:
            heard(self._leader).unlink(missing_ok=True)
        elif self._is_heard():
            self._signalled, self._asked = self._next, 0
            return False
        self._asked += 1
        os.kill(self._leader, SIGNAL)  # again and again, as it may be busy with the one before
        return True

    def _is_heard(self) -> bool:
        if self._awaits and not decided(self._leader).exists():
            return False
        return heard(self._leader).exists() or self._asked >= MOST_ASKED

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = self._signalled = offset


class Timed(Counting):
    """As `Counting`, three rows at each time."""

    config = {"viper.timestamp.field": "key"}


class Polled(Counting):
    """As `Counting`, several rows in one call."""

    tuples = SeekableSpout.tuples
    config = {"viper.spout.bounded": True}

    def next_tuple(self) -> None:
        if self._asks():
            return
        if self._next >= self._count:
            raise StopIteration
        first, self._next = self._next, min(self._next + 1 + self._next % 5, self._count)
        for number in range(first, self._next):
            self.emit([self._name, number, number // 3])


class Bursting(Polled):
    """As `Polled`, with so many rows in a call that they are handed on in the middle of it, where checkpoints
    are asked for."""

    def next_tuple(self) -> None:
        if self._next >= self._count:
            raise StopIteration
        if self._awaits and self._next and self._leader:
            said = settled if self._next >= self._count - 5 * SPILL_AT else decided
            if not said(self._leader).exists():
                return
        first, self._next = self._next, min(self._next + 5 * SPILL_AT, self._count)
        for number in range(first, self._next):
            if self._leader and number == first + SPILL_AT:
                os.kill(self._leader, SIGNAL)
            self.emit([self._name, number, number // 3])


class PolledTimed(Polled):
    """As `Timed`, several rows in one call."""

    config = {"viper.timestamp.field": "key"}


KINDS = [Counting, Timed, Polled, PolledTimed]


def built(
    kind: type[Counting],
    leader: int = 0,
    bolts: int = 2,
    sources: int = 2,
    count: int = COUNT,
    *,
    awaits: bool = False,
) -> TopologyBuilder:
    """Two spouts of unlike length whose rows meet in bolts that remember."""
    builder = TopologyBuilder()
    first = {"name": "one", "count": count, "leader": leader, **({"awaits": True} if awaits else {})}
    builder.set_spout("one", kind, kwargs=first)
    if sources > 1:
        builder.set_spout("two", kind, kwargs={"name": "two", "count": count * 2 // 3})
    remembering = builder.set_bolt("remember", test_states.Remember, bolts)
    for source in ("one", "two")[:sources]:
        remembering.fields_grouping(source, "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("remember")
    return builder


@pytest.mark.few(1)
@pytest.mark.parametrize("sources", [1, 2])
def test_a_source_is_bound_in_the_middle_of_a_call(
    tmp_path: Path, sources: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_factory, "SPILL_AT", SPILL_AT)
    count = 100 * SPILL_AT
    whole = run_built(built(Bursting, sources=sources, count=count)).result("sink")
    awaiting = built(Bursting, os.getpid(), sources=sources, count=count, awaits=True)
    report = run_with_checkpoints(awaiting, tmp_path, margin_s=1e-4)
    assert report.result("sink") == whole
    ids = CheckpointFolder(tmp_path).ids
    assert ids
    for number in ids[:5]:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(built(Bursting, sources=sources, count=count), start).result("sink")
        assert len(again) < len(whole) and again == whole[len(whole) - len(again) :], number


@pytest.mark.few(1)
@pytest.mark.parametrize("sources", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_every_checkpoint_can_be_gone_on_from(tmp_path: Path, kind: type[Counting], sources: int) -> None:
    whole = run_built(built(kind, sources=sources)).result("sink")
    awaiting = built(kind, os.getpid(), sources=sources, awaits=True)
    report = run_with_checkpoints(awaiting, tmp_path, margin_s=1e-9)
    assert report.result("sink") == whole
    ids = CheckpointFolder(tmp_path).ids
    assert ids
    for number in ids:
        start = {"start": tmp_path / f"checkpoint-{number:06}"}
        again = run_built(built(kind, bolts=1 + number % 3, sources=sources), start).result("sink")
        assert len(again) < len(whole) and again == whole[len(whole) - len(again) :], number


class InOneCall(Counting):
    """Emits all in one call, and has a checkpoint begun in the middle of it."""

    tuples = SeekableSpout.tuples
    config = {"viper.spout.bounded": True}

    def next_tuple(self) -> None:
        if self._next >= self._count:
            raise StopIteration
        while self._next < self._count:
            self._next += 1
            self.emit([self._name, self._next - 1, (self._next - 1) // 3])
            if self._leader and self._next == self._count // 2:
                os.kill(self._leader, SIGNAL)
                while not heard(self._leader).exists():
                    pass


class TimedInOneCall(InOneCall):
    """As `InOneCall`, three rows at each time."""

    config = {"viper.spout.bounded": True, "viper.timestamp.field": "key"}


@pytest.mark.few(4)
@pytest.mark.parametrize("spilled", [20, 1000])
@pytest.mark.parametrize("sources", [1, 2])
@pytest.mark.parametrize("kind", [InOneCall, TimedInOneCall])
def test_nothing_goes_beyond_the_time_that_was_accepted_amid_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Counting], sources: int, spilled: int
) -> None:
    """The rest of what the call emits is held, and is in the checkpoint."""
    monkeypatch.setattr(spout_task, "SPILL_AT", spilled)
    whole = run_built(built(kind, sources=sources)).result("sink")
    report = run_with_checkpoints(built(kind, os.getpid(), sources=sources), tmp_path)
    assert report.result("sink") == whole
    (number,) = CheckpointFolder(tmp_path).ids
    start = {"start": tmp_path / f"checkpoint-{number:06}"}
    again = run_built(built(kind, sources=sources), start).result("sink")
    assert again and again == whole[len(whole) - len(again) :]


def suspended_again_and_again(folder: Path, kind: type[Counting], workers: Workers) -> list[Any]:
    """The rows of runs that are suspended after so many rows, and resumed."""
    rows: list[Any] = []
    reason, start, seed = StopReason.SUSPENDED, None, 0
    while reason is StopReason.SUSPENDED:
        builder = built(kind, os.getpid() if seed < 3 else 0, 1 + seed % 3)
        run = Run(*plan_of(builder, **workers.options), RunOptions(checkpoints=folder, start=start))
        with suspending(run) as refused:
            report = run.execute()
        assert all("has come to its end" in str(error) for error in refused), refused
        rows += report.result("sink")
        reason, start, seed = report.reason, folder, seed + 1
    assert seed > 1
    return rows


@pytest.mark.few(2)
@every_kind
@pytest.mark.parametrize("kind", at_every_change(KINDS, 2))
def test_suspended_runs_are_gone_on_with(tmp_path: Path, kind: type[Counting], workers: Workers) -> None:
    assert suspended_again_and_again(tmp_path, kind, workers) == run_built(built(kind)).result("sink")


def test_a_task_that_forgets_what_it_held_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above can fail: here offsets cover what was held back, and nothing else has it."""

    def forgetful(self: AlignedSpout) -> tuple[Any, Any, list[Any]]:
        assert self._offset is not None
        return self._offset.save(), self._assigner.save(), []

    monkeypatch.setattr(AlignedSpout, "save", forgetful)
    whole = run_built(built(PolledTimed)).result("sink")
    assert suspended_again_and_again(tmp_path, PolledTimed, INLINE) != whole


class MortalPolled(Mortal, PolledTimed):
    """As `PolledTimed`; its process may be killed."""

    def __init__(self, name: str, count: int = COUNT) -> None:
        PolledTimed.__init__(self, name, count)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        PolledTimed.initialize(self, storm_conf, context)
        Mortal.initialize(self, storm_conf, context)


def run_killed(folder: Path, seed: int, kills: int, **options: Any) -> tuple[RunReport, str]:
    """A run with checkpoints whose spouts are killed so often, and what it has written."""
    for name in ("marks", "checkpoints"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "marks").mkdir()
    (folder / "written").unlink(missing_ok=True)
    builder = TopologyBuilder()
    remembering = builder.set_bolt("remember", test_states.Remember, 2)
    for source, count in (("one", COUNT), ("two", COUNT * 2 // 3)):
        builder.set_spout(source, MortalPolled, kwargs={"name": source, "count": count})
        remembering.fields_grouping(source, "key")
    builder.set_bolt("sink", Written).global_grouping("remember")
    chosen = {
        "viper__worker": "process",
        "topology__workers": 3,
        "viper__worker__restart__tries": 20,
        "viper__recovery": "exact",
        "viper__checkpoint__secs": 0.01,
        "marks": str(folder / "marks"),
        "written": str(folder / "written"),
        "kills": kills,
        "kill__seed": seed,
        "kill__bits": 6,
    }
    report = run_built(builder, {"checkpoints": folder / "checkpoints"}, **{**chosen, **options})
    return report, (folder / "written").read_text()


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(12), 2))
def test_killed_spouts_change_nothing(tmp_path: Path, seed: int) -> None:
    _, whole = run_killed(tmp_path, 0, 0, viper__worker="inline", topology__workers=1)
    report, found = run_killed(tmp_path, seed, 4)
    assert report.incidents and found == whole


class Forgetful(Spout):
    """Cannot say where it is."""

    outputs = ["partition", "number", "key"]

    def __init__(self, name: str, count: int = 0, leader: int = 0) -> None:
        super().__init__()

    def tuples(self) -> Iterator[list[Any]]:
        yield from ()


def refused(builder: TopologyBuilder, folder: Path, start: Path | None = None, **options: Any) -> str:
    with pytest.raises(CheckpointError) as found:
        Run(*plan_of(builder, **options), RunOptions(checkpoints=folder, start=start)).execute()
    return str(found.value)


class TestRefusals:
    def test_a_spout_that_cannot_say_where_it_is(self, tmp_path: Path) -> None:
        told = refused(built(Forgetful), tmp_path)  # type: ignore[arg-type]
        assert "spout 'one' cannot say where it is: define offset and seek (SeekableSpout)" in told

    def test_a_new_one_after_an_exception(self, tmp_path: Path) -> None:
        told = refused(built(Timed), tmp_path, viper__on__error="restart")
        assert "spout 'one': a new one would begin again after an exception: set viper.on.error" in told

    def test_another_number_of_tasks(self, tmp_path: Path) -> None:
        run_suspended(built(Counting, os.getpid()), tmp_path)
        more = TopologyBuilder()
        more.set_spout("one", Counting, 2, kwargs={"name": "one"})
        more.set_spout("two", Counting, kwargs={"name": "two"})
        remembering = more.set_bolt("remember", test_states.Remember)
        for source in ("one", "two"):
            remembering.fields_grouping(source, "key")
        more.set_bolt("sink", CollectingSink).global_grouping("remember")
        told = refused(more, tmp_path, tmp_path)
        assert "each task of spout 'one' has an offset of its own: found 2 tasks, expected 1" in told

    def test_acks_of_what_is_not_tracked(self, tmp_path: Path) -> None:
        options = {"viper__ack__after": "checkpoint", "topology__acker__executors": 0}
        told = refused(built(Counting), tmp_path, **options)
        assert "acks of spout 'one' cannot wait for checkpoints" in told
