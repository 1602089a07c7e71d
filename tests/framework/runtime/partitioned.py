"""A partitioned spout for tests, and the rows that it brings."""

from __future__ import annotations

import os
import random
import signal
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from framework import Bolt, Stream, TopologyBuilder
from framework.operators.components import Block, Pace, PartitionedSpout
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import chained

Row = tuple[Any, ...]


def rows_of(partition: int, count: int, seed: int) -> list[tuple[int, Row]]:
    """The rows of a partition with their times in microseconds; many times are equal."""
    chance = random.Random(seed * 1000 + partition)
    time_us, rows = 0, []
    for number in range(count):
        time_us += chance.choice([0, 0, 1, 7])
        rows.append((time_us, (f"p{partition}", number, chance.randrange(10))))
    return rows


def expected_rows(partitions: int, count: int, seed: int) -> list[Row]:
    """All rows in the order of the guarantee: by time, then by partition, then as they came."""
    found = [(ts, p, row) for p in range(partitions) for ts, row in rows_of(p, count, seed)]
    return [row for *_, row in sorted(found, key=lambda item: item[:2])]


class Partitions(PartitionedSpout):
    """Brings the rows of `rows_of`, in blocks of a few, with pauses; ``fails`` raises once in a block."""

    outputs = ["partition", "number", "key"]

    def __init__(
        self, partitions: int = 4, count: int = 200, seed: int = 0, speed: float = 0.0, fails: bool = False
    ) -> None:
        super().__init__()
        self._partitions = partitions
        self._count = count
        self._seed = seed
        self._speed = speed
        self._fails = fails

    @property
    def partitions(self) -> int:
        return self._partitions

    @property
    def identity(self) -> str:
        return f"{self._partitions} x {self._count}, seed {self._seed}"

    def pace(self) -> Pace | None:
        return Pace(0, self._speed) if self._speed else None

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        chance = random.Random(self._seed + partition)
        rows = rows_of(partition, self._count, self._seed)
        if start_us is not None and chance.random() < 0.5:  # which is allowed, not asked for
            rows = [found for found in rows if found[0] >= start_us]
        while rows:
            size = chance.randrange(0, 30)
            block, rows = rows[:size], rows[size:]
            if self._fails and start_us is None and len(rows) < self._count // 2:
                raise RuntimeError("the source is gone for a while")
            yield Block(array("q", [ts for ts, _ in block]), [row for _, row in block])
            if chance.random() < 0.3:
                yield None


class InTwo(Partitions):
    """Brings every third row on another stream, with fewer values."""

    outputs = [Stream(["partition", "number"]), Stream(["number"], name="third")]

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            for index in range(len(block.rows) if block is not None else 0):
                is_third = block.rows[index][1] % 3 == 0
                rows = [block.rows[index][1:2] if is_third else block.rows[index][:2]]
                times = block.times[index : index + 1]
                yield Block(times, rows, stream="third") if is_third else Block(times, rows)


class Killed(Partitions):
    """Its process is killed in the middle, the first time."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for number, block in enumerate(super().blocks(partition, start_us)):
            if number == 8 and start_us is None:
                os.kill(os.getpid(), signal.SIGKILL)
            yield block


class KilledForGood(Killed):
    """After that its source has nothing for now."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        if start_us is None:
            yield from super().blocks(partition, start_us)
        while True:
            yield None


class Stopping(Partitions):
    """Has the process that leads the run told to stop, when its partition 1 has come so far."""

    def __init__(self, partitions: int, count: int, seed: int, leader: int, at: int) -> None:
        super().__init__(partitions, count, seed)
        self._leader = leader
        self._at = at

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for block in super().blocks(partition, start_us):
            yield block
            if partition == 1 and block is not None and block.rows and block.rows[0][1] >= self._at > 0:
                os.kill(self._leader, signal.SIGTERM)
                self._at = 0


class Accompanied(Partitions):
    """Counts on its companion for the number of rows."""

    @contextmanager
    def companion(self, conf: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        with open(str(conf["test.log"]), "a", encoding="utf-8") as log:
            log.write("begin\n")
        try:
            yield {"test.count": 50}
        finally:
            with open(str(conf["test.log"]), "a", encoding="utf-8") as log:
                log.write("end\n")

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._count = storm_conf["test.count"]


class Refused(Partitions):
    """Its companion raises."""

    def companion(self, conf: Mapping[str, Any]) -> Any:
        raise ValueError("there is no source")


class Chain(Bolt):
    """Chains what it receives of each key, so that every output depends on the history of its key."""

    outputs = ["key", "chain"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._chains: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        self._chains[key] = chained(self._chains.get(key, 0), f"{partition}:{number}")
        self.emit([key, self._chains[key]])


def chains(rows: list[Row]) -> list[Row]:
    """Compute the output of `Chain` for rows."""
    found: dict[int, int] = {}
    out = []
    for partition, number, key in rows:
        found[key] = chained(found.get(key, 0), f"{partition}:{number}")
        out.append((key, found[key]))
    return out


def chain_of(spout: PartitionedSpout, par: int = 1, bolts: int = 2) -> TopologyBuilder:
    """The spout, chains by key, and sinks for both."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout, par)
    builder.set_bolt("chain", Chain, bolts).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("chain")
    builder.set_bolt("rows", CollectingSink).global_grouping("source")
    return builder
