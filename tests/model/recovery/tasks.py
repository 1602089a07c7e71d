"""The common work of all tasks: slices that are committed whole, and outputs that are counted.

A slice is: look, process, publish at will, publish the rest, commit by one store, and only then let others
act upon it: release the input, ack, promise. Steps end where another process may see or do something.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from tests.model.recovery.cut import DECIDED, IDLE, LOOKED, NONE, Record, Steps, Whether
from tests.model.recovery.disk import Part
from tests.model.recovery.memory import Process, Writer
from tests.model.recovery.outputs import Outputs
from tests.model.recovery.ring import END, LEAST, Position

if TYPE_CHECKING:
    from tests.model.recovery.group import Group


class Task:
    """A task in a process; a successor is another one, on the same page."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        self.group = group
        self.name = name
        self.process = process
        self.writer = Writer(group.pages[name], process)
        self.outputs = Outputs(group.rings_from(name), group.grouping_from(name), self.writer)

    def slice(self) -> Steps:
        raise NotImplementedError

    # -- the end of a slice

    def place(self) -> Iterator[tuple[Hashable, Any]]:
        """The words that say where the task stands."""
        for ring, count in enumerate(self.outputs.counts()):
            yield ("count", ring), count
        yield "routing", self.outputs.routing

    def flush(self, floor: Position) -> Steps:
        """Publish all rows that wait; the next one that is emitted will not lie below the floor."""
        while True:
            while self.outputs.publish_one():
                yield None
            if self.outputs.is_empty:
                return
            self.outputs.promise(floor)
            self.while_waiting_for_room()
            yield IDLE

    def while_waiting_for_room(self) -> None:
        pass

    def commit(self) -> None:
        for word, value in self.place():
            if self.writer.read(word) != value:
                self.writer.write(word, value)
        self.writer.commit()

    def finish(self, floor: Position) -> Steps:
        yield from self.flush(floor)
        self.commit()
        yield None
        self.act_upon_commit()

    def act_upon_commit(self) -> None:
        """Let others know what the commit has made final."""

    # -- checkpoints

    def is_due(self, record: Record) -> bool:
        """True if the task still has to write its part of a checkpoint."""
        return record.state == DECIDED and self.group.parts_written[self.name] < record.epoch

    def part(self) -> Part:
        return {"routing": self.writer.read("routing")}

    def write_part(self, record: Record) -> Steps:
        """Write the state as it is at the record's place; who dies after this is still there."""
        self.process.store()
        self.group.disk.parts[record.epoch, self.name] = self.part()
        yield None
        self.process.store()
        self.group.parts_written[self.name] = record.epoch
        yield None


class Bolt(Task):
    """A task that merges the rows of its input rings by position."""

    def __init__(self, group: Group, name: str, process: Process) -> None:
        super().__init__(group, name, process)
        self.inputs = group.rings_to(name)
        self.cursors = [self.writer.read(("cursor", i), 0) for i in range(len(self.inputs))]
        for ring, cursor in zip(self.inputs, self.cursors, strict=True):
            process.store()
            ring.head = cursor  # whoever died behind a commit may not have released what it covers
        self._tails = list(self.cursors)
        self._progress = [LEAST for _ in self.inputs]
        self._record = NONE
        self._at = LEAST

    def look(self) -> Steps:
        """Acquire what the inputs have, and look at the record after that, never before.

        A source publishes at or beyond a place only when that is decided; so whoever has seen such a row
        sees the decision.
        """
        self.refresh()
        yield LOOKED
        self._record = self.group.record

    def refresh(self) -> None:
        self._progress = [ring.progress for ring in self.inputs]
        self._tails = [ring.tail for ring in self.inputs]

    def slice(self) -> Steps:
        yield from self.look()
        record = self._record
        limit = record.place if self.is_due(record) else END
        did_something = yield from self._process_below(limit)
        frontier = min(self._root()[0], limit)
        did_something |= self.process_ticks(frontier, limit)
        if did_something:
            yield from self.finish(self._at)
        self.outputs.promise(frontier)
        if frontier == limit < END:
            yield from self.write_part(record)
        elif not did_something:
            yield IDLE

    def _process_below(self, limit: Position) -> Whether:
        """Process some rows, with the ticks before them; they lie below a place."""
        draw, taken = self.group.draw, 0
        half = max(1, len(self.inputs[0].slots) // 2)
        most = [cursor + half for cursor in self.cursors]
        for _ in range(draw.randint(1, 6)):
            bound, root = self._root()
            if bound >= limit or self.cursors[root] == min(self._tails[root], most[root]):
                break
            position, value = self.take(root)
            taken += 1
            self.process_ticks(position, limit)
            self._at = position
            self.process_row(position, value)
            if draw.random() < 0.3:
                yield from self.flush(position)
        return taken > 0

    def take(self, root: int) -> tuple[Position, Any]:
        row = self.inputs[root].row(self.cursors[root])
        self.cursors[root] += 1
        return row

    def _root(self) -> tuple[Position, int]:
        """The ring from which the next row comes, and a bound below which none comes."""
        return min(
            (ring.row(cursor)[0] if cursor < tail else progress, i)
            for i, (ring, cursor, tail, progress) in enumerate(
                zip(self.inputs, self.cursors, self._tails, self._progress, strict=True)
            )
        )

    def process_ticks(self, bound: Position, limit: Position) -> bool:
        """Process the ticks up to a bound and below a limit; return whether there were any."""
        return False

    def process_row(self, position: Position, value: Any) -> None:
        raise NotImplementedError

    def place(self) -> Iterator[tuple[Hashable, Any]]:
        for ring, cursor in enumerate(self.cursors):
            yield ("cursor", ring), cursor
        yield from super().place()

    def act_upon_commit(self) -> None:
        for ring, cursor in zip(self.inputs, self.cursors, strict=True):
            self.process.store()
            ring.head = cursor
