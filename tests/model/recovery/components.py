"""The tasks of a topology: sources, stateless bolts, counters with state and ticks, and the sink."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from tests.model.recovery.cut import IDLE, LOOKED, PROPOSED, Record, Steps
from tests.model.recovery.disk import LAST, Part
from tests.model.recovery.group import Group
from tests.model.recovery.memory import Process, Writer
from tests.model.recovery.ring import END, LEAST, Position
from tests.model.recovery.tasks import Bolt, Task
from tests.model.recovery.topology import (
    GROUPS,
    STATELESS,
    count,
    group_of,
    owner_of,
    tell,
    tick_position,
)


class Source(Task):
    """A task that merges partitions, and says where it is in each."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        super().__init__(group, name, process)
        own = group.partitions_of(name)
        self.offsets: dict[int, int] = {p: self.writer.read(("offset", p), 0) for p in own}
        self._acked = group.first_epoch
        self._in_hand = LEAST

    def slice(self) -> Steps:
        self.answer()
        self.ack_what_is_complete()
        yield LOOKED
        emitted = self._emit()
        if emitted:
            yield from self.finish(self._in_hand)
        following = self._next_position()
        limit = self.limit_of_promises()
        yield LOOKED
        self.outputs.promise(min(following, limit))
        record = self.group.record
        if self.is_due(record) and following >= record.place:
            yield from self.write_part(record)
        elif not emitted:
            yield IDLE

    def _emit(self) -> bool:
        """Emit some rows, none of them at or beyond the place of a cut that the source has accepted."""
        emitted, limit = False, self.limit()
        for _ in range(self.group.draw.randint(1, self.group.lines_at_once)):
            row = self._next_row()
            if row is None or row[0] >= limit:
                break
            self.offsets[row[0][1]] = row[0][2] + 1
            self._in_hand = row[0]
            self.outputs.place(*row)
            emitted = True
        return emitted

    def _next_row(self) -> tuple[Position, str] | None:
        fetched = [self.group.broker.fetch(*place) for place in self.offsets.items()]
        return min((row for row in fetched if row), default=None)

    def _next_position(self) -> Position:
        row = self._next_row()
        return row[0] if row else END

    def place(self) -> Iterator[tuple[Hashable, Any]]:
        for partition, offset in self.offsets.items():
            yield ("offset", partition), offset
        yield from super().place()

    # -- acks

    def act_upon_commit(self) -> None:
        if not self.group.checkpoints:
            self.ack(self.offsets)

    def ack_what_is_complete(self) -> None:
        """Ack what a complete checkpoint covers; where there are checkpoints, nothing is acked before."""
        completed = self.group.completed
        if completed > self._acked:
            self._acked = completed
            self.ack(self.group.disk.parts[completed, self.name]["offsets"])

    def ack(self, offsets: dict[int, int]) -> None:
        for partition, offset in offsets.items():
            self.process.store()
            self.group.broker.ack(partition, offset)

    # -- checkpoints

    def answer(self) -> None:
        """Answer a proposal, once; the answer binds successors, too."""
        record = self.group.record
        if record.state == PROPOSED and self.group.answers[self.name][0] != record.epoch:
            accepts = self.accepts(record)
            self.process.store()
            self.group.answers[self.name] = (record.epoch, accepts)

    def accepts(self, record: Record) -> bool:
        """True if nothing at or beyond the place was published, or is in the source's hands."""
        reached = any(ring.reaches(record.place) for ring in self.outputs.rings)
        return not reached and self._in_hand < record.place

    def while_waiting_for_room(self) -> None:
        self.answer()  # others wait for it at the place, and room may come only from them

    def waits_for_decision(self) -> bool:
        record = self.group.record
        return record.state == PROPOSED and self.group.answers[self.name] == (record.epoch, True)

    def limit(self) -> Position:
        """The position that the source may not pass."""
        record = self.group.record
        return record.place if self.waits_for_decision() or self.is_due(record) else END

    def limit_of_promises(self) -> Position:
        return self.group.record.before if self.waits_for_decision() else self.limit()

    def part(self) -> Part:
        return {"offsets": dict(self.offsets), **super().part()}


class StatelessBolt(Bolt):
    """A bolt whose outputs depend on its input alone."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        super().__init__(group, name, process)
        self._component = STATELESS[group.stage_of(name) - 1]

    def process_row(self, position: Position, value: str) -> None:
        for ordinal, output in enumerate(self._component(value)):
            self.outputs.place(self.group.topology.child(position, ordinal), output)


class Keyed:
    """State by key on a page: a logged word for each key names a cell, which has the value."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def get(self, key: str) -> int:
        cell = self._writer.read(("value", key))
        return 0 if cell is None else self._writer.page.cells[cell]

    def set(self, key: str, value: int) -> None:
        writer = self._writer
        before = writer.read(("value", key))
        cell = writer.take_cell()
        writer.fill_cell(cell, value)
        writer.write(("value", key), cell)
        if before is None:
            keys = ("keys", group_of(key))
            writer.write(keys, (*writer.read(keys, ()), key))
        else:
            writer.free_cell(before)

    def keys(self, group: int) -> tuple[str, ...]:
        keys: tuple[str, ...] = self._writer.read(("keys", group), ())
        return keys


class Counter(Bolt):
    """A bolt with state by key, and ticks by event time."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        super().__init__(group, name, process)
        tasks = group.tasks_beside(name)
        self.groups = [g for g in range(GROUPS) if owner_of(g, len(tasks)) == tasks.index(name)]
        self.state = Keyed(self.writer)
        self.ticks_passed = self.recovered_ticks()

    def recovered_ticks(self) -> int:
        ticks: int = self.writer.read("ticks", 0)
        return ticks

    def process_row(self, position: Position, value: str) -> None:
        for ordinal, output in enumerate(count(value, self.state)):
            self.outputs.place(self.group.topology.child(position, ordinal), output)

    def process_ticks(self, bound: Position, limit: Position) -> bool:
        ticks, before = self.group.topology.ticks, self.ticks_passed
        while self.ticks_passed < len(ticks):
            time = ticks[self.ticks_passed]
            if (time,) > bound or (time,) >= limit:
                break
            self._at = (time,)
            self._tick(time)
            self.ticks_passed += 1
        return self.ticks_passed > before

    def _tick(self, time: int) -> None:
        for group in self.groups:
            position = tick_position(time, group)
            for ordinal, output in enumerate(tell(group, self.state)):
                self.outputs.place(self.group.topology.child(position, ordinal), output)

    def place(self) -> Iterator[tuple[Hashable, Any]]:
        yield "ticks", self.ticks_passed
        yield from super().place()

    def part(self) -> Part:
        rows = {g: [(key, self.state.get(key)) for key in self.state.keys(g)] for g in self.groups}
        return {"groups": rows, "ticks": self.ticks_passed, **super().part()}


class Sink(Bolt):
    """A sink that stages rows in a file, and applies them to a database by the ids of checkpoints."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        super().__init__(group, name, process)
        self.truncate()

    def truncate(self) -> None:
        """Cut off what was written after the last commit."""
        self.process.store()
        del self.group.disk.file[self.writer.read("length", 0) :]

    def process_row(self, position: Position, value: Any) -> None:
        self.process.store()
        self.group.disk.file.append((position, value))

    def place(self) -> Iterator[tuple[Hashable, Any]]:
        yield "length", len(self.group.disk.file)
        yield from super().place()

    def slice(self) -> Steps:
        if self.group.disk.database.id < self.group.completed:
            yield from self.apply(self.group.completed)
        yield from super().slice()
        if self._is_drained():
            yield from self.apply(LAST)

    def _is_drained(self) -> bool:
        inputs = zip(self.inputs, self.cursors, strict=True)
        return all(ring.progress == END and ring.tail == cursor for ring, cursor in inputs)

    def apply(self, id: int) -> Steps:
        self.process.store()
        self.group.disk.apply(id)
        yield None

    def write_part(self, record: Record) -> Steps:
        self.process.store()
        self.group.disk.marks[record.epoch] = len(self.group.disk.file)
        yield from super().write_part(record)
