"""Time-to-live: keys that were not changed for so long are gone, by the time of the tuple that asks."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.viper.stores import Store
from viper.state import KeyedTable, ListCell, MapCell, StateCell, TableCell, export, items, load

TTL = 10


class Clock:
    def __init__(self) -> None:
        self.time = 0

    def __call__(self) -> int:
        return self.time


class TimedStore(Store):
    """Tables whose keys live for `TTL`."""

    def __init__(self, *codes: str, **options: Any) -> None:
        self.clock = Clock()
        super().__init__(*codes, **options)

    def table(self, number: int = 0, groups: Any = None) -> KeyedTable:
        table = super().table(number, groups)
        table.expire(TTL, self.clock)
        return table


def test_a_key_is_gone_when_it_was_not_changed_for_so_long() -> None:
    store = TimedStore("@q")
    cell = StateCell(store.scope, store.table(), 0)
    seen = []
    for time in (0, 5, 14, 24, 33, 42, 60):
        store.clock.time = time
        store.enter("a")
        cell.value += 1
        seen.append(cell.value)
    assert seen == [1, 2, 3, 1, 2, 3, 1]


def test_what_is_added_keeps_a_key() -> None:
    store = TimedStore("@q")
    cell = StateCell(store.scope, store.table(), 0)
    seen = []
    for time in (0, 5, 14, 24, 33, 42, 60):
        store.clock.time = time
        store.enter("a")
        seen.append(cell.add(1))
    assert seen == [1, 2, 3, 1, 2, 3, 1]


def test_any_column_that_is_changed_keeps_a_key() -> None:
    store = TimedStore("@qs")
    cell = TableCell(store.scope, store.table(), {"count": 0, "text": ""})
    seen = []
    for time in (0, 5, 14, 24, 33, 42, 60):
        store.clock.time = time
        store.enter("a")
        if time % 2:
            cell.text = "odd"
        else:
            cell.count += 1
        seen.append((cell.count, cell.text))
    assert seen == [(1, ""), (1, "odd"), (2, "odd"), (1, ""), (1, "odd"), (2, "odd"), (1, "")]


def test_reading_changes_nothing() -> None:
    store = TimedStore("@q")
    cell = StateCell(store.scope, store.table(), 0)
    store.enter("a")
    cell.value = 7
    for time, value in ((9, 7), (10, 0)):
        store.clock.time = time
        store.enter("a")
        assert (cell.value, cell.is_set) == (value, value == 7)
        assert store.table().get("a") == ((7,) if value else None)


def test_what_is_gone_stays_so() -> None:
    store = TimedStore("@q")
    cell = StateCell(store.scope, store.table(), 0)
    for time, value in ((-TTL, 1), (-1, 2), (TTL, 1), (5, 2), (2 * TTL, 1)):
        store.clock.time = time
        store.enter("a")
        cell.value += 1
        assert cell.value == value


def test_whoever_comes_again_stands_behind_all_others() -> None:
    store = TimedStore("@q")
    table = store.table()
    for time, key in ((0, "a"), (5, "b"), (8, "c"), (12, "a")):
        store.clock.time = time
        table.set(key, (time,))
    assert [*items(table, 0)] == [("b", (5,)), ("c", (8,)), ("a", (12,))]


def test_lists_and_maps_go_as_a_whole() -> None:
    store = TimedStore("@[q", "@{q")
    recent, found = ListCell(store.scope, store.table()), MapCell(store.scope, store.table(1))
    for time in (0, 9, 18, 28):
        store.clock.time = time
        store.enter("a")
        recent.add(time)
        found.put(time, time)
        if time == 18:
            assert recent.get() == [0, 9, 18] and found.keys() == [0, 9, 18]
    assert recent.get() == [28] and found.items() == [(28, 28)]
    found.put(1, 1)
    store.clock.time = 36
    store.enter("a")
    assert found.remove(28)
    store.clock.time = 45
    store.enter("a")
    assert found.keys() == [1] and len(recent) == 0


def test_what_is_gone_gives_its_memory_to_those_that_come() -> None:
    store = TimedStore("@y", size_bytes=1 << 20)
    table = store.table()
    for time in range(5000):
        store.clock.time = time
        table.set(time, (bytes(1000),))
        store.writer.commit()
        assert table.count(0) <= 3 * TTL


def test_times_travel_with_their_rows() -> None:
    for code in ("@q", "@[q", "@{q"):
        store, other = TimedStore(code), TimedStore(code)
        for time, key in ((0, "a"), (7, "b")):
            store.clock.time = time
            if code == "@q":
                store.table().set(key, (time,))
            else:
                store.enter(key)
                cell = ListCell(store.scope, store.table()) if code == "@[q" else None
                cell.add(1) if cell is not None else MapCell(store.scope, store.table()).put(1, 1)
        load(other.table(), 0, [chunk.data for chunk in export(store.table())])
        for time, keys in ((9, ["a", "b"]), (10, ["b"]), (17, [])):
            other.clock.time = time
            assert [key for key, _ in items(other.table(), 0)] == keys
        message = re.escape(f"rows that hold '{code[1:]}'; expected '{code}'")
        with pytest.raises(ValueError, match=message):
            load(other.table(), 0, [next(export(Store.table(plain(code[1:])))).data])


def plain(code: str) -> Store:
    store = Store(code)
    store.enter("a")
    if code == "q":
        store.table().set("a", (1,))
    elif code == "[q":
        ListCell(store.scope, store.table()).add(1)
    else:
        MapCell(store.scope, store.table()).put(1, 1)
    return store


def test_what_cannot_go_by_time() -> None:
    with pytest.raises(ValueError, match="state seen: rows go by time if their codes begin with @"):
        Store("q").table().expire(TTL, Clock())
    with pytest.raises(ValueError, match="after 1 microsecond or more"):
        Store("@q").table().expire(0, Clock())
    store = TimedStore("@q")
    with pytest.raises(TypeError, match="state seen forgets keys by time, and many keys in one call have"):
        StateCell(store.scope, store.table(), 0).add_all(["a"])


def test_an_error_of_the_clock_is_the_accesses() -> None:
    store = TimedStore("@q")

    def clock() -> int:
        raise RuntimeError("no time")

    table = store.table()
    table.expire(TTL, clock)
    for access in (lambda: table.get("a"), lambda: table.set("a", (1,)), lambda: [*items(table, 0)]):
        with pytest.raises(RuntimeError, match="no time"):
            access()


class TimesMachine(RuleBasedStateMachine):
    """Against a dictionary that looks at the times of its keys."""

    def __init__(self) -> None:
        super().__init__()
        self.store = TimedStore("@sq", "@[q", size_bytes=1 << 22)
        self.open()
        self.committed: list[dict[str, tuple[int, Any]]] = [{}, {}]
        self.current = deepcopy(self.committed)

    def open(self) -> None:
        self.table, self.lists = self.store.table(0), self.store.table(1)
        self.list = ListCell(self.store.scope, self.lists)

    def alive(self, number: int) -> dict[str, tuple[int, Any]]:
        """The keys that are not gone; those that are make room for such that come again after all others."""
        model, now = self.current[number], self.store.clock.time
        for key in [key for key, (time, _) in model.items() if now - time >= TTL]:
            del model[key]
        return model

    @rule(step=st.integers(0, 6))
    def pass_time(self, step: int) -> None:
        self.store.clock.time += step

    @rule(key=st.sampled_from("abcdefgh"), value=st.integers(0, 99))
    def set(self, key: str, value: int) -> None:
        self.table.set(key, (key * 20, value))
        self.alive(0)[key] = self.store.clock.time, (key * 20, value)

    @rule(key=st.sampled_from("abcdefgh"))
    def drop(self, key: str) -> None:
        assert self.table.drop(key) == (self.alive(0).pop(key, None) is not None)

    @rule(key=st.sampled_from("abcd"), value=st.integers(0, 99))
    def add(self, key: str, value: int) -> None:
        self.store.enter(key)
        assert self.list.get() == self.alive(1).get(key, (0, []))[1]
        self.list.add(value)
        before = self.alive(1).get(key, (0, []))[1]
        self.alive(1)[key] = self.store.clock.time, [*before, value]

    @rule()
    def commit(self) -> None:
        self.store.writer.commit()
        self.committed = deepcopy(self.current)

    @rule(dies=st.booleans())
    def go_back(self, dies: bool) -> None:
        if not dies:
            self.store.writer.back_to_commit()
            self.store.scope.enter(("none",), (0,))
        else:
            self.store.die()
        self.open()
        self.current = deepcopy(self.committed)

    @invariant()
    def same_in_order(self) -> None:
        for number, table in enumerate((self.table, self.lists)):
            model = self.alive(number)
            found = [(key, values if number == 0 else values[0]) for key, values in items(table, 0)]
            assert found == [(key, value) for key, (_, value) in model.items()]
            for key in "abcdefgh":
                assert (table.get(key) is not None) == (key in model)

    def teardown(self) -> None:
        self.store.writer.close()


TestTimes = TimesMachine.TestCase
TestTimes.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
