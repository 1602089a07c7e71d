"""Rows of a batch counted by their keys in one call, beside a dictionary."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viper.test_state import Store
from viper.errors import StateFullError
from viper.state import items

Row = tuple[Any, ...]
others = st.sampled_from([None, 1.0, 1.5, b"a", Decimal(1), "w" * 40])
keys = st.one_of(st.integers(-3, 3), st.text(max_size=2), others)
rows = st.lists(st.tuples(keys, keys, st.integers()), max_size=40)


def counted(store: Store, given_rows: list[Row], indexes: tuple[int, ...] = (0,)) -> list[Row]:
    made: list[Row] = []
    store.table(range(store.state.groups)).count_rows(given_rows, indexes, made)
    return made


@given(st.lists(rows, max_size=4), st.sampled_from([(0,), (1,), (0, 1), (1, 0)]), st.booleans())
def test_counts_are_those_of_a_dictionary(
    batches: list[list[Row]], indexes: tuple[int, ...], commits: bool
) -> None:
    store, reference = Store("q", groups=4), Counter[Row]()
    for batch in batches:
        expected = []
        for row in batch:
            key = tuple(row[index] for index in indexes)
            reference[key] += 1
            expected.append((*key, reference[key]))
        assert repr(counted(store, batch, indexes)) == repr(expected)
        if commits:
            store.writer.commit()
    table = store.table(range(4))
    found = {key: count for group in range(4) for key, (count,) in items(table, group)}
    assert found == {key if len(indexes) > 1 else key[0]: count for key, count in reference.items()}
    store.writer.close()


def test_what_is_not_committed_goes_back() -> None:
    store = Store("q")
    counted(store, [("a",)])
    store.writer.commit()
    counted(store, [("a",), ("b",)])
    store.writer.back_to_commit()
    assert dict(items(store.table(), 0)) == {"a": (1,)}
    assert counted(store, [("a",)]) == [("a", 2)]
    store.writer.close()


def test_a_cell_sees_the_count() -> None:
    store = Store("q")
    cell = store.cell(0)
    store.scope.enter(("a",), (0,))
    assert cell.value == 0
    table = store.table()
    table.count_rows([("a",), ("a",)], (0,), [])
    store.scope.enter(("a",), (0,))
    assert cell.value == 2
    store.writer.close()


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (("x", float("nan")), TypeError, "nan is no key"),
        (("x",), IndexError, "has no field 1"),
        (["x", "y"], TypeError, "is no tuple"),
    ],
)
def test_a_row_that_cannot_be_counted_changes_nothing(bad: Any, error: type, message: str) -> None:
    store, made = Store("q"), list[Row]()
    with pytest.raises(error, match=message):
        store.table().count_rows([("x", "a"), ("x", "b"), bad, ("x", "a")], (1,), made)
    assert made == [("a", 1), ("b", 1)]
    assert dict(items(store.table(), 0)) == {"a": (1,), "b": (1,)}
    store.writer.close()


def test_a_key_of_another_task_is_refused() -> None:
    store, made = Store("q", groups=2), list[Row]()
    with pytest.raises(LookupError, match="belongs to another task"):
        store.table(range(1)).count_rows([(n,) for n in range(20)], (0,), made)
    assert len(made) < 20
    store.writer.close()


def test_without_room_a_row_is_not_counted() -> None:
    store, made = Store("q", size_bytes=1 << 20), list[Row]()
    with pytest.raises(StateFullError, match="state seen has no room"):
        store.table().count_rows([(n,) for n in range(1_000_000)], (0,), made)
    assert made == [(n, 1) for n in range(len(made))]
    assert store.table().count(0) == len(made) > 1_000
    store.writer.back_to_commit()
    assert counted(store, [(5,)]) == [(5, 1)]
    store.writer.close()


@pytest.mark.parametrize("codes", ["d", "s", "qq", "[q", "{q"])
def test_only_single_integers_count(codes: str) -> None:
    store = Store(codes)
    with pytest.raises(TypeError, match="state seen is no single integer"):
        counted(store, [(1,)])
    store.writer.close()


def test_a_key_has_a_field() -> None:
    store = Store("q")
    with pytest.raises(ValueError, match="at least one field"):
        counted(store, [(1,)], ())
    store.writer.close()
