"""Many keys in one call: the same as one after the other, from lists and from columns, all or none."""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.stores import Store
from viper.errors import StateFullError
from viper.hashing import stable_hash
from viper.state import StateCell, items

GROUPS = 4


def cell_of(code: str, initial: Any, **options: Any) -> tuple[Store, StateCell]:
    store = Store(code, groups=GROUPS, **options)
    return store, StateCell(store.scope, store.table(), initial)


def rows_of(store: Store) -> list[tuple[Any, Any]]:
    return [(key, values) for group in range(GROUPS) for key, values in items(store.table(), group)]


def one_by_one(code: str, initial: Any, keys: list[Any], amounts: list[Any]) -> tuple[list[Any], Any]:
    store, cell = cell_of(code, initial)
    running = []
    for key, amount in zip(keys, amounts, strict=True):
        store.enter(key)
        cell.value += amount
        running.append(cell.value)
    return running, rows_of(store)


rare_keys = st.sampled_from([None, 1.0, (1, "a"), 2**70])
python_keys = st.lists(st.integers(-3, 3) | st.text(max_size=3) | rare_keys)
COLUMNS = [
    *(pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
]


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    if pa.types.is_integer(kind):
        return st.integers(0 if pa.types.is_unsigned_integer(kind) else -3, 5)
    text = st.text(max_size=30)
    return text if pa.types.is_string(kind) or pa.types.is_large_string(kind) else text.map(str.encode)


@given(python_keys, st.integers(-5, 5), st.data())
@settings(max_examples=60, deadline=None)
def test_adding_is_that_of_one_after_the_other(keys: list[Any], initial: int, data: st.DataObject) -> None:
    amounts = data.draw(st.lists(st.integers(-9, 9), min_size=len(keys), max_size=len(keys)))
    expected = one_by_one("q", initial, keys, amounts)
    for given_amounts in (amounts, array("q", amounts)):
        store, cell = cell_of("q", initial)
        assert (cell.add_all(keys, given_amounts).tolist(), rows_of(store)) == expected
    store, cell = cell_of("q", initial)
    found = cell.add_all(keys[:3]).tolist() + cell.add_all(keys[3:]).tolist()
    assert (found, rows_of(store)) == one_by_one("q", initial, keys, [1] * len(keys))
    # Numbers that are equal are one key; others may have the same hash, as -1 and -2 have in Python.
    last = [max(at for at, other in enumerate(keys) if is_one(other, key)) for key in keys]
    assert cell.get_all([*keys, "unknown"]) == [*(found[at] for at in last), initial]


def is_one(key: Any, other: Any) -> bool:
    return stable_hash(key) == stable_hash(other) and bool(key == other)


@given(st.sampled_from(COLUMNS), st.data())
@settings(max_examples=100, deadline=None)
def test_columns_are_as_the_values_in_them(kind: Any, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.none() | values_of(kind), max_size=40))
    first = data.draw(st.integers(0, 3))
    store, cell = cell_of("d", 0.5)
    amounts = [0.1 * index for index in range(len(keys[first:]))]
    found = cell.add_all(pa.array(keys, kind)[first:], array("d", amounts)).tolist()
    assert (found, rows_of(store)) == one_by_one("d", 0.5, keys[first:], amounts)
    assert cell.get_all(pa.array(keys, kind)[first:]) == cell.get_all(keys[first:])


def test_a_long_column() -> None:
    keys = [number * 7919 % 601 for number in range(5000)]
    for kind in (pa.int32(), pa.string()):
        store, cell = cell_of("q", 0)
        values = keys if pa.types.is_integer(kind) else [f"key {key}" * 2 for key in keys]
        assert cell.add_all(pa.array(values, kind)).tolist() == one_by_one("q", 0, values, [1] * 5000)[0]
        assert cell.get_all(values[:1]) == [sum(value == values[0] for value in values)]
        store.writer.commit()


def test_sums_of_floats_are_those_of_one_after_the_other() -> None:
    _, cell = cell_of("d", 0.0)
    amounts = [1e16, 1.0, -1e16, 1.0] * 10
    assert cell.add_all(["a"] * 40, amounts).tolist() == [*accumulate(amounts)]


@pytest.mark.parametrize("code", ["q", "d", "?", "s", "y"])
def test_put_gives_each_key_its_last_value(code: str) -> None:
    values: list[Any] = {
        **{"q": [1, -(2**63), 3], "d": [0.5, 1.0, -2.0], "?": [True, True, False]},
        **{"s": ["a", "b" * 40, "é"], "y": [b"a", b"b" * 40, b""]},
    }[code]
    store, cell = cell_of(code, values[0])
    cell.put_all(["x", "y", "x"], values)
    assert cell.get_all(["x", "y", "z"]) == [values[2], values[1], values[0]]
    cell.put_all(pa.array(["z", None]), values[:2])
    assert cell.get_all(["z", None]) == values[:2]
    assert len(rows_of(store)) == 4


AN_INT = "state seen holds an int of 64 bits"
REFUSED: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("add_all", (["a", "c", "b"],), OverflowError, "state seen: 9223372036854775807 and 1 are more than"),
    ("add_all", (["a", float("nan")],), TypeError, "nan is no key"),
    ("add_all", (["a", "b"], [1]), ValueError, "1 amounts to add for 2 keys"),
    ("add_all", (["a", "b"], [1, 0.5]), TypeError, f"{AN_INT}, and 0.5 is none"),
    ("add_all", (["a"], array("d", [1])), TypeError, "format 'd' to add: expected one of 64-bit integers"),
    ("add_all", (["a"], array("i", [1])), TypeError, "format 'i' to add: expected one of 64-bit integers"),
    ("put_all", (["a", "b"], [5, None]), TypeError, AN_INT),
    ("put_all", (["a", "b"], [5]), ValueError, "1 values for 2 keys"),
    ("add_all", (pa.array([1.5]),), TypeError, "an Arrow column of format 'g': expected integers of up"),
    ("get_all", (pa.array([2**63], pa.uint64()),), TypeError, "an Arrow column of format 'L'"),
    ("add_all", (5,), TypeError, "not iterable"),
]


@pytest.mark.parametrize(
    ("method", "given", "error", "message"), REFUSED, ids=[f"{name}: {told}" for name, *_, told in REFUSED]
)
def test_all_or_nothing(method: str, given: tuple[Any, ...], error: type[Exception], message: str) -> None:
    store, cell = cell_of("q", 0)
    cell.put_all(["a", "b"], [1, 2**63 - 1])
    before = rows_of(store)
    with pytest.raises(error, match=message):
        getattr(cell, method)(*given)
    assert rows_of(store) == before


def test_texts_hold_no_numbers() -> None:
    _, cell = cell_of("s", "")
    with pytest.raises(TypeError, match="state seen holds no numbers, so nothing can be added"):
        cell.add_all(["a"])


def test_foreign_keys_are_refused() -> None:
    store = Store("q", groups=GROUPS)
    table = store.table(groups=[0])
    cell = StateCell(store.scope, table, 0)
    mine = next(key for key in range(100) if stable_hash(key) % GROUPS == 0)
    foreign = next(key for key in range(100) if stable_hash(key) % GROUPS)
    for keys in ([mine, foreign], pa.array([mine, foreign])):
        with pytest.raises(LookupError, match=f"asked for the key {foreign}, which is of key group"):
            cell.add_all(keys)
        assert table.count(0) == 0


def test_no_room() -> None:
    store, cell = cell_of("q", 0, size_bytes=1 << 19)
    with pytest.raises(StateFullError):
        cell.add_all(range(100_000))
    assert rows_of(store) == []
    cell.add_all(range(10))
    store.scope.leave()
    cell.add_all(range(10))
    store.scope.back()
    assert cell.get_all(range(10)) == [1] * 10
