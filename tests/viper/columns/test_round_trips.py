"""Tuples become columns and tuples again, byte for byte, whatever is done to the columns in between."""

from __future__ import annotations

from array import array
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.columns.drawn import tables
from viper.codec import decode, encode
from viper.columns.batches import Batches, copied
from viper.columns.payload import Columns
from viper.jumbo import Jumbo
from viper.payload import NOTHING, Rows
from viper.rows import Decoder
from viper.schema import Schema

Table = tuple[Schema, list[str], list[tuple[Any, ...]]]


def columns_of(table: Table) -> Columns:
    schema, fields, rows = table
    return Columns(Batches(schema, fields).of_rows(rows))


def same(found: Any, expected: Any) -> None:
    """NaN equals nothing, and -0.0 equals 0.0; their texts tell."""
    assert repr(found) == repr(expected)


@settings(max_examples=40)
@given(tables())
def test_rows(table: Table) -> None:
    columns = columns_of(table)
    columns.batch.validate(full=True)
    same(columns.rows, table[2])


@settings(max_examples=40)
@given(tables(), st.data())
def test_a_slice(table: Table, data: st.DataObject) -> None:
    rows = table[2]
    first = data.draw(st.integers(0, len(rows)))
    count = data.draw(st.integers(0, len(rows) - first))
    part = columns_of(table).slice(first, count)
    same(part.rows, rows[first : first + count])
    same(Columns(copied(part.batch)).rows, rows[first : first + count])


@settings(max_examples=40)
@given(tables(), st.data())
def test_members_an_order_and_parts_of_a_slice(table: Table, data: st.DataObject) -> None:
    rows = table[2]
    first = data.draw(st.integers(0, len(rows)))
    columns, rows = columns_of(table).slice(first, len(rows) - first), rows[first:]
    member = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    same(columns.take(member).rows, [row for row, taken in zip(rows, member, strict=True) if taken])
    order = data.draw(st.permutations(range(len(rows))))
    same(columns.ordered(array("I", order)).rows, [rows[index] for index in order])
    parts = columns.partition(array("H", member), 3)
    expected = Rows(rows).partition(array("H", member), 3)
    same([part.rows for part in parts], [part.rows for part in expected])


@settings(max_examples=40)
@given(tables())
def test_joined(table: Table) -> None:
    columns, rows = columns_of(table), table[2]
    same(columns.joined(columns).rows, rows * 2)
    same(columns.joined(NOTHING, columns.slice(0, 0)).rows, rows)
    same(columns.joined(Rows(rows)).rows, rows * 2)
    same(Rows(rows).joined(columns).rows, rows * 2)
    same(NOTHING.joined(columns).rows, rows)


@settings(max_examples=40)
@given(tables(), st.booleans())
def test_to_another_process(table: Table, tagged: bool) -> None:
    columns, rows = columns_of(table), table[2]
    part = columns.slice(len(rows) // 2, len(rows) - len(rows) // 2)
    tags = array("H", range(len(part))) if tagged else None
    encoded = bytearray(encode(Jumbo(part, tags)))
    found = decode(memoryview(encoded), Decoder())
    encoded[:] = bytes(len(encoded))  # where it lay is used again
    assert isinstance(found.payload, Columns)
    assert found.tags == (tags or None)
    same(found.payload.rows, rows[len(rows) // 2 :])


@settings(max_examples=40)
@given(tables())
def test_what_is_emitted_column_by_column(table: Table) -> None:
    schema, fields, rows = table
    batches = Batches(schema, fields)
    given_columns = {name: [row[index] for row in rows] for index, name in enumerate(fields)}
    same(Columns(batches.accepted(given_columns)).rows, rows)
    as_table = pa.Table.from_batches([batches.of_rows(rows[:2]), batches.of_rows(rows[2:])])
    same(Columns(batches.accepted(as_table)).rows, rows)
    backwards = as_table.select(fields[::-1])
    same(Columns(batches.accepted(backwards)).rows, rows)


def test_integers_above_2_to_the_53rd_beside_none() -> None:
    rows = [(2**53 + 1,), (None,), (-(2**63),), (2**63 - 1,)]
    same(columns_of((Schema.of(["int64"], ["n"]), ["n"], rows)).rows, rows)


def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers beside None become floats, as in pandas."""

    def by_floats(column: Any, found: list[Any]) -> list[Any]:
        return [
            None if not valid.as_py() else type(value)(float(value))
            for value, valid in zip(found, column.is_valid(), strict=True)
        ]

    monkeypatch.setattr("viper.columns.scalars._with_nulls", by_floats)
    with pytest.raises(AssertionError):
        test_integers_above_2_to_the_53rd_beside_none()
