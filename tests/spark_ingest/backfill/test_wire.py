"""Positions as bytes that sort as positions do, and rows that arrive as they were sent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyarrow")

import pyarrow as pa

from spark_ingest.backfill.wire import (
    POSITION,
    ROW,
    STREAM,
    key_column,
    positions_of,
    sent_batch,
    sent_schema,
    sortable,
    unpickled,
)
from viper.position import Position, Positions

WORD = st.integers(0, 2**64 - 1)
POSITIONS = st.lists(st.builds(Position, st.integers(-(2**63), 2**63 - 1), WORD, WORD), max_size=20)


def packed(positions: list[Position]) -> bytes:
    found = Positions()
    for position in positions:
        found.append(position)
    return found.to_bytes()


@given(POSITIONS)
def test_positions_come_back(positions: list[Position]) -> None:
    assert positions_of(sortable(packed(positions))) == positions


@given(POSITIONS)
def test_bytes_sort_as_positions(positions: list[Position]) -> None:
    column = sortable(packed(positions)).to_pylist()
    assert positions_of(pa.array(sorted(column), pa.binary())) == sorted(positions)
    assert all(len(value) == 24 for value in column)


def test_values_arrive_as_they_are() -> None:
    rows = [(1, 1.0, True, None, "a", b"a", (1, [2]), {"k": {3}})]
    batch = sent_batch(packed([Position(1, 2, 3)]), [1], rows, [[7], [8]])
    assert list(unpickled(batch[ROW])) == rows
    assert [type(value) for value in next(unpickled(batch[ROW]))[:3]] == [int, float, bool]
    assert batch[STREAM].to_pylist() == [1]
    assert [batch[key_column(n)].to_pylist() for n in (0, 1)] == [[7], [8]]
    assert batch.schema.names == [column.split()[0] for column in sent_schema(2).split(", ")]
    assert positions_of(batch[POSITION]) == [Position(1, 2, 3)]
