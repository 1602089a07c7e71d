"""Tuples that wait for room: in order, and large batches in the memory in which they came."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from framework.runtime.exchange.destination import Backlog
from viper.columns.payload import Columns
from viper.payload import JOINED_BYTES, Payload, Rows

LARGE = JOINED_BYTES // 8 + 1
"""Rows of 8 bytes that are not joined to any other."""


def columns(first: int, count: int) -> Columns:
    return Columns(pa.record_batch({"number": pa.array(range(first, first + count), pa.int64())}))


def rows(first: int, count: int) -> Rows:
    return Rows([(number,) for number in range(first, first + count)])


@given(st.lists(st.tuples(st.sampled_from([columns, rows]), st.integers(0, 9))), st.data())
def test_what_waits_comes_in_order(
    puts: list[tuple[type[Payload], int]], data: st.DataObject
) -> None:
    backlog, put, taken = Backlog(), 0, 0
    for make, count in puts:
        backlog.put(make(put, count))  # type: ignore[call-arg]
        put += count
        while backlog.count and data.draw(st.booleans(), label="takes"):
            found = backlog.first(data.draw(st.integers(1, 12), label="most"))
            assert found.rows == rows(taken, len(found)).rows
            assert len(found) > 0
            backlog.drop(len(found))
            taken += len(found)
        assert backlog.count == put - taken


def test_small_batches_come_together() -> None:
    backlog = Backlog()
    for first in range(0, 40, 4):
        backlog.put(columns(first, 4))
    assert backlog.first(30).rows == rows(0, 30).rows
    backlog.drop(30)
    assert backlog.first(1000).rows == rows(30, 10).rows


def test_columns_stay_columns() -> None:
    backlog = Backlog()
    backlog.put(columns(0, 4))
    backlog.put(rows(4, 4))
    assert type(backlog.first(8)) is Columns
    backlog.drop(4)
    assert type(backlog.first(8)) is Rows


def test_large_ones_are_not_copied() -> None:
    backlog, large = Backlog(), columns(0, LARGE)
    backlog.put(large)
    backlog.put(columns(LARGE, 4))
    found = backlog.first(10 * LARGE)
    assert isinstance(found, Columns)
    assert found.batch is large.batch
