"""Topologies that are drawn by a seed: sources of different rates and ends, and every kind of bolt."""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from framework import BatchBolt, Bolt, Stream, TopologyBuilder, ValueState
from framework.operators.components import Block, PartitionedSpout
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL
from tests.framework.runtime.durability.checkpoints.test_states import Remember
from tests.framework.runtime.pieces import chained

SMALLEST = {
    "viper__jumbo__size": 1,
    "viper__channel__jumbos": 1,
    "viper__channel__tuples": 1,
    "viper__slice__tuples": 1,
}
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    SMALLEST,
    {"viper__jumbo__size": 3, "viper__channel__jumbos": 2, "viper__channel__tuples": 5},
    {"viper__slice__tuples": 3, "viper__scheduling": "random", "viper__seed": 5},
    {"viper__slice__tuples": 7},
    {**SMALLEST, "viper__sharing": "claims"},
    {"viper__jumbo__size": 3, "viper__slice__tuples": 7, "viper__sharing": "claims"},
)
"""Channels and slices, the smallest ones included; and input that tasks claim."""


class Rows(PartitionedSpout):
    """Brings rows at its own rate, with pauses; asks for checkpoints now and then, if it has a leader."""

    outputs = ["partition", "number", "key"]

    def __init__(self, seed: int, rate: int, count: int, leader: int = 0, every: int = 0) -> None:
        super().__init__()
        self._seed = seed
        self._rate = rate
        self._count = count
        self._leader = leader
        self._every = every

    @property
    def partitions(self) -> int:
        return 2

    @property
    def identity(self) -> str:
        return f"{self._seed} {self._rate} {self._count}"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        chance = random.Random(f"{self._seed} {self._rate} {partition}")
        time_us, idle_at = 0, chance.randrange(self._count)
        for first in range(0, self._count, 5):
            times, rows = array("q"), []
            for number in range(first, min(first + 5, self._count)):
                time_us += chance.choice([0, 0, 1, 1, self._rate])
                times.append(time_us)
                rows.append((f"p{partition}", number, chance.randrange(7)))
            yield Block(times, rows)
            for _ in range(20 if first <= idle_at < first + 5 else chance.choice([0, 0, 2])):
                yield None
            if self._leader and partition == 0 and first % self._every == 0:
                os.kill(self._leader, SIGNAL)


class Ticking(Bolt):
    """Counts for its task, and emits the number at every tick; one is due at every third microsecond."""

    outputs = ["key", "told"]
    count = ValueState("int64", default=0, per="task")
    config = {"topology.tick.tuple.freq.secs": 0.000003}

    def process(self, tup: Any) -> None:
        self.count.value += 1

    def process_tick(self, tup: Any) -> None:
        self.emit(["tick", f"{tup.id} {self.count.value}"])


class Batches(BatchBolt):
    """Chains what comes of each key, batch by batch."""

    outputs = ["key", "told"]
    chain = ValueState("int64", default=0, per="task")

    def process_rows(self, rows: Any) -> None:
        made = []
        for partition, number, key in rows:
            self.chain.value = chained(self.chain.value, f"{partition}:{number}")
            made.append([key, str(self.chain.value)])
        self.emit_rows(made)


class ToColumns(BatchBolt):
    """Emits keys and numbers as columns; it keeps nothing."""

    outputs = [Stream(schema={"key": "int64", "number": "int64"})]
    config = {"viper.stateless": True}

    def process_rows(self, rows: Any) -> None:
        self.emit_rows([(key, number) for _, number, key in rows])


class Columns(BatchBolt):
    """Counts keys that come as columns."""

    outputs = [Stream(schema={"key": "int64", "count": "int64"})]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        keys = rows.array("key")
        self.emit_rows([(int(k), int(c)) for k, c in zip(keys, self.seen.add_all(keys), strict=True)])


class Forward(Bolt):
    """Emits a row one time or several times; it keeps nothing."""

    outputs = ["partition", "number", "key"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        for _ in range(tup.values[1] % 3):
            self.emit(list(tup.values))


class Numbered(CollectingSink):
    """Keeps all rows with their numbers, which say how many a checkpoint has left to the run before."""

    seen = ValueState("int64", default=0, per="task")

    def consume(self, rows: Sequence[Any]) -> None:
        first = self.seen.value
        self.seen.value = first + len(rows)
        super().consume([(first + number, *row) for number, row in enumerate(rows)])


def drawn(seed: int, chance: random.Random, leader: int = 0) -> TopologyBuilder:
    """A topology by its seed; how many tasks there are is drawn by chance."""
    shape = random.Random(seed)
    builder = TopologyBuilder()
    sources = []
    for number in range(shape.randrange(1, 4)):
        rate, count = shape.choice([1, 2, 8]), shape.choice([10, 40, 80])
        asks = leader if number == 0 else 0
        count = 80 if number == 0 else count
        sources.append(f"source{number}")
        spout = Rows(seed * 10 + number, rate, count, asks, 20)
        builder.set_spout(sources[-1], spout, 1 + chance.randrange(2))
    forward = builder.set_bolt("forward", Forward, 1 + chance.randrange(3))
    for source in sources:
        forward.shuffle_grouping(source)
    told = ["remember"]
    remember = builder.set_bolt("remember", Remember, 1 + chance.randrange(4))
    remember.fields_grouping(shape.choice(["forward", sources[0]]), "key")
    for name, bolt in (("ticking", Ticking), ("batches", Batches)):
        if shape.random() < 0.7:
            told.append(name)
            above = "forward" if name == "ticking" else sources[-1]  # which may end early but for its tick
            builder.set_bolt(name, bolt).global_grouping(above)
    if shape.random() < 0.7:
        builder.set_bolt("to-columns", ToColumns, 1 + chance.randrange(2)).shuffle_grouping("forward")
        builder.set_bolt("columns", Columns, 1 + chance.randrange(3)).fields_grouping("to-columns", "key")
        told.append("columns")
    sink = builder.set_bolt("sink", Numbered)
    for name in told:
        sink.global_grouping(name)
    return builder


def leader() -> int:
    """The process that asks for checkpoints: this one."""
    return os.getpid()
