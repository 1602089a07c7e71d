"""Lists and maps by key against Python's own: tuples that go back, slices, deaths."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.viper.stores import Store
from viper.hashing import stable_hash
from viper.state import ListCell, MapCell, items

GROUPS = 4

scope_keys = st.integers(0, 5) | st.sampled_from(["a", "word" * 10, (1, "x")])
map_keys = st.integers(-2, 20) | st.text(max_size=30) | st.sampled_from([1.0, True, 2**70, (1, None), 0.5])
texts = st.text(max_size=60)
blobs = st.binary(max_size=400)
Model = dict[str, list[dict[Any, Any]]]
"""By state and key group, what each key has: a list, or pairs of a map's key as it came and its value."""


class CollectionsMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store("[s", "{y", size_bytes=1 << 24, groups=GROUPS)
        self.open()
        empty: Model = {state: [{} for _ in range(GROUPS)] for state in ("list", "map")}
        self.committed, self.current, self.before = empty, deepcopy(empty), deepcopy(empty)

    def open(self) -> None:
        self.tables = {"list": self.store.table(0), "map": self.store.table(1)}
        self.list = ListCell(self.store.scope, self.tables["list"])
        self.map = MapCell(self.store.scope, self.tables["map"])
        self.key: Any = None

    @rule(key=scope_keys)
    def enter(self, key: Any) -> None:
        self.store.enter(key)
        self.key = key
        self.before = deepcopy(self.current)

    def of(self, state: str) -> dict[Any, Any]:
        """Find the values of the keys of the tuple's group; a new tuple begins if none is in process."""
        if self.key is None:
            self.enter("a")
        return self.current[state][stable_hash(self.key) % GROUPS]

    @rule(values=st.lists(texts, max_size=12), alone=st.booleans())
    def add(self, values: list[str], alone: bool) -> None:
        of = self.of("list")
        for value in values if alone else ():
            self.list.add(value)
        if not alone:
            self.list.add_all(values)
        if values:
            of.setdefault(self.key, []).extend(values)

    @rule(values=st.lists(texts, max_size=12))
    def update(self, values: list[str]) -> None:
        of = self.of("list")
        self.list.update(values)
        if values:
            of.setdefault(self.key, [])[:] = values
        else:
            of.pop(self.key, None)

    @rule(key=map_keys, value=blobs)
    def put(self, key: Any, value: bytes) -> None:
        entries = self.of("map").setdefault(self.key, {})
        self.map.put(key, value)
        entries[key] = (entries[key][0] if key in entries else key), value

    @rule(first=st.integers(0, 40), count=st.integers(1, 40))
    def put_many(self, first: int, count: int) -> None:
        for number in range(first, first + count):
            self.put(number, b"many")

    @rule(key=map_keys)
    def remove(self, key: Any) -> None:
        of = self.of("map")
        entries = of.get(self.key, {})
        assert self.map.contains(key) == (key in entries)
        assert self.map.get(key) == entries.get(key, (None, None))[1]
        assert self.map.remove(key) == (entries.pop(key, None) is not None)
        if not entries:
            of.pop(self.key, None)

    @rule(state=st.sampled_from(["list", "map"]))
    def clear(self, state: str) -> None:
        of = self.of(state)
        (self.list if state == "list" else self.map).clear()
        of.pop(self.key, None)

    @rule()
    def take_the_tuple_back(self) -> None:
        if self.key is not None:
            self.store.scope.back()
            self.current = deepcopy(self.before)

    @rule()
    def commit(self) -> None:
        self.store.scope.leave()
        self.key = None
        self.store.writer.commit()
        self.committed = deepcopy(self.current)

    @rule()
    def die(self) -> None:
        self.store.die()
        self.open()
        self.current = deepcopy(self.committed)

    @invariant()
    def same_in_order(self) -> None:
        for group in range(GROUPS):
            lists = [(key, (values,)) for key, values in self.current["list"][group].items()]
            assert list(items(self.tables["list"], group)) == lists
            maps = [(key, [*entries.values()]) for key, entries in self.current["map"][group].items()]
            found = [(key, entries) for key, (entries,) in items(self.tables["map"], group)]
            assert repr(found) == repr(maps)

    def teardown(self) -> None:
        self.store.writer.close()


TestCollections = CollectionsMachine.TestCase
TestCollections.settings = settings(max_examples=30, stateful_step_count=50, deadline=None)
