"""The C layer's structures once more, in a few lines of plain Python each.

They are slow and obviously right; tests do the same to both and compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from viper.position import END, LEAST, Level, Position


def path_of(position: Position) -> int:
    return position.hi << 64 | position.lo


def with_path(ts: int, path: int) -> Position:
    return Position(ts, path >> 64, path & (2**64 - 1))


def place(parent: Position, ordinal: int, level: Level) -> tuple[Position, bool]:
    """One output's position, and whether it was placed by saturation."""
    top = level.offset + level.ordinal_bits + level.tag_bits
    below = 2**top - 1
    path = path_of(parent)
    no_room = ordinal >= 2**level.ordinal_bits - 1 or level.tag >= 2**level.tag_bits
    if no_room or path & below == below:
        return with_path(parent.ts, path | below), True
    mark = (level.tag << level.ordinal_bits | ordinal) << level.offset
    return with_path(parent.ts, path & ~below | mark), False


def children(
    parents: Sequence[Position], ends: Sequence[int], first_ordinal: int, level: Level
) -> tuple[list[Position], int]:
    top = level.offset + level.ordinal_bits + level.tag_bits
    placed: list[tuple[Position, bool]] = []
    ordinal = first_ordinal
    for i, parent in enumerate(parents):
        if i and (parent.ts, path_of(parent) >> top) != (parents[i - 1].ts, path_of(parents[i - 1]) >> top):
            ordinal = 0
        for _ in range(ends[i] - (ends[i - 1] if i else 0)):
            ordinal += 1
            placed.append(place(parent, ordinal, level))
    return [position for position, _ in placed], sum(saturated for _, saturated in placed)


def timed(stamps: Sequence[int], level: Level) -> tuple[list[Position], int]:
    """Positions up to the first timestamp that goes back, and how many were placed by saturation."""
    placed: list[tuple[Position, bool]] = []
    for i, ts in enumerate(stamps):
        if i and ts < stamps[i - 1]:
            break
        placed.append(place(Position(ts, 0, 0), list(stamps[: i + 1]).count(ts), level))
    return [position for position, _ in placed], sum(saturated for _, saturated in placed)


Tuple = tuple[Position, str]
"""A tuple as a channel knows it: its position, and the item of the payload."""


@dataclass
class ReferenceSource:
    """The cells of a store, and what waits in them."""

    slots: int
    cells: list[bool]
    """Which cells of the store hold a position."""
    next_cell: int = 0
    floor: Position = LEAST
    jumbos: list[tuple[range, list[Tuple]]] = field(default_factory=list)
    """Cells and remaining tuples of each jumbo tuple that has not been delivered to its end."""
    last_delivered: Position = LEAST
    progress: Position = LEAST

    def add(self, tuples: list[Tuple]) -> bool:
        if not self.jumbos:
            self.cells, self.next_cell = [False] * len(self.cells), 0
        start = self.next_cell if self.next_cell + len(tuples) <= len(self.cells) else 0
        cells = range(start, start + len(tuples))
        if len(self.jumbos) == self.slots or any(self.cells[cell] for cell in cells):
            return False
        for cell in cells:
            self.cells[cell] = True
        self.next_cell = cells.stop % len(self.cells)
        self.jumbos.append((cells, list(tuples)))
        self.floor = tuples[-1][0]
        return True

    def heartbeat(self, position: Position) -> None:
        self.floor = max(self.floor, position)
        self.progress = max(self.progress, self.floor if position == self.floor else LEAST)

    def bound(self) -> Position:
        return self.jumbos[0][1][0][0] if self.jumbos else max(self.progress, self.last_delivered)

    def deliver(self) -> Tuple:
        cells, tuples = self.jumbos[0]
        taken = tuples.pop(0)
        self.last_delivered = taken[0]
        if not tuples:
            del self.jumbos[0]
            for cell in cells:
                self.cells[cell] = False
        return taken


class ReferenceChannel:
    """The rule of readiness, tuple by tuple."""

    def __init__(self, sources: int, slots: int, tuples: int) -> None:
        self.sources = [ReferenceSource(slots, [False] * tuples) for _ in range(sources)]

    def key(self, index: int) -> tuple[Position, int]:
        """What decides whose turn it is."""
        return self.sources[index].bound(), index

    def first(self) -> int:
        """The source whose turn it is, whether or not it has a tuple."""
        return min(range(len(self.sources)), key=self.key)

    def ready(self) -> bool:
        return bool(self.sources[self.first()].jumbos)

    def deliver(self) -> tuple[int, Tuple]:
        source = self.first()
        return source, self.sources[source].deliver()

    def frontier(self) -> Position:
        return min(source.bound() for source in self.sources)

    def drained(self) -> bool:
        return self.frontier() == END

    def holding_source(self) -> int | None:
        return None if self.ready() or self.drained() else self.first()
