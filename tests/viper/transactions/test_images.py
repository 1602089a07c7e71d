"""Tables as bytes: what is written of one, and read again, is the table as it was when it was copied."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viper.transactions.programs import ACCOUNTS, ELEMENTS, FLOATS, INTS, KEYS, PAIRS, PLACES
from viper.arena import Arena
from viper.transactions import images
from viper.transactions.images import lines_of, rows_in
from viper.transactions.specs import TableSpec
from viper.transactions.tables import Table

SETS = st.lists(st.sampled_from(ELEMENTS), unique=True)
VALUES = {
    "accounts": st.tuples(INTS),
    "places": st.tuples(INTS, FLOATS, SETS),
    "pairs": st.tuples(INTS, SETS, SETS),
}


def table_of(spec: TableSpec) -> Table:
    return Table.create(Arena.private(Table.size(spec) + 4096), spec)


def again(table: Table) -> Table:
    """A table that is filled with what is written of another one."""
    found = table_of(table.spec)
    found.load(rows_in(table.spec, b"".join(lines_of(table))))
    return found


@pytest.mark.few(1)
@pytest.mark.parametrize("spec", [ACCOUNTS, PLACES, PAIRS], ids=lambda spec: spec.table_name)
@given(data=st.data())
def test_a_table_comes_back(spec: TableSpec, data: Any) -> None:
    name = spec.table_name
    rows = data.draw(st.dictionaries(st.sampled_from(KEYS[name]), VALUES[name]), "rows")
    table = table_of(spec)
    for key in data.draw(st.lists(st.sampled_from(KEYS[name])), "entered"):
        table.enter(key)  # such as a transaction has named that was aborted
    for key, values in rows.items():
        table.put(key, *values)
    expected = list(table.rows())
    assert len(expected) == len(rows)
    assert list(again(table).rows()) == expected


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_in_portions(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "AT_ONCE", at_once)
    spec = TableSpec("many", "text", {"n": "int64", "s": "set"}, rows=100, elements=300)
    table = table_of(spec)
    for number in range(100):
        table.put(f"row {number}", number, range(number % 4))
    portions = list(lines_of(table))
    assert len(portions) == -(-100 // at_once) + -(-150 // at_once)
    assert list(again(table).rows()) == list(table.rows())


def test_numbers_that_are_none() -> None:
    spec = TableSpec("floats", "int64", {"x": "float64"}, rows=3)
    table = table_of(spec)
    for key, value in enumerate((math.nan, math.inf, -0.0)):
        table.put(key, value)
    assert repr(list(again(table).rows())) == "[(0, nan), (1, inf), (2, -0.0)]"


def test_a_copy_is_as_the_table_was() -> None:
    table = table_of(PLACES)
    table.put("a", 1, 2.5, [1, "x"])
    table.enter("named only")
    copy = table.copied()
    table.put("a long name of a place", 5, 0.0, [7])
    table.native.put(table.enter("a"), (9, 9.0, 2))
    assert list(copy.rows()) == [("a", 1, 2.5, (1, "x"))]
    assert [key for key, *_ in table.rows()] == ["a", "a long name of a place"]
    assert copy.find("a") == table.find("a")
    assert list(again(copy).rows()) == list(copy.rows())
