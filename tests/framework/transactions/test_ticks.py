"""Ticks of a bolt with transactions come after the callbacks of all tuples before them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from framework import Block, Bolt, PartitionedSpout, SharedTable, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.transaction_processor import TransactionProcessor
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind

EVENTS = 300
KEYS = 7
TICK_S = 0.005
sums = SharedTable("sums", columns={"sum": "int64"}, rows=KEYS, default={"sum": 0})


class Events(PartitionedSpout):
    """An event each 0.7 ms, some blocks of which are long, and some of one event."""

    outputs = ("number",)
    partitions = 1
    identity = "events"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        first = 0
        while first < EVENTS:
            some = range(first, min(first + 1 + first * 7 % 50, EVENTS))
            yield Block(array("q", (700 * number for number in some)), [(number,) for number in some])
            first = some.stop


class Adds(Bolt):
    """Adds up in a table, and tells at ticks what it was told so far."""

    tables: ClassVar[Any] = [sums]
    outputs = ("kind", "value")
    config: ClassVar[Any] = {"topology.tick.tuple.freq.secs": TICK_S}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.told = self.total = 0

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.add(sums.sum, tup.values[0] % KEYS, tup.values[0])
            t.read(sums.sum, tup.values[0] % KEYS)

    def process_result(self, tup: Any, result: Any) -> None:
        self.tell(result.values[0])

    def tell(self, found: int) -> None:
        self.told, self.total = self.told + 1, self.total + found
        self.emit(["sum", found])

    def process_tick(self, tup: Any) -> None:
        self.emit(["tick", 1_000_000 * self.told + self.total % 1_000_000])


class Alone(Adds):
    """The same, without any transaction."""

    tables: ClassVar[Any] = []

    def initialize(self, storm_conf: Any, context: Any) -> None:
        super().initialize(storm_conf, context)
        self.sums = [0] * KEYS

    def process(self, tup: Any) -> None:
        self.sums[tup.values[0] % KEYS] += tup.values[0]
        self.tell(self.sums[tup.values[0] % KEYS])


def rows_of(workers: Workers, bolt: type[Bolt], beside: int = 1, **options: Any) -> list[tuple[Any, ...]]:
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("events", Events)
    builder.set_bolt("adds", bolt).global_grouping("events")
    builder.set_bolt("beside", Beside, beside).shuffle_grouping("events")
    builder.set_bolt("sink", CollectingSink).global_grouping("adds")
    return list(workers.run(builder, **options).result("sink"))


class Beside(Bolt):
    """Another member of the group, for which the first one has to wait."""

    tables: ClassVar[Any] = [sums]
    outputs: ClassVar[Any] = []

    def process(self, tup: Any) -> None:
        with self.transaction(tup) as t:
            t.read(sums.sum, 0)

    def process_result(self, tup: Any, result: Any) -> None:
        pass


@pytest.fixture(scope="module")
def expected() -> list[tuple[Any, ...]]:
    found = rows_of(INLINE, Alone)
    ticks = [value // 1_000_000 for kind, value in found if kind == "tick"]
    assert len(ticks) > 20 and ticks == sorted(ticks)
    return found


@every_kind
@pytest.mark.parametrize("gather", [1, 3, 512])
def test_a_tick_finds_what_was_told_before_it(
    workers: Workers, gather: int, expected: list[tuple[Any, ...]]
) -> None:
    options = {"viper__transactions__gather": gather}
    assert rows_of(workers, Adds, 2, **options) == expected


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(10))
def test_whenever_it_is_evaluated(seed: int, expected: list[tuple[Any, ...]]) -> None:
    options = {
        "viper__scheduling": "random",
        "viper__seed": seed,
        "viper__transactions__gather": 1 + seed % 5,
        "viper__slice__tuples": 1 + 3 * seed,
        "viper__jumbo__size": 1 + seed % 3,
        "viper__channel__tuples": 3 + seed,
    }
    assert rows_of(INLINE, Adds, 1 + seed % 3, **options) == expected


def test_a_tick_before_its_callbacks_is_noticed(
    monkeypatch: pytest.MonkeyPatch, expected: list[tuple[Any, ...]]
) -> None:
    def ticks_first(self: Any, pieces: Any) -> Iterator[None]:
        agenda, positions = self.agenda, self._positions
        self.parts.processor.begin(positions)
        assert isinstance(self.parts.processor, TransactionProcessor)
        due = agenda.take_before(positions.last()) if agenda.is_due_before(positions.last()) else ()
        yield from self._perform(due)
        yield from self._process(pieces)
        agenda.input_passed(positions.last())

    monkeypatch.setattr(BoltTask, "_process_between", ticks_first)
    assert rows_of(INLINE, Adds, 1) != expected
