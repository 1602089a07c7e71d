"""Partitions that have nothing for now but say how far they are: the others do not wait for them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from framework import Bolt, TopologyBuilder
from framework.operators.components import Block, PartitionedSpout, Watermark
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import run_built

ROWS = 10
ROUNDS = 5


class Waits(PartitionedSpout):
    """In each round, one partition has rows, which must have arrived before the next round begins."""

    outputs = ["partition", "round", "n"]
    arrived: ClassVar[int] = 0

    @property
    def partitions(self) -> int:
        return 3

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        for number in range(ROUNDS):
            first = 100 * number
            if number % self.partitions == partition:
                rows = [(partition, number, n) for n in range(ROWS)]
                yield Block(array("q", range(first, first + ROWS)), rows)
            yield Watermark(first + 100)
            while Waits.arrived < ROWS * (number + 1):
                yield None


class Arrives(Bolt):
    outputs = ["partition", "round", "n"]

    def process(self, tup: Any) -> None:
        Waits.arrived += 1
        self.emit(list(tup.values))


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_each_round_arrives_before_the_next_begins(tasks: int) -> None:
    Waits.arrived = 0
    builder = TopologyBuilder()
    builder.set_spout("source", Waits(), tasks)
    builder.set_bolt("arrives", Arrives).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("arrives")
    report = run_built(builder, {"duration_s": 30})
    assert report.result("sink") == [(i % 3, i, n) for i in range(ROUNDS) for n in range(ROWS)]


class Goes(Waits):
    """Brings a row of an earlier time than it had said to resume with."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        yield Watermark(50)
        yield None
        yield Block(array("q", [40]), [(0, 0, 0)])


def test_an_earlier_row_than_was_said_is_an_error() -> None:
    from framework.model.errors import ComponentError

    builder = TopologyBuilder()
    builder.set_spout("source", Goes(), 1)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(ComponentError, match="begins at 40 us, though 50 us was said"):
        run_built(builder, {"duration_s": 30})
