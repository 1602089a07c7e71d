"""A source of seeded rows, and bolts with state by key, for runs on one machine and in shards."""

from __future__ import annotations

import random
from array import array
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from framework import Block, Bolt, PartitionedSpout, Stream


class Events(PartitionedSpout):
    """Rows of a few users at times that often coincide."""

    outputs = ["id", "user", "item", "amount"]

    def __init__(self, seed: int = 0, partitions: int = 3, rows: int = 200) -> None:
        super().__init__()
        self._seed, self._partitions, self._rows = seed, partitions, rows

    @property
    def partitions(self) -> int:
        return self._partitions

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        drawn = random.Random(f"{self._seed} {partition}")
        now_us = -5
        for first in range(0, self._rows, 17):
            times, rows = array("q"), []
            for number in range(first, min(first + 17, self._rows)):
                now_us += drawn.choice((0, 0, 0, 1, 2, 50))
                times.append(now_us)
                user = drawn.choice(("ann", "bob", "cyd", 1, 1.0, True, None))
                rows.append((f"{partition}-{number}", user, drawn.randrange(5), drawn.randrange(-9, 100)))
            yield Block(times, rows)


class Sums(Bolt):
    """The sum so far of a user, and a second stream with what is odd."""

    outputs = [Stream(["user", "sum", "last"]), Stream(["user", "sum"], name="odd")]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.sums: defaultdict[Any, int] = defaultdict(int)

    def process(self, tup: Any) -> None:
        self.sums[tup.values.user] += tup.values[-1] if isinstance(tup.values[-1], int) else 1
        found = self.sums[tup.values.user]
        self.emit([str(tup.values.user), found, tup.values[0]])
        if found % 2:
            self.emit([str(tup.values.user), found], stream="odd")


class Large(Bolt):
    """Passes on what is large, twice; keeps nothing."""

    outputs = ["item", "id", "amount"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        for _ in range(2 if tup.values.amount > 50 else 0):
            self.emit([tup.values.item, tup.values.id, tup.values.amount])


class PerItem(Bolt):
    """A count by item that also shows the order within the key: the number so far, and the row before."""

    outputs = ["item", "count", "before"]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.seen: dict[Any, list[str]] = {}

    def process(self, tup: Any) -> None:
        seen = self.seen.setdefault(tup.values.item, [""])
        self.emit([tup.values.item, len(seen), seen[-1]])
        seen.append(f"{tup.component}/{tup.stream} {tup.values.id}")


class Meet(Bolt):
    """Joins two streams on fields of different names: remembers what came last from the other."""

    outputs = ["key", "left", "right"]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.left: dict[Any, Any] = {}
        self.right: dict[Any, Any] = {}

    def process(self, tup: Any) -> None:
        (self.left if tup.component == "sums" else self.right)[tup.values[0]] = tup.values[-1]
        key = tup.values[0]
        self.emit([str(key), str(self.left.get(key)), str(self.right.get(key))])


class Names(Bolt):
    """The user as text beside the id, for a join."""

    outputs = ["name", "id"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([str(tup.values.user), tup.values.id])
