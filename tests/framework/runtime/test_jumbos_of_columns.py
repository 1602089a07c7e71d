"""The size of the jumbo tuples of columns, and of rows that were emitted at once."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest

from framework import Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.destination import STORE_SHARE, Destination
from framework.runtime.execution.assembly.network import Network
from tests.framework.runtime.pieces import plan_of
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from viper.arena import Arena
from viper.columns.payload import Columns
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import Position, Positions
from viper.source import Source

ROWS, ROW_BYTES, JUMBO, MOST = 100, 8, 16, 64


class Taking:
    """A source that takes everything, and notes how much at once."""

    def __init__(self, store_bytes: int | None, whole: int = 0) -> None:
        self.store_bytes = store_bytes
        self.whole = whole
        self.row_bytes = 0
        self.sizes: list[int] = []

    def most_whole(self, size: int, beside: int) -> int:
        return self.whole

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


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([100], [100]),
        ([150], [128, 22]),
        ([40, 40], [64, 16]),
        ([40, 100, 40], [64, 76, 40]),
    ],
    ids=["one batch", "a larger one", "small ones", "a large one among small ones"],
)
def test_a_batch_goes_to_another_process_as_it_was_emitted(rows: list[int], expected: list[int]) -> None:
    taker = Taking(STORE_SHARE * ROW_BYTES * 1000, whole=128)
    destination = Destination([1], cast("list[Source]", [taker]), JUMBO, False, MOST)
    for count in rows:
        destination.put(Columns(pa.record_batch({"n": pa.array(range(count), pa.int64())})))
    assert destination.flush()
    assert taker.sizes == expected


def test_a_batch_is_cut_where_it_takes_more_than_a_share_of_the_bytes() -> None:
    taker = Taking(STORE_SHARE * ROW_BYTES * 80, whole=128)
    destination = Destination([1], cast("list[Source]", [taker]), JUMBO, False, MOST)
    destination.put(Columns(pa.record_batch({"n": pa.array(range(ROWS), pa.int64())})))
    assert destination.flush()
    assert taker.sizes == [80, 20]


def test_a_batch_is_cut_within_a_process_and_where_one_of_two_readers_has_no_room_for_more() -> None:
    pairs: list[list[Taking]] = [[Taking(None, 128)], [Taking(1 << 20, 128), Taking(None, 32)]]
    for takers in pairs:
        destination = Destination([1], cast("list[Source]", takers), JUMBO, False, MOST)
        destination.put(Columns(pa.record_batch({"n": pa.array(range(ROWS), pa.int64())})))
        assert destination.flush()
        assert [taker.sizes for taker in takers] == [[64, 36]] * len(takers)


@pytest.mark.parametrize(
    ("store_bytes", "row_bytes", "expected"),
    [
        (None, 0, [50, 16, 4]),
        (STORE_SHARE * 1000, 0, [50, 16, 4]),
        (STORE_SHARE * 1000, 25, [40, 26, 4]),
        (STORE_SHARE * 1000, 500, [16, 16, 16, 16, 6]),
    ],
    ids=["within a process", "between two", "longer ones", "long ones"],
)
def test_rows_that_were_emitted_at_once_go_at_once_as_far_as_they_are_short(
    store_bytes: int | None, row_bytes: int, expected: list[int]
) -> None:
    taker = Taking(store_bytes, whole=50)
    taker.row_bytes = row_bytes
    destination = Destination([1], cast("list[Source]", [taker]), JUMBO, False)
    destination.put(Rows([(n,) for n in range(66)]))
    destination.put(Rows([(n,) for n in range(4)]))
    assert destination.flush()
    assert taker.sizes == expected


def test_a_source_knows_how_long_its_rows_were() -> None:
    arena = Arena.shared(1 << 20)
    made = ScaleGate.create(arena, 1, slots=4, tuples=64, payload_bytes=1 << 16)
    source = ScaleGate.attach(arena, made.offset).source(0)
    assert source.row_bytes == 0
    positions = Positions()
    for _ in range(10):
        positions.append(Position(0, 0, 0))
    assert source.add(Jumbo(Rows([("x" * 100,)] * 10)), positions, 0, 10)
    assert 100 <= source.row_bytes < 120
    assert source.most_whole(8, 2) == 64 // 3 and source.most_whole(4, 2) == 16


class Typed(Spout):
    outputs = [Stream(schema={"n": "int64"})]


class Untyped(Spout):
    outputs = ["n"]


@pytest.mark.parametrize(
    ("workers", "spout", "batches"),
    [(INLINE, Typed, 2), (THREADS, Typed, 8), (PROCESSES, Typed, 16), (THREADS, Untyped, 1)],
    ids=["within an executor", "between two", "between two processes", "of single tuples"],
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
