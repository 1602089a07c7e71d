"""Cells that add to a value, and those of a table's columns: as in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.stores import Store
from viper.errors import StateFullError
from viper.state import StateCell, TableCell, items

MOST = 2**63 - 1


def cell_of(code: str, initial: Any) -> tuple[Store, StateCell]:
    store = Store(code)
    return store, StateCell(store.scope, store.table(), initial)


class TestAdd:
    @pytest.mark.parametrize(("initial", "first"), [(0, 3), (-5, -2), (None, 3), (MOST - 3, MOST)])
    def test_the_sum_is_told_and_kept(self, initial: Any, first: int) -> None:
        store, cell = cell_of("q", initial)
        store.enter("a")
        assert cell.add(3) == first and cell.value == first
        assert cell.add(-7) == first - 7 and cell.value == first - 7
        assert dict(items(store.table(), 0)) == {"a": (first - 7,)}

    def test_floats(self) -> None:
        store, cell = cell_of("d", 0.5)
        store.enter("a")
        assert [cell.add(amount) for amount in (1e16, 1, -1e16, 0.25)] == [1e16, 1e16, 0.0, 0.25]

    @pytest.mark.parametrize(
        ("initial", "amount", "error", "message"),
        [
            (MOST, 1, OverflowError, "and 1 are more than an int of 64 bits"),
            (-MOST - 1, -1, OverflowError, "more than an int of 64 bits"),
            (0, MOST + 1, TypeError, "holds an int of 64 bits, and 9223372036854775808 is none"),
            (0, 1.0, TypeError, "1.0 is none"),
            (0, True, TypeError, "True is none"),
            (0, "1", TypeError, "'1' is none"),
        ],
    )
    def test_what_cannot_be_added_changes_nothing(
        self, initial: int, amount: Any, error: type[Exception], message: str
    ) -> None:
        store, cell = cell_of("q", initial)
        store.enter("a")
        with pytest.raises(error, match=message):
            cell.add(amount)
        assert not cell.is_set and cell.value == initial and store.table().count(0) == 0

    @pytest.mark.parametrize(("code", "initial"), [("s", ""), ("y", b""), ("?", False)])
    def test_to_what_is_no_number(self, code: str, initial: Any) -> None:
        store, cell = cell_of(code, initial)
        store.enter("a")
        with pytest.raises(TypeError, match="holds no numbers, so nothing can be added"):
            cell.add(1)

    def test_it_goes_back_with_its_tuple(self) -> None:
        store, cell = cell_of("q", 0)
        store.enter("a")
        cell.add(1)
        store.enter("a")
        cell.add(10)
        store.scope.back()
        assert cell.add(100) == 101

    def test_a_method_that_was_kept_is_of_the_tuple_in_process(self) -> None:
        store, cell = cell_of("q", 0)
        add = cell.add
        for key in ("a", "b", "a"):
            store.enter(key)
            add(1)
        assert dict(items(store.table(), 0)) == {"a": (2,), "b": (1,)}


@pytest.mark.parametrize("change", [lambda cell: cell.add(1), lambda cell: setattr(cell, "value", 1)])
def test_a_full_pool_changes_nothing(change: Callable[[StateCell], None]) -> None:
    store = Store("q", size_bytes=1 << 16)
    cell = StateCell(store.scope, store.table(), 0)
    kept = 0
    with pytest.raises(StateFullError, match="has no room for more"):
        for kept in range(1 << 16):
            store.enter(kept)
            change(cell)
    assert not cell.is_set and store.table().count(0) == kept


INITIAL = {"count": 7, "share": 0.5, "odd": False, "text": "none", "data": b"-" * 20}
VALUES = {
    "count": st.integers(-MOST - 1, MOST),
    "share": st.floats(allow_nan=False),
    "odd": st.booleans(),
    "text": st.text(max_size=30),
    "data": st.binary(max_size=30),
}
changes = st.sampled_from(list(VALUES)).flatmap(lambda name: st.tuples(st.just(name), VALUES[name]))
steps = st.tuples(st.sampled_from(["a", "b", 1]), st.none() | changes, st.booleans())


def columns() -> tuple[Store, TableCell]:
    store = Store("qd?sy")
    return store, TableCell(store.scope, store.table(), INITIAL)


def held(cell: TableCell) -> dict[str, Any]:
    return {name: getattr(cell, name) for name in INITIAL}


class TestColumns:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(steps, max_size=30))
    def test_they_are_those_of_a_dictionary(self, given_steps: Any) -> None:
        """A step without a change clears the key; a step may raise after its change."""
        store, cell = columns()
        expected: dict[Any, dict[str, Any]] = {}
        for key, change, raises in given_steps:
            store.enter(key)
            assert held(cell) == expected.get(key, INITIAL) and cell.is_set == (key in expected)
            if change is None:
                cell.clear()
            else:
                setattr(cell, *change)
            if raises:
                store.scope.back()
            elif change is None:
                expected.pop(key, None)
            else:
                expected[key] = {**expected.get(key, INITIAL), change[0]: change[1]}
            assert held(cell) == expected.get(key, INITIAL)
        assert dict(items(store.table(), 0)) == {key: tuple(row.values()) for key, row in expected.items()}
        store.writer.close()

    def test_the_first_change_gives_the_key_all_that_columns_hold_at_first(self) -> None:
        store, cell = columns()
        store.enter("a")
        cell.odd = True
        assert store.table().get("a") == (7, 0.5, True, "none", b"-" * 20)

    def test_other_attributes_are_refused(self) -> None:
        store, cell = columns()
        store.enter("a")
        with pytest.raises(
            AttributeError, match="the table has no column 'cuont': it would not be remembered"
        ):
            cell.cuont = 1
        with pytest.raises(AttributeError, match="cuont"):
            _ = cell.cuont
        with pytest.raises(AttributeError, match=r"column 'count' cannot be deleted alone: clear\(\)"):
            del cell.count

    def test_a_name_that_is_put_together(self) -> None:
        store, cell = columns()
        store.enter("a")
        name = "".join(["co", "unt"])
        setattr(cell, name, 9)
        assert getattr(cell, "".join(["co", "unt"])) == 9

    def test_a_value_of_another_type_changes_nothing(self) -> None:
        store, cell = columns()
        store.enter("a")
        with pytest.raises(TypeError, match="holds a str, and 5 is none"):
            cell.text = 5
        assert not cell.is_set and store.table().count(0) == 0

    def test_without_a_tuple_there_is_no_key(self) -> None:
        store, cell = columns()
        store.scope.leave()
        for access in (
            lambda: cell.count,
            lambda: setattr(cell, "count", 1),
            cell.clear,
            lambda: cell.is_set,
        ):
            with pytest.raises(LookupError, match="while a tuple is processed"):
                access()

    def test_what_a_cell_is_made_of(self) -> None:
        store = Store("qd")
        with pytest.raises(TypeError, match="a KeyedTable of as many columns"):
            TableCell(store.scope, store.table(), {"a": 1, "b": 1.0, "c": 2})
        with pytest.raises(TypeError, match="names of columns are str, and 1 is none"):
            TableCell(store.scope, store.table(), {"a": 1, 1: 1.0})  # type: ignore[dict-item]
