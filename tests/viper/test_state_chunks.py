"""Key groups as bytes: other owners, other tasks, the same order; and bytes that are no rows."""

from __future__ import annotations

import datetime
import struct
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.stores import Store
from viper.errors import StateFullError
from viper.hashing import stable_hash
from viper.state import KeyedTable, ListCell, MapCell, export, items, load

GROUPS = 8
KEYS: list[Any] = [
    *(None, 0, 1.0, True, 2, -(2**63), 2**70, 1.5, "", "word", "é\ud800", "long" * 30, b"", b"\x00" * 40),
    *((), (1, "a"), [2, "b"], (None, (True, 2.0)), frozenset({1})),
    *(datetime.date(2024, 2, 29), uuid.UUID(int=5)),
    *(f"key {number}" for number in range(60)),
]

pairs = st.tuples(st.booleans(), st.text(max_size=5))
keys = st.sampled_from(KEYS) | st.integers() | st.text(max_size=20) | pairs
rows = st.tuples(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.binary(max_size=60),
)


def groups_of(table: KeyedTable) -> dict[int, str]:
    return {group: repr([*items(table, group)]) for group in range(GROUPS)}


def chunks_of(source: KeyedTable, group: int, limit: int = 1 << 20) -> list[bytes]:
    return [chunk.data for chunk in export(source, limit) if chunk.group == group]


def carried(source: KeyedTable, codes: str, limit: int) -> Iterator[tuple[Store, KeyedTable]]:
    """The state of two tasks, each of which owns some of the groups that one task had."""
    for owned in ([0, 1, 2], [3, 4, 5, 6, 7]):
        store = Store(codes, size_bytes=1 << 24, groups=GROUPS)
        table = store.table(groups=owned)
        for group in owned:
            load(table, group, chunks_of(source, group, limit))
        store.die()
        yield store, store.table()


def check_carried(source: KeyedTable, codes: str, limit: int) -> None:
    expected = groups_of(source)
    first, second = (groups_of(table) for _, table in carried(source, codes, limit))
    assert [*first.values()][:3] + [*second.values()][3:] == [*expected.values()]


@given(
    st.lists(st.tuples(keys, rows), max_size=60),
    st.lists(keys, max_size=20),
    st.integers(1, 3000),
)
@settings(max_examples=60, deadline=None)
def test_columns_are_the_same_in_other_tasks(
    entered: list[tuple[Any, tuple[Any, ...]]], dropped: list[Any], limit: int
) -> None:
    store = Store("qd?sy", size_bytes=1 << 24, groups=GROUPS)
    table = store.table()
    for number, (key, values) in enumerate(entered):
        table.set(key, values)
        for leaving in dropped[number : number + 1]:
            table.drop(leaving)
    check_carried(table, "qd?sy", limit)
    store.writer.close()


@given(st.lists(st.tuples(keys, st.lists(st.text(max_size=40), max_size=5))), st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_lists_are_the_same_in_other_tasks(entered: list[tuple[Any, list[str]]], limit: int) -> None:
    store = Store("[s", size_bytes=1 << 24, groups=GROUPS)
    cell = ListCell(store.scope, store.table())
    for key, values in entered:
        store.enter(key)
        cell.add_all(values)
    check_carried(store.table(), "[s", limit)
    store.writer.close()


@given(st.lists(st.tuples(keys, keys, st.binary(max_size=40), st.booleans())), st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_maps_are_the_same_in_other_tasks(entered: list[tuple[Any, Any, bytes, bool]], limit: int) -> None:
    store = Store("{y", size_bytes=1 << 24, groups=GROUPS)
    cell = MapCell(store.scope, store.table())
    for key, inner, value, leaves in entered:
        store.enter(key)
        cell.put(inner, value)
        for number in range(3):
            cell.put(number, b"")
        if leaves:
            cell.remove(inner)
    check_carried(store.table(), "{y", limit)
    store.writer.close()


def test_all_elements_and_values_are_carried() -> None:
    for codes, cell_type in (("[q", ListCell), ("[d", ListCell), ("[?", ListCell), ("[y", ListCell)):
        store = Store(codes, groups=GROUPS)
        cell = cell_type(store.scope, store.table())
        values = {"q": [1, -(2**63)], "d": [0.5, -0.0], "?": [True, False], "y": [b"", b"x" * 9]}[codes[1]]
        for key in KEYS:
            store.enter(key)
            cell.add_all(values)
        check_carried(store.table(), codes, 100)


def test_chunks_are_bounded() -> None:
    store = Store("q", size_bytes=1 << 22)
    for number in range(10_000):
        store.table().set(number, (number,))
    chunks = chunks_of(store.table(), 0, 1000)
    assert len(chunks) > 100 and max(map(len, chunks)) < 1200
    assert all(len(chunk) >= 1000 for chunk in chunks[:-1])


def test_equal_keys_of_other_types_are_shown_as_they_came() -> None:
    store = Store("q", groups=GROUPS)
    for key in (True, 1.5, 2.0, [3, "c"]):
        store.table().set(key, (0,))
    shown = {
        repr(key)
        for _, table in carried(store.table(), "q", 1)
        for group in range(GROUPS)
        for key, _ in items(table, group)
    }
    assert shown == {"True", "1.5", "2.0", "[3, 'c']"}


def one_chunk(codes: str = "qs") -> tuple[Store, bytes, int]:
    store = Store(codes, groups=GROUPS)
    for key in range(200):
        store.table().set(key, (key, f"value {key}" * 3)[: len(codes)])
    group = stable_hash(0) % GROUPS
    (chunk,) = chunks_of(store.table(), group)
    return store, chunk, group


def refused(chunk: bytes, group: int, codes: str = "qs", *, groups: int = GROUPS) -> str:
    store = Store(codes, groups=groups)
    with pytest.raises(ValueError) as caught:
        load(store.table(), group, [chunk])
    assert store.table().count(group) == 0
    return str(caught.value)


def test_chunks_that_are_not_known_are_refused() -> None:
    _, chunk, group = one_chunk()
    assert "b'other bytes, tha'... is no chunk of rows" in refused(b"other bytes, that are long", group)
    assert "is no chunk of rows" in refused(b"", group)
    newer = chunk[:4] + struct.pack("<H", 9) + chunk[6:]
    assert "rows in form 9 with hashes in form 2; expected form 2 with" in refused(newer, group)
    assert "rows of one of 8 key groups; expected one of 16" in refused(chunk, group, groups=16)
    assert "rows that hold 'qs'; expected 'sq'" in refused(chunk, group, "sq")
    assert f"a row of key group {group} of 8 among those" in refused(chunk, (group + 1) % GROUPS)


@pytest.mark.parametrize("codes", ["qs", "[s", "{s"])
def test_chunks_that_are_cut_off_or_changed_enter_nothing_or_rows(codes: str) -> None:
    store = Store(codes, groups=1)
    table = store.table()
    if codes == "qs":
        table.set("key", (5, "a value of some length"))
        table.set((1, "a"), (6, ""))
    else:
        store.enter("key")
        if codes == "[s":
            ListCell(store.scope, table).add_all(["one", "two", "x" * 30])
        else:
            MapCell(store.scope, table).put((1, "a"), "value")
    (chunk,) = chunks_of(table, 0)
    first = 16 + len(codes)  # bytes of the header
    for length in range(first + 1, len(chunk)):
        other = Store(codes, groups=1)
        try:
            load(other.table(), 0, [chunk[:length]])
        except ValueError:
            assert other.table().count(0) == 0
        else:  # cut between two rows
            assert codes == "qs" and other.table().count(0) == 1
    for place in range(first, len(chunk)):
        other = Store(codes, groups=1)
        changed = bytearray(chunk)
        changed[place] ^= 0xFF
        try:
            load(other.table(), 0, [bytes(changed)])
            assert len([*items(other.table(), 0)]) <= 2
        except (ValueError, StateFullError):  # of numbers, texts, or lengths
            pass


def test_rows_that_find_no_room_are_not_entered() -> None:
    store = Store("y", size_bytes=1 << 21)
    for key in range(500):
        store.table().set(key, (bytes(2000),))
    small = Store("y", size_bytes=1 << 19)
    (chunk,) = chunks_of(store.table(), 0, 1 << 30)
    with pytest.raises(StateFullError, match="state seen has no room"):
        load(small.table(), 0, [chunk])
    assert small.table().count(0) == 0


def test_only_the_owner_exports_and_loads() -> None:
    store, chunk, group = one_chunk()
    others = store.table(groups=[other for other in range(GROUPS) if other != group])
    assert group not in {chunk.group for chunk in export(others)}
    with pytest.raises(LookupError, match=f"key group {group} is none of this task's"):
        load(others, group, [chunk])
