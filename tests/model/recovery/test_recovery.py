"""Exactly once, by random schedules: whatever is killed, the sink shows what a run without faults shows.

``SCHEDULES`` chooses which of them are run, as ``SCHEDULES=0:100000`` for more of them; a failure names its
seed, and ``Schedule(seed).problem()`` repeats it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.model.recovery.components import Counter, Sink, Source
from tests.model.recovery.cut import IDLE, Coordinator, Record, Steps
from tests.model.recovery.disk import Disk
from tests.model.recovery.memory import Process, Writer
from tests.model.recovery.outputs import Outputs
from tests.model.recovery.ring import Position
from tests.model.recovery.schedules import Events, Schedule
from tests.model.recovery.tasks import Bolt, Task
from tests.portions import at_every_change
from tests.rotation import schedules

Patch = pytest.MonkeyPatch
AT_ONCE = 20
"""Numbers of schedules that one test goes through."""
RUNS = 8
"""Runs that a number stands for."""


@pytest.mark.parametrize("first", at_every_change(schedules()[::AT_ONCE]))
def test_the_sink_shows_what_a_run_without_faults_shows(first: int) -> None:
    happened, end = Events(), min(first + AT_ONCE, schedules().stop)
    for seed in range(first * RUNS, end * RUNS):
        schedule = Schedule(seed)
        problem = schedule.problem()
        assert not problem, problem
        happened.add(schedule.events)
    assert end < first + AT_ONCE or all(vars(happened).values()), happened


# -- mistakes that this must find


def releases_at_take(monkeypatch: Patch) -> None:
    """Rows are given back when they are taken; the successor resumes where its predecessor stopped taking."""
    take, begin = Bolt.take, Bolt.__init__

    def take_and_release(self: Bolt, root: int) -> tuple[Position, Any]:
        row = take(self, root)
        self.inputs[root].head = self.cursors[root]
        return row

    def begin_at_the_heads(self: Bolt, group: Any, name: str, process: Process) -> None:
        heads = [ring.head for ring in group.rings_to(name)]
        begin(self, group, name, process)
        self.cursors = heads
        self.act_upon_commit()

    monkeypatch.setattr(Bolt, "take", take_and_release)
    monkeypatch.setattr(Bolt, "__init__", begin_at_the_heads)


def suppresses_by_position(monkeypatch: Patch) -> None:
    """A successor publishes only what lies above all that its predecessor published."""
    begin = Outputs.__init__

    def begin_above(self: Any, *arguments: Any) -> None:
        begin(self, *arguments)
        self.to_skip = [0 for _ in self.rings]
        self.lasts = [ring.last for ring in self.rings]

    def lies_below(self: Any, ring: int, position: Position) -> bool:
        return bool(self.lasts[ring] >= position)

    monkeypatch.setattr(Outputs, "__init__", begin_above)
    monkeypatch.setattr(Outputs, "is_out_already", lies_below)


def commits_the_raw_count(monkeypatch: Patch) -> None:
    """Plant a bug: all rows of a ring count as committed, also those that the redo has not come to yet."""
    monkeypatch.setattr(Outputs, "counts", lambda self: [ring.tail for ring in self.rings])


def loses_routing(monkeypatch: Patch) -> None:
    """A successor deals its outputs as if none had gone before."""
    monkeypatch.setattr(Outputs, "recovered_routing", lambda self, writer: None)


def commit_then_flush(self: Task, floor: Position) -> Steps:
    self.commit()
    yield None
    yield from self.flush(floor)
    self.act_upon_commit()


def commits_before_the_flush(monkeypatch: Patch) -> None:
    """Input is done with while rows that were emitted for it are in the task's own memory."""
    monkeypatch.setattr(Bolt, "finish", commit_then_flush)


def takes_the_offset_with_a_full_outbox(monkeypatch: Patch) -> None:
    """A source is behind rows that it has emitted and not published."""
    monkeypatch.setattr(Source, "finish", commit_then_flush)


def uses_freed_cells_at_once(monkeypatch: Patch) -> None:
    """A cell that was given up in a slice is filled again in the same slice."""

    def free(self: Writer, cell: int) -> None:
        self.write("free", (*self.read("free", ()), cell))

    monkeypatch.setattr(Writer, "free_cell", free)


def reads_the_decision_before_the_acquire(monkeypatch: Patch) -> None:
    """A task looks at the record, and then for rows, which may lie beyond a place decided in between."""

    def look(self: Any) -> Steps:
        self._record = self.group.record
        yield IDLE
        self.refresh()

    monkeypatch.setattr(Bolt, "look", look)


def acks_before_the_commit(monkeypatch: Patch) -> None:
    """A source acks what it has emitted."""
    finish = Task.finish

    def ack_and_finish(self: Source, floor: Position) -> Steps:
        if not self.group.checkpoints:
            self.ack(self.offsets)
        yield from finish(self, floor)

    monkeypatch.setattr(Source, "finish", ack_and_finish)


def acks_at_the_commit_despite_checkpoints(monkeypatch: Patch) -> None:
    """A broker forgets what the last checkpoint does not cover."""
    monkeypatch.setattr(Source, "act_upon_commit", lambda self: self.ack(self.offsets))


def applies_before_the_manifest(monkeypatch: Patch) -> None:
    """The sink applies what it has staged when it has written its own part."""
    write_part = Sink.write_part

    def write_and_apply(self: Sink, record: Record) -> Steps:
        yield from write_part(self, record)
        yield from self.apply(record.epoch)

    monkeypatch.setattr(Sink, "write_part", write_and_apply)


def applies_without_the_id(monkeypatch: Patch) -> None:
    """The id is noted after the transaction; who dies in between applies again."""

    def apply(self: Sink, id: int) -> Steps:
        disk = self.group.disk
        self.process.store()
        if disk.database.id < id:
            disk.database.rows += disk.staged(disk.database.id, id)
            yield None
            self.process.store()
            disk.database.id = id
        yield None

    monkeypatch.setattr(Sink, "apply", apply)


def leaves_what_was_staged(monkeypatch: Patch) -> None:
    """Rows that a sink has staged after its last commit stay in its file."""
    monkeypatch.setattr(Sink, "truncate", lambda self: None)


def loses_ticks(monkeypatch: Patch) -> None:
    """A successor begins with the first tick."""
    monkeypatch.setattr(Counter, "recovered_ticks", lambda self: 0)


def accepts_what_lies_behind(monkeypatch: Patch) -> None:
    """A source accepts a place beyond which it has published."""
    monkeypatch.setattr(Source, "accepts", lambda self, record: True)


def does_not_wait_for_the_decision(monkeypatch: Patch) -> None:
    """A source that has accepted continues beyond the place while others have not answered."""

    monkeypatch.setattr(Source, "waits_for_decision", lambda self: False)


def promises_the_place_before_the_decision(monkeypatch: Patch) -> None:
    """A source that has accepted tells that all below the place has come; ticks at the place go off."""
    monkeypatch.setattr(Source, "limit_of_promises", Source.limit)


def decides_over_a_death(monkeypatch: Patch) -> None:
    """A killed source has accepted, and its successor has gone beyond the place, as that was void."""
    monkeypatch.setattr(Coordinator, "is_void", False)


def keeps_silent_without_room(monkeypatch: Patch) -> None:
    """A source that waits for room does not answer; those who could make room wait at the place."""
    monkeypatch.setattr(Source, "while_waiting_for_room", lambda self: None)


def keeps_promises_back_without_room(monkeypatch: Patch) -> None:
    """A task that waits for room on one ring does not tell the readers of others how far it is."""

    def flush(self: Task, floor: Position) -> Steps:
        while True:
            while self.outputs.publish_one():
                yield None
            if self.outputs.is_empty:
                return
            self.while_waiting_for_room()
            yield IDLE

    monkeypatch.setattr(Task, "flush", flush)


def goes_on_from_a_torn_checkpoint(monkeypatch: Patch) -> None:
    """Plant a bug: the group that resumes keeps rows staged after the last complete checkpoint."""
    reopen = Disk.reopen

    def reopen_and_keep(self: Disk) -> Any:
        file, marks = list(self.file), dict(self.marks)
        manifest = reopen(self)
        self.file, self.marks = file, {**marks, manifest.epoch if manifest else 0: len(file)}
        return manifest

    monkeypatch.setattr(Disk, "reopen", reopen_and_keep)


PLANTED: dict[Callable[[Patch], None], int] = {
    releases_at_take: 0,
    suppresses_by_position: 3,
    commits_the_raw_count: 3,
    loses_routing: 3,
    commits_before_the_flush: 1,
    takes_the_offset_with_a_full_outbox: 8,
    uses_freed_cells_at_once: 3,
    reads_the_decision_before_the_acquire: 1878,
    acks_before_the_commit: 11,
    acks_at_the_commit_despite_checkpoints: 3,
    applies_before_the_manifest: 628,
    applies_without_the_id: 190,
    leaves_what_was_staged: 1,
    loses_ticks: 1,
    accepts_what_lies_behind: 188,
    does_not_wait_for_the_decision: 32,
    promises_the_place_before_the_decision: 3300,
    decides_over_a_death: 769,
    keeps_silent_without_room: 642,
    keeps_promises_back_without_room: 13,
    goes_on_from_a_torn_checkpoint: 0,
}
"""Each mistake, and the seed that was seen to find it first."""


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_mistake_is_found(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    plant(monkeypatch)
    # The others are for when the one that is remembered no longer finds it.
    assert any(Schedule(seed).problem() for seed in (PLANTED[plant], *range(2000)))
