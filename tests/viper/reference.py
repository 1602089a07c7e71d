"""The C layer's structures again, in a few lines of plain Python each.

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
"""A tuple as a gate knows it: its position, and the item of the row."""


@dataclass
class ReferenceStore:
    """Cells that are taken in pieces, one after the other, and begun again where a piece does not fit."""

    size: int
    next_cell: int = 0

    def piece(self, count: int, is_empty: bool) -> range:
        start = 0 if is_empty or self.next_cell + count > self.size else self.next_cell
        return range(start, start + count)


@dataclass
class ReferenceJumbo:
    tuples: list[Tuple]
    positions: range
    """Cells of its positions, in the ring's store for them."""
    payload: range
    """Cells of its payload, of 8 bytes each."""


@dataclass
class ReferenceSource:
    """Everything that was ever added, and which of it takes up room."""

    slots: int
    positions: ReferenceStore
    payload: ReferenceStore
    floor: Position = LEAST
    progress: Position = LEAST
    jumbos: list[ReferenceJumbo] = field(default_factory=list)

    def add(self, tuples: list[Tuple], payload_bytes: int, released: int) -> bool:
        """Add a jumbo tuple, where all readers have released so many before."""
        taken = self.jumbos[released:]
        positions = self.positions.piece(len(tuples), not taken)
        payload = self.payload.piece(-(-payload_bytes // 8), not taken)
        if len(taken) == self.slots:
            return False
        if any(overlap(positions, other.positions) or overlap(payload, other.payload) for other in taken):
            return False
        self.positions.next_cell, self.payload.next_cell = positions.stop, payload.stop
        self.jumbos.append(ReferenceJumbo(tuples, positions, payload))
        self.floor = tuples[-1][0]
        return True

    def heartbeat(self, position: Position) -> None:
        if position > self.floor:
            self.floor = self.progress = position


def overlap(a: range, b: range) -> bool:
    return bool(a) and bool(b) and a.start < b.stop and b.start < a.stop


@dataclass
class ReferenceCursor:
    """The progress of one reader in one source."""

    source: ReferenceSource
    jumbo: int = 0
    """Jumbo tuples released."""
    taken: int = 0
    """Tuples taken of the next one."""
    last: Position = LEAST

    def waiting(self) -> list[Tuple]:
        found = [item for jumbo in self.source.jumbos[self.jumbo :] for item in jumbo.tuples]
        return found[self.taken :]

    def bound(self) -> Position:
        waiting = self.waiting()
        return waiting[0][0] if waiting else max(self.source.progress, self.last)

    def deliver(self) -> Tuple:
        taken = self.waiting()[0]
        self.last = taken[0]
        self.taken += 1
        if self.taken == len(self.source.jumbos[self.jumbo].tuples):
            self.jumbo, self.taken = self.jumbo + 1, 0
        return taken

    def successor(self) -> ReferenceCursor:
        """Make the cursor at which the reader's successor begins."""
        return ReferenceCursor(self.source, self.jumbo)


class ReferenceReader:
    """The rule of readiness, tuple by tuple."""

    def __init__(self, sources: Sequence[ReferenceSource]) -> None:
        self.cursors = [ReferenceCursor(source) for source in sources]

    def key(self, index: int) -> tuple[Position, int]:
        """The key that decides whose turn it is."""
        return self.cursors[index].bound(), index

    def first(self) -> int:
        """The source whose turn it is, whether or not it has a tuple."""
        return min(range(len(self.cursors)), key=self.key)

    def ready(self) -> bool:
        return bool(self.cursors[self.first()].waiting())

    def deliver(self) -> tuple[int, Tuple]:
        source = self.first()
        return source, self.cursors[source].deliver()

    def watermark(self) -> Position:
        return min(cursor.bound() for cursor in self.cursors)

    def drained(self) -> bool:
        return self.watermark() == END

    def holding_source(self) -> int | None:
        return None if self.ready() or self.drained() else self.first()

    def succeed(self) -> None:
        """Another takes its place."""
        self.cursors = [cursor.successor() for cursor in self.cursors]
