"""Lists and maps of the tuple's key: their methods, their order, misfits, and memory that comes back."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from tests.viper.stores import Store
from viper.errors import StateFullError
from viper.state import ListCell, MapCell, StateCell, items


def list_of(code: str, **options: Any) -> tuple[Store, ListCell]:
    store = Store(f"[{code}", **options)
    return store, ListCell(store.scope, store.table())


def map_of(code: str, **options: Any) -> tuple[Store, MapCell]:
    store = Store("{" + code, **options)
    return store, MapCell(store.scope, store.table())


ELEMENTS: dict[str, list[Any]] = {
    "q": [0, -1, 2**63 - 1, -(2**63)],
    "d": [0.0, 1.5, float("inf"), -1e300],
    "?": [True, False, True],
    "s": ["", "a", "é\ud800", "x" * 40_000],
    "y": [b"", b"a", b"\x00" * 300, bytes(40_000)],
}


class TestLists:
    @pytest.mark.parametrize("code", ELEMENTS)
    def test_elements_come_back_in_order(self, code: str) -> None:
        store, recent = list_of(code)
        expected: list[Any] = []
        for number in range(6):
            store.enter("a")
            recent.add(ELEMENTS[code][number % 3])
            recent.add_all(ELEMENTS[code])
            expected += [ELEMENTS[code][number % 3], *ELEMENTS[code]]
            store.writer.commit()
            assert recent.get() == expected == list(recent)
            assert len(recent) == len(expected)

    def test_each_key_has_its_own(self) -> None:
        store, recent = list_of("q")
        for number in range(30):
            store.enter(number % 3)
            recent.add(number)
        assert list(items(store.table(), 0)) == [(key, ([*range(key, 30, 3)],)) for key in range(3)]
        store.enter("another")
        assert recent.get() == [] and len(recent) == 0

    def test_update_and_clear(self) -> None:
        store, recent = list_of("s")
        store.enter("a")
        recent.update(["x", "y"])
        recent.update(value for value in ("z",))
        assert recent.get() == ["z"]
        recent.update([])
        assert store.table().count(0) == 0
        recent.add_all([])
        assert store.table().count(0) == 0
        recent.add("w")
        recent.clear()
        recent.clear()
        assert recent.get() == []

    def test_a_tuple_takes_back_what_it_appended(self) -> None:
        store, recent = list_of("y")
        store.enter("a")
        recent.add(b"kept" * 10)
        store.enter("a")
        recent.add(b"lost")
        recent.add_all([b"lost"] * 100)
        store.scope.back()
        assert recent.get() == [b"kept" * 10]
        recent.add(b"more")
        assert recent.get() == [b"kept" * 10, b"more"]

    def test_misfits_append_nothing(self) -> None:
        store, recent = list_of("q")
        store.enter("a")
        with pytest.raises(TypeError, match="state seen holds an int of 64 bits, and 'x' is none"):
            recent.add_all([1, 2, "x"])
        assert store.table().count(0) == 0
        recent.add(1)
        with pytest.raises(TypeError, match="state seen holds an int"):
            recent.update([2, None])
        assert recent.get() == [1]

    def test_a_list_that_finds_no_room_is_as_it_was(self) -> None:
        store, recent = list_of("y", size_bytes=1 << 19)
        store.enter("a")
        added = 0
        with pytest.raises(StateFullError, match="state seen has no room"):
            while added < 10_000:
                recent.add(bytes(1000))
                added += 1
        assert added > 50
        assert len(recent) == added == len(recent.get())


class TestMaps:
    @pytest.mark.parametrize("code", ELEMENTS)
    def test_values_come_back_in_the_order_of_their_keys(self, code: str) -> None:
        store, found = map_of(code)
        store.enter("a")
        for number in range(50):
            found.put(number, ELEMENTS[code][0])
        for number in range(0, 50, 7):
            found.put(number, ELEMENTS[code][-1])
        store.writer.commit()
        expected = {number: ELEMENTS[code][0 if number % 7 else -1] for number in range(50)}
        assert found.items() == list(expected.items())
        assert found.keys() == list(expected) == list(found)
        assert found.values() == list(expected.values())
        assert len(found) == 50

    def test_each_key_has_its_own(self) -> None:
        store, found = map_of("q")
        for number in range(30):
            store.enter(number % 3)
            found.put(number, number + 1)
            assert found.get(number) == number + 1
            assert found.get(number - 1) is None and found.get(number - 1, 0) == 0
        expected = [(key, ([(n, n + 1) for n in range(key, 30, 3)],)) for key in range(3)]
        assert list(items(store.table(), 0)) == expected

    def test_entries_leave(self) -> None:
        store, found = map_of("s")
        store.enter("a")
        for key in "xyz":
            found.put(key, key)
        assert found.remove("x") and not found.remove("x")
        assert "x" not in found and found.contains("y")
        found.put("x", "again")
        assert found.items() == [("y", "y"), ("z", "z"), ("x", "again")]
        for key in "yzx":
            assert found.remove(key)
        assert store.table().count(0) == 0
        found.put("w", "")
        found.clear()
        assert len(found) == 0 and found.items() == []

    def test_keys_of_all_types(self) -> None:
        store, found = map_of("q")
        keys = [1, "1", b"1", None, (1, "a"), 2**70, datetime.date(2024, 1, 1), 1.5, True, [1, "a"]]
        for number, key in enumerate(keys):
            store.enter("a")
            found.put(key, number)
        assert found.items() == [*zip(keys[:8], [8, 1, 2, 3, 9, 5, 6, 7], strict=True)]
        with pytest.raises(TypeError, match="nan is no key"):
            found.put(float("nan"), 1)

    def test_a_tuple_takes_back_its_entries(self) -> None:
        store, found = map_of("y")
        store.enter("a")
        for number in range(5):
            found.put(number, bytes(20))
        store.enter("a")
        for number in range(3, 200):
            found.put(number, bytes(30))
        assert found.remove(0)
        store.scope.back()
        assert found.items() == [(number, bytes(20)) for number in range(5)]
        store.enter("b")
        found.put(1, b"")
        store.scope.back()
        assert store.table().count(0) == 1

    def test_a_misfit_changes_nothing(self) -> None:
        store, found = map_of("d")
        store.enter("a")
        with pytest.raises(TypeError, match="state seen holds a float, and 'x' is none"):
            found.put("key", "x")
        assert store.table().count(0) == 0

    def test_what_leaves_gives_its_memory_back(self) -> None:
        store, found = map_of("y", size_bytes=1 << 22)
        used = []
        for _ in range(6):
            for key in range(10):
                store.enter(key)
                for number in range(40):
                    found.put((number, "x" * 30), bytes(500))
            store.writer.commit()
            for key in range(10):
                store.enter(key)
                found.clear()
            store.writer.commit()
            used.append(store.pool.used_bytes)
        assert len(set(used[2:])) == 1


def test_a_cell_wants_a_table_of_its_kind() -> None:
    store = Store("[q", "{q", "q", "qq")
    tables = [store.table(number) for number in range(4)]
    ListCell(store.scope, tables[0])
    MapCell(store.scope, tables[1])
    StateCell(store.scope, tables[2], 0)
    with pytest.raises(TypeError, match="ListCell is made of a Scope and of a KeyedTable of a list"):
        ListCell(store.scope, tables[1])
    with pytest.raises(TypeError, match="MapCell is made of a Scope and of a KeyedTable of a map"):
        MapCell(store.scope, tables[2])
    with pytest.raises(TypeError, match="StateCell is made of a Scope and of a KeyedTable of one column"):
        StateCell(store.scope, tables[3], 0)
    with pytest.raises(TypeError, match="state seen has a list for each key, and no columns"):
        tables[0].set("a", ([1],))


@pytest.mark.parametrize("codes", ["[", "[qq", "{", "{x", "[[q", "z"])
def test_codes_that_are_none_are_refused(codes: str) -> None:
    store = Store(codes)
    with pytest.raises(ValueError, match="are no codes of columns, of a list or of a map"):
        store.table()
