"""The size of the jumbo tuples of columns."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest

from framework import Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.destination import STORE_SHARE, Destination
from framework.runtime.execution.assembly.network import Network
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import INLINE, THREADS, Workers
from viper.columns.payload import Columns
from viper.jumbo import Jumbo
from viper.position import Positions
from viper.source import Source

ROWS, ROW_BYTES, JUMBO, MOST = 100, 8, 16, 64


class Taking:
    """A source that takes everything, and notes how much at once."""

    def __init__(self, store_bytes: int | None) -> None:
        self.store_bytes = store_bytes
        self.sizes: list[int] = []

    def add(self, jumbo: Jumbo, positions: Positions, first: int, count: int) -> bool:
        assert jumbo.size == count
        self.sizes.append(count)
        return True


@pytest.mark.parametrize(
    ("stores", "expected"),
    [
        ([None], [64, 36]),
        ([STORE_SHARE * ROW_BYTES * 10], [10] * 10),
        ([STORE_SHARE * ROW_BYTES * 10, None], [10] * 10),
        ([STORE_SHARE * ROW_BYTES * 1000], [64, 36]),
        ([1], [1] * 100),
    ],
    ids=["within a process", "between two", "both", "a large store", "a tiny one"],
)
def test_they_take_a_share_of_what_a_channel_between_processes_holds(
    stores: list[int | None], expected: list[int]
) -> None:
    takers: Any = [Taking(store) for store in stores]
    destination = Destination([1], cast("list[Source]", takers), JUMBO, False, MOST)
    destination.put(Columns(pa.record_batch({"n": pa.array(range(ROWS), pa.int64())})))
    assert destination.flush()
    assert [taker.sizes for taker in takers] == [expected] * len(stores)


class Typed(Spout):
    outputs = [Stream(schema={"n": "int64"})]


class Untyped(Spout):
    outputs = ["n"]


@pytest.mark.parametrize(
    ("workers", "spout", "batches"),
    [(INLINE, Typed, 2), (THREADS, Typed, 8), (THREADS, Untyped, 1)],
    ids=["within an executor", "between two", "of single tuples"],
)
def test_a_channel_holds_several_batches_of_columns(
    workers: Workers, spout: type[Spout], batches: int
) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    rows = 16_384
    sizes = {"viper__columns__rows": rows, "viper__channel__tuples": rows}
    network = Network.create(*plan_of(builder, **workers.options, **sizes))
    ((_, channel),) = network.statistics()
    assert channel.tuples == batches * rows
