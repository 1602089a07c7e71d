"""The content of a snapshot: every way to change a row is seen, and no more is written than that."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viper.stores import Store
from tests.viper.test_state_snapshots import GROUPS, loaded
from viper.state import Chunk, KeyedTable, ListCell, MapCell, StateCell, TableCell, items, next_chunk


def changed_by(way: str, store: Store, table: KeyedTable, key: str) -> None:
    """Change what a key has, or take it out."""
    store.enter(key)
    if way == "set":
        table.set(key, (7,) * len(table.codes))
    elif way == "drop":
        table.drop(key)
    elif way == "count_rows":
        table.count_rows([(key,)], (0,), [])
    elif way.startswith("one"):
        one = StateCell(store.scope, table, None)
        if way == "one.value":
            one.value = "eight" if table.codes == "s" else 8
        else:
            changes = {
                "one.add": lambda: one.add(1),
                "one.clear": one.clear,
                "one.add_all": lambda: one.add_all([key], [5]),
                "one.put_all": lambda: one.put_all([key], [5]),
            }
            changes[way]()
    elif way == "columns":
        TableCell(store.scope, table, {"a": 0, "b": 0}).b = 9
    elif way.startswith("list"):
        cell = ListCell(store.scope, table)
        {
            "list.add": lambda: cell.add(3),
            "list.update": lambda: cell.update([4]),
            "list.clear": cell.clear,
        }[way]()
    else:
        inner = MapCell(store.scope, table)
        {
            "map.put": lambda: inner.put(1, 3),
            "map.another": lambda: inner.put(3, 3),
            "map.remove": lambda: inner.remove(1),
            "map.clear": inner.clear,
        }[way]()


WAYS = [
    *(("q", way) for way in ("set", "drop", "count_rows", "one.value", "one.add", "one.clear")),
    *(("q", "one.add_all"), ("q", "one.put_all"), ("s", "one.value"), ("qq", "columns"), ("qq", "set")),
    *(("[q", way) for way in ("list.add", "list.update", "list.clear", "drop")),
    *(("{q", way) for way in ("map.put", "map.another", "map.remove", "map.clear", "drop")),
]


def filled(codes: str) -> tuple[Store, KeyedTable]:
    store = Store(codes, size_bytes=1 << 22, groups=GROUPS, tracked=True)
    table = store.table()
    for key in ("a", "b", "c"):
        store.enter(key)
        if codes[0] == "[":
            ListCell(store.scope, table).add_all([1, 2])
        elif codes[0] == "{":
            MapCell(store.scope, table).put(1, 1)
            MapCell(store.scope, table).put(2, 2)
        else:
            table.set(key, ("text",) if codes == "s" else (1,) * len(codes))
    store.writer.commit()
    return store, table


def snapshot_of(table: KeyedTable, number: int) -> list[tuple[int, Chunk]]:
    chunks = []
    while (chunk := next_chunk(table, 1)) is not None:
        chunks.append((number, chunk))
    return chunks


def shown(table: KeyedTable) -> list[list[tuple[Any, tuple[Any, ...]]]]:
    return [[*items(table, group)] for group in range(GROUPS)]


@pytest.mark.parametrize(("codes", "way"), WAYS)
def test_every_way_to_change_a_row_is_seen(codes: str, way: str) -> None:
    """By the snapshot that is being written, which has the row as it was, and by the next one."""
    store, table = filled(codes)
    before = shown(table)
    assert table.cut(1, 0, True) == (3, True)
    changed_by(way, store, table, "b")
    chunks = snapshot_of(table, 1)
    assert shown(loaded(codes, chunks)) == before != shown(table)
    assert table.cut(2, 1, False)[1] is False
    between, changes = shown(table), snapshot_of(table, 2)
    assert len(changes) == 1
    assert shown(loaded(codes, [*chunks, *changes])) == between
    table.cut(3, 2, False)
    changed_by("drop", store, table, "c")
    assert snapshot_of(table, 3) == []  # what changes meanwhile belongs to the next one
    table.cut(4, 3, False)
    assert shown(loaded(codes, [*chunks, *changes, *snapshot_of(table, 4)])) == shown(table) != between


def test_a_change_that_goes_back_behind_a_snapshot_shows() -> None:
    """So nothing may: what a slice has changed at the cut belongs to the snapshot."""
    store, table = filled("q")
    changed_by("set", store, table, "a")
    table.cut(1, 0, True)
    changed_by("one.add", store, table, "a")
    store.writer.back_to_commit()
    assert shown(loaded("q", snapshot_of(table, 1))) != shown(table)


def test_keys_that_go_by_time() -> None:
    store = Store("@q", size_bytes=1 << 22, groups=GROUPS, tracked=True)
    table, now = store.table(), [0]
    table.expire(10, lambda: now[0])
    for key in range(40):
        table.set(key, (key,))
    store.writer.commit()
    table.cut(1, 0, True)
    now[0] = 10
    for key in range(20, 60):  # in the place of those that are gone, which make room two by two
        table.set(key, (100 + key,))
    chunks = snapshot_of(table, 1)
    values = {key: value for rows in shown(loaded("@q", chunks)) for key, (value,) in rows}
    assert values == {key: key for key in range(40)}
    table.cut(2, 1, False)
    chunks += snapshot_of(table, 2)
    again = loaded("@q", chunks)
    again.expire(10, lambda: now[0])
    assert shown(again) == shown(table)
    assert sum(map(len, shown(table))) == 40


def test_a_task_whose_rows_are_told_as_changes_alone_is_refused_nothing() -> None:
    """A group that had no rows in the whole snapshot has none in its bytes."""
    store = Store("q", size_bytes=1 << 22, groups=GROUPS, tracked=True)
    table = store.table()
    assert table.cut(1, 0, False) == (0, True)
    assert snapshot_of(table, 1) == []
    table.set("a", (1,))
    assert table.cut(2, 1, False) == (1, False)
    assert shown(loaded("q", snapshot_of(table, 2))) == shown(table)


def test_all_is_written_anew_when_changes_outweigh_the_rows() -> None:
    store = Store("q", size_bytes=1 << 24, groups=GROUPS, tracked=True)
    table = store.table()
    for key in range(4000):
        table.set(key, (0,))
    table.cut(1, 0, True)
    written = [0, sum(len(chunk.data) for _, chunk in snapshot_of(table, 1))]
    whole, most = written[1], 0
    for number in range(2, 20):
        for key in range(1000):
            table.set(key, (number,))
        store.writer.commit()
        is_whole = table.cut(number, number - 1, False)[1]
        found = sum(len(chunk.data) for _, chunk in snapshot_of(table, number))
        written = [found] if is_whole else [*written, found]
        most = max(most, sum(written))
        assert is_whole == (found > whole / 2)
    assert whole * 1.5 < most < whole * 2.5


def test_a_snapshot_of_a_table_that_is_not_watched_has_all_rows() -> None:
    store = Store("q", size_bytes=1 << 22, groups=GROUPS)
    table = store.table()
    for key in range(100):
        table.set(key, (key,))
    before = shown(table)
    for number in (1, 2):
        assert table.cut(number, number - 1, False) == (100, True)
        for key in range(100):
            table.set(key, (key,)) if number == 1 else table.drop(key)
        assert shown(loaded("q", snapshot_of(table, number))) == before
