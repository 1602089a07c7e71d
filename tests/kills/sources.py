"""Sources of runs that are killed, and the rows that they bring."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from typing import Any

from framework import SeekableSpout
from framework.operators.components import Block, PartitionedSpout, Watermark
from tests.kills import deaths  # noqa: F401

FIELDS = ["key", "value"]
KEYS = 23


def rows_of(seed: int, count: int) -> list[tuple[int, int, int]]:
    """Times in microseconds, many of which are equal, keys and values."""
    chance, at, found = random.Random(seed), 0, []
    for _ in range(count):
        at += chance.choice((0, 0, 0, 1, 5))
        found.append((at, chance.randrange(KEYS), chance.randrange(1000)))
    return found


def line_of(at: int, key: int, value: int) -> str:
    """A row as words."""
    return f"word{key} {key * value % 97} of {value % 10}"


class Generated(SeekableSpout):
    """A generator; its rows have a field with their time."""

    outputs = [*FIELDS, "at"]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "us"}

    def __init__(self, seed: int, count: int) -> None:
        super().__init__()
        self._rows = rows_of(seed, count)
        self._next = 0

    def tuples(self) -> Iterator[Any]:
        while self._next < len(self._rows):
            at, key, value = self._rows[self._next]
            self._next += 1
            yield [key, value, at]

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = offset


class Polled(Generated):
    """Emits several rows in a call, or none."""

    config = {**Generated.config, "viper.spout.bounded": True}
    tuples = SeekableSpout.tuples

    def next_tuple(self) -> None:
        if self._next >= len(self._rows):
            raise StopIteration
        first = self._next
        self._next += 1 + self._rows[first][2] % 7
        for at, key, value in self._rows[first : self._next]:
            self.emit([key, value, at])


class Lines(Generated):
    """Lines of words, in the order of their numbers."""

    outputs = ["line"]
    config = {}

    def tuples(self) -> Iterator[Any]:
        while self._next < len(self._rows):
            self._next += 1
            yield [line_of(*self._rows[self._next - 1])]


class Parted(PartitionedSpout):
    """Brings partitions in blocks of a few, with pauses and watermarks."""

    outputs = [*FIELDS, "at"]

    def __init__(self, seed: int, count: int, partitions: int = 3) -> None:
        super().__init__()
        self._seed = seed
        self._count = count // partitions
        self._partitions = partitions

    @property
    def partitions(self) -> int:
        return self._partitions

    @property
    def identity(self) -> str:
        return f"{self._partitions} x {self._count}, seed {self._seed}"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        chance = random.Random(self._seed + partition)
        rows = rows_of(self._seed * 100 + partition, self._count)
        if start_us is not None:
            rows = [row for row in rows if row[0] >= start_us]
        first = 0
        while first < len(rows):
            taken = rows[first : first + chance.randrange(40)]
            first += len(taken)
            yield Block(array("q", [at for at, *_ in taken]), [(key, value, at) for at, key, value in taken])
            if chance.random() < 0.1:
                yield Watermark(taken[-1][0]) if taken else None
            elif chance.random() < 0.02:
                yield None
