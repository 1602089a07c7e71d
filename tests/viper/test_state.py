"""State by key: cells of the tuple in process, keys of all types, misfits, memory that ends."""

from __future__ import annotations

import datetime
import enum
import gc
import uuid
from collections import namedtuple
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from viper._rows import canonical_key
from viper.arena import Arena
from viper.errors import StateFullError
from viper.hashing import canonical_of_rare, hash_of_rare, stable_hash
from viper.state import KeyedState, KeyedTable, Pool, Scope, StateCell, UndoLog, Writer, items


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntEnum):
    ONE = 1


class Name(str):
    pass


Point = namedtuple("Point", "x y")

EQUAL_KEYS: list[list[Any]] = [
    [1, 1.0, True, Decimal(1), Fraction(1), complex(1), Number.ONE],
    [1.5, Decimal("1.5"), Fraction(3, 2)],
    [Decimal("0.1"), Fraction(1, 10)],
    [2**70, 2.0**70, Decimal(2**70)],
    [0, 0.0, -0.0, False],
    [float("inf"), Decimal("Infinity")],
    ["a", Name("a")],
    [b"a", bytearray(b"a")],
    [(1, "a"), [1, "a"], (True, Name("a")), Point(1, "a")],
    [{1, 2}, frozenset({1.0, 2})],
    [{"a": 1, "b": 2}, {"b": 2.0, "a": True}],
]
DISTINCT_KEYS: list[Any] = [
    *(key for key, *_ in EQUAL_KEYS),
    *(None, "", b"", (), 2, -1, -2, 2**61, 2**61 - 1, 2**63, 0.1, complex(1, 1), "1", "\ud800", "é"),
    *((1,), ((1,),), ("a", 1), (1, "a", None), {1}, {"a": 1}, Colour.RED, Colour.BLUE, uuid.UUID(int=1)),
    *(datetime.timedelta(1), datetime.time(1), datetime.date(1970, 1, 1), datetime.datetime(1970, 1, 1)),
]


def canonical(key: object) -> bytes:
    return canonical_key(key, hash_of_rare, canonical_of_rare)


@pytest.mark.parametrize("keys", EQUAL_KEYS, ids=repr)
def test_equal_keys_have_the_same_bytes(keys: list[Any]) -> None:
    assert len({canonical(key) for key in keys}) == 1
    assert len({stable_hash(key) for key in keys}) == 1


def test_other_keys_have_other_bytes() -> None:
    assert len({canonical(key) for key in DISTINCT_KEYS}) == len(DISTINCT_KEYS)


def test_texts_of_any_length_are_their_bytes() -> None:
    """Texts of few bytes are copied in another way than longer ones, and of many in a third."""
    alphabet = "abcdefghijklmnopqrstuvwxyz" * 6
    assert all(canonical(alphabet[:n]) == b"t" + alphabet[:n].encode() for n in range(len(alphabet)))


def test_nan_is_no_key() -> None:
    with pytest.raises(TypeError, match="nan is no key"):
        canonical(float("nan"))
    with pytest.raises(TypeError, match="has no hash that is the same in every"):
        canonical(object())


class Store:
    """A component's state of one key group, with one table."""

    def __init__(self, codes: str, size_bytes: int = 1 << 20, groups: int = 1) -> None:
        arena = Arena.private(size_bytes + (1 << 20))
        self.pool = Pool.create(arena, size_bytes)
        self.state = KeyedState.create(arena, [codes], groups=groups, first_owner=2)
        self.writer = Writer(arena, self.pool, UndoLog.create(arena, owner=1), self.state.owners)
        self.scope: Scope = self.state.scope(self.writer)

    def table(self, groups: range = range(1)) -> KeyedTable:
        return self.state.table(self.writer, 0, "seen", groups=groups)

    def cell(self, initial: Any) -> StateCell:
        return StateCell(self.scope, self.table(), initial)


@pytest.fixture
def counts() -> Iterator[tuple[Store, StateCell]]:
    store = Store("q")
    yield store, store.cell(0)
    store.writer.close()


def test_a_cell_is_of_the_tuple_in_process(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    for word in ["a", "b", "a", "é", "a", "b" * 50, "b" * 50]:
        store.scope.enter((0, word), (1,))
        seen.value += 1
        assert store.scope.key == word
    assert dict(items(store.table(), 0)) == {"a": (3,), "b": (1,), "é": (1,), "b" * 50: (2,)}


def test_a_cell_reads_what_its_row_has_whatever_was_set_last(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    for word, value in [("a", 70_000), ("b", 70_001), ("c", 70_000)]:
        store.scope.enter((word,), (0,))
        seen.value = value
        assert seen.value == value
    for word, value in [("a", 70_000), ("b", 70_001), ("c", 70_000)]:
        store.scope.enter((word,), (0,))
        assert seen.value == value
    store.scope.enter(("b",), (0,))
    seen.value = 5
    store.scope.back()
    assert seen.value == 70_001


def test_the_field_that_is_the_key_may_change_from_tuple_to_tuple(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    for row, indexes in [(("a", "b"), (0,)), (("a", "b"), (1,)), (("b", "c"), (0,)), (("b", "c"), (0, 1))]:
        store.scope.enter(row, indexes)
        seen.value += 1
    assert dict(items(store.table(), 0)) == {"a": (1,), "b": (2,), ("b", "c"): (1,)}
    store.scope.enter(("a",), (7,))
    with pytest.raises(IndexError, match="a row of 1 values has no field 7"):
        _ = seen.value


def test_a_key_of_several_fields_is_their_tuple(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    store.scope.enter(("x", 1, "y"), (2, 0))
    seen.value = 7
    assert store.table().get(("y", "x")) == (7,)


def test_a_cleared_cell_has_the_initial_value(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    store.scope.enter(("a",), (0,))
    assert not seen.is_set
    seen.value = 5
    assert seen.is_set
    seen.clear()
    assert not seen.is_set and seen.value == 0
    seen.clear()
    seen.value += 2
    del seen.value
    assert store.table().count(0) == 0


def test_a_tuple_goes_back_alone(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    for word in ("a", "b"):
        store.scope.enter((word,), (0,))
        seen.value += 1
    seen.value += 10
    store.scope.back()
    assert seen.value == 0
    assert dict(items(store.table(), 0)) == {"a": (1,)}
    seen.value += 3
    assert store.table().get("b") == (3,)


def test_without_a_tuple_there_is_no_key(counts: tuple[Store, StateCell]) -> None:
    store, seen = counts
    with pytest.raises(LookupError, match="while a tuple is processed"):
        seen.value += 1
    store.scope.enter(("a",), None)
    with pytest.raises(LookupError, match="no fields grouping"):
        seen.value += 1
    store.scope.enter(("a",), (1,))
    with pytest.raises(IndexError, match="no field 1"):
        seen.value += 1


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("q", [0, -1, 2**63 - 1, -(2**63)]),
        ("d", [0.0, -0.0, 1.5, float("inf"), 5]),
        ("?", [True, False]),
        ("s", ["", "a" * 15, "a" * 16, "é\ud800", "x" * 100_000]),
        ("y", [b"", b"a" * 15, b"a" * 16, b"\x00" * 100_000]),
    ],
)
def test_values_come_back(code: str, values: list[Any]) -> None:
    store = Store(code)
    cell = store.cell(None)
    for number, value in enumerate(values):
        store.scope.enter((number,), (0,))
        cell.value = value
    store.writer.commit()
    found = [values for _, (values,) in items(store.table(), 0)]
    assert repr(found) == repr([float(value) if code == "d" else value for value in values])


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("q", 2**63, "an int of 64 bits"),
        ("q", 1.0, "an int of 64 bits"),
        ("q", True, "an int of 64 bits"),
        ("d", 2**53 + 1, "a float"),
        ("d", True, "a float"),
        ("d", "1", "a float"),
        ("?", 1, "a bool"),
        ("s", b"a", "a str"),
        ("y", "a", "bytes"),
    ],
)
def test_what_does_not_fit_is_refused(code: str, value: Any, expected: str) -> None:
    store = Store(code)
    cell = store.cell(None)
    store.scope.enter(("a",), (0,))
    with pytest.raises(TypeError, match=f"state seen holds {expected}, and {value!r} is none"):
        cell.value = value
    assert not cell.is_set
    with pytest.raises(TypeError, match=expected):
        store.table().set("a", (value,))
    assert store.table().count(0) == 0


def test_a_key_of_another_task_is_refused() -> None:
    store = Store("q", groups=2)
    table = store.table(range(1))
    other = next(key for key in range(100) if stable_hash(key) % 2 == 1)
    with pytest.raises(LookupError, match=f"the key {other}, which is of key group 1, and that belongs to"):
        table.set(other, (1,))


def test_state_ends_with_the_pool() -> None:
    store = Store("y", size_bytes=1 << 19)
    cell, number = store.cell(b""), 0
    with pytest.raises(StateFullError, match="state seen has no room for more"):
        for number in range(10_000):
            store.scope.enter((number,), (0,))
            cell.value = bytes(1000)
    assert number > 100
    assert not cell.is_set
    assert store.table().count(0) == number
    store.writer.back_to_commit()
    store.scope.enter(("a",), (0,))
    cell.value = b"a"
    store.writer.commit()
    assert list(items(store.table(), 0)) == [("a", (b"a",))]


def test_what_is_dropped_gives_its_memory_back() -> None:
    store = Store("y")
    table, used = store.table(), []
    for _ in range(6):
        for number in range(200):
            table.set(number, (bytes(2000),))
        store.writer.commit()
        for number in range(200):
            assert table.drop(number)
        store.writer.commit()
        used.append(store.pool.used_bytes)
    assert len(set(used[2:])) == 1


def test_state_that_is_garbage_in_a_circle_leaves_its_memory_alone() -> None:
    for _ in range(20):
        store = Store("q")
        store.table().set("a", (1,))
        store.circle = [store, store.writer, store.pool, store.table()]  # type: ignore[attr-defined]
        del store
    gc.collect()
