"""A bounded channel from one task to another, and the positions of what goes through it."""

from __future__ import annotations

from typing import Any

from tests.model.recovery.memory import Process

Position = tuple[int, ...]
"""Event time, partition, row, and then ordinals: of an output among those of its parent."""

LEAST: Position = ()
END: Position = (1 << 30,)

Row = tuple[Position, Any]


class Broken(Exception):
    """A run did what its protocol excludes."""


class Ring:
    """Rows in order of their positions, in slots that are used again once the reader has released them."""

    def __init__(self, slots: int) -> None:
        self.slots: list[Row | None] = [None] * slots
        self.tail = 0
        self.head = 0
        self.progress = LEAST
        """Nothing below it will come."""
        self.last = LEAST

    def is_full(self) -> bool:
        return self.tail - self.head == len(self.slots)

    def publish(self, row: Row, process: Process) -> None:
        if row[0] < self.last:
            raise Broken(f"{row} was published behind {self.last}")
        process.store()
        self.slots[self.tail % len(self.slots)] = row
        process.store()
        self.tail += 1
        self.last = row[0]

    def promise(self, bound: Position, process: Process) -> None:
        if bound > self.progress:
            process.store()
            self.progress = bound

    def reaches(self, bound: Position) -> bool:
        """True if anything at or above a bound was published, or nothing below it is to come any more."""
        return self.last >= bound or self.progress >= bound

    def row(self, number: int) -> Row:
        row = self.slots[number % len(self.slots)]
        if row is None or number < self.head:
            raise Broken(f"row {number} was read, and {self.head} had been released")
        return row
