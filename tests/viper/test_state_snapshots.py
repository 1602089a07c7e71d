"""Snapshots that are written in pieces while their table changes, against dictionaries.

What a checkpoint and the changes after it hold is what the table held when the last of them was begun, in
the order of insertion.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.viper.stores import Store
from viper.hashing import stable_hash
from viper.state import Chunk, KeyedTable, ListCell, MapCell, items, load, next_chunk

GROUPS = 4
MOST = 400

numbers = st.integers(0, MOST)
few = st.integers(0, 12)
Model = list[dict[Any, Any]]
"""By group, what each key has, in the order of insertion."""


@dataclass
class Checkpoint:
    """The chunks of a checkpoint, and the content that it is to hold."""

    number: int
    expected: Model
    chunks: list[tuple[int, Chunk]]
    """With the number of the snapshot that has written them."""


@dataclass
class Attempt:
    number: int
    expected: Model
    is_whole: bool
    keys: int
    chunks: list[tuple[int, Chunk]] = field(default_factory=list)


def loaded(codes: str, chunks: list[tuple[int, Chunk]]) -> KeyedTable:
    """A table with what a checkpoint consists of."""
    store = Store(codes, size_bytes=1 << 22, groups=GROUPS)
    for group in range(GROUPS):
        found = [(number, chunk) for number, chunk in chunks if chunk.group == group]
        since = max((number for number, chunk in found if chunk.is_whole), default=0)
        load(store.table(), group, [chunk.data for number, chunk in found if number >= since])
    return store.table()


class Snapshots(RuleBasedStateMachine):
    """One task with one table."""

    codes = "qs"

    def __init__(self) -> None:
        super().__init__()
        self.store = Store(self.codes, size_bytes=1 << 22, groups=GROUPS, tracked=True)
        self.current: Model = [{} for _ in range(GROUPS)]
        self.committed: Model = deepcopy(self.current)
        self.attempt: Attempt | None = None
        self.last: Checkpoint | None = None
        self.number = self.value = 0
        self.may_go_back = True
        self.is_known = True
        """True if no process has died that had begun a snapshot amid a slice."""
        self.open()

    def open(self) -> None:
        self.table = self.store.table()

    # -- what a table holds; others are below

    def change(self, key: int) -> None:
        self.value += 1
        text = "x" * (self.value % 40)
        self.table.set(key, (self.value, text))
        self.of(key)[key] = (self.value, text)

    def leave(self, key: int) -> None:
        assert self.table.drop(key) == (self.of(key).pop(key, None) is not None)

    def shown(self, values: tuple[Any, ...]) -> Any:
        return values

    def of(self, key: int) -> dict[Any, Any]:
        return self.current[stable_hash(key) % GROUPS]

    # -- rules

    @rule(key=numbers | few)
    def change_one(self, key: int) -> None:
        self.change(key)

    @rule(first=numbers, count=st.integers(1, 150))
    def change_many(self, first: int, count: int) -> None:
        for key in range(first, first + count):
            self.change(key % MOST)

    @rule(key=numbers | few)
    def drop_one(self, key: int) -> None:
        self.leave(key)

    @rule(first=numbers, count=st.integers(1, 250))
    def drop_many(self, first: int, count: int) -> None:
        for key in range(first, first + count):
            self.leave(key % MOST)

    @rule(count=st.integers(1, 60))
    def come_and_go(self, count: int) -> None:
        """Rows that leave, until the table is compacted."""
        for key in range(1000, 1000 + count):
            self.change(key)
        for key in range(1000, 1000 + count):
            self.leave(key)

    @rule()
    def commit(self) -> None:
        self.store.writer.commit()
        self.committed = deepcopy(self.current)
        self.may_go_back = True

    @precondition(lambda self: self.may_go_back)
    @rule()
    def go_back(self) -> None:
        self.store.writer.back_to_commit()
        self.current = deepcopy(self.committed)

    @rule()
    def die(self) -> None:
        self.is_known = self.is_known and self.may_go_back
        self.attempt = None
        self.store.die()
        self.open()
        self.current = deepcopy(self.committed)
        self.may_go_back = True

    @rule(whole=st.booleans() | st.just(False))
    def begin(self, whole: bool) -> None:
        self.number += 1
        since = 0 if self.last is None else self.last.number
        whole = whole or not self.is_known
        keys, is_whole = self.table.cut(self.number, since, whole)
        assert is_whole or (self.last is not None and not whole)
        expected = deepcopy(self.current)
        self.may_go_back = self.may_go_back and self.store.writer.written == 0
        self.attempt = Attempt(self.number, expected, is_whole, keys)

    @precondition(lambda self: self.attempt is not None)
    @rule(count=st.integers(1, 5), limit=st.integers(1, 400))
    def write(self, count: int, limit: int) -> None:
        for _ in range(count):
            self.write_one(limit)

    @precondition(lambda self: self.attempt is not None)
    @rule(limit=st.integers(1, 4000))
    def finish(self, limit: int) -> None:
        while self.write_one(limit):
            pass

    @precondition(lambda self: self.attempt is not None)
    @rule()
    def discard(self) -> None:
        self.table.discard()
        self.attempt = None

    def write_one(self, limit: int) -> bool:
        attempt = self.attempt
        if attempt is None:
            return False
        chunk = next_chunk(self.table, limit)
        if chunk is not None:
            attempt.chunks.append((attempt.number, chunk))
            return True
        before = [] if attempt.is_whole or self.last is None else self.last.chunks
        self.last = Checkpoint(attempt.number, attempt.expected, [*before, *attempt.chunks])
        self.is_known = self.is_known or attempt.is_whole
        self.attempt = None
        assert attempt.keys == sum(map(len, attempt.expected))
        self.check()
        return False

    def check(self) -> None:
        assert self.last is not None
        table = loaded(self.codes, self.last.chunks)
        for group, expected in enumerate(self.last.expected):
            found = {key: self.shown(values) for key, values in items(table, group)}
            assert [*found.items()] == [*expected.items()]

    def teardown(self) -> None:
        while self.write_one(100):
            pass
        self.begin(False)
        while self.write_one(1000):
            pass
        for group, expected in enumerate(self.current):
            assert [key for key, _ in items(self.table, group)] == [*expected]
        self.store.writer.close()


class OfLists(Snapshots):
    codes = "[s"

    def open(self) -> None:
        super().open()
        self.cell = ListCell(self.store.scope, self.table)

    def change(self, key: int) -> None:
        self.value += 1
        self.store.enter(key)
        found = self.of(key).setdefault(key, [])
        if self.value % 7:
            self.cell.add(str(self.value) * 5)
            found.append(str(self.value) * 5)
        else:
            self.cell.update(["a", "b"])
            found[:] = ["a", "b"]

    def leave(self, key: int) -> None:
        self.store.enter(key)
        self.cell.clear()
        self.of(key).pop(key, None)

    def shown(self, values: tuple[Any, ...]) -> Any:
        return values[0]


class OfMaps(Snapshots):
    codes = "{q"

    def open(self) -> None:
        super().open()
        self.cell = MapCell(self.store.scope, self.table)

    def change(self, key: int) -> None:
        self.value += 1
        self.store.enter(key)
        found = self.of(key).setdefault(key, {})
        inner = str(self.value % 5)
        if inner in found and len(found) > 3:
            self.cell.remove(inner)
            del found[inner]
        else:
            self.cell.put(inner, self.value)
            found[inner] = self.value

    def leave(self, key: int) -> None:
        self.store.enter(key)
        self.cell.clear()
        self.of(key).pop(key, None)

    def shown(self, values: tuple[Any, ...]) -> Any:
        return dict(values[0])


TestColumns = Snapshots.TestCase
TestLists = OfLists.TestCase
TestMaps = OfMaps.TestCase
TestColumns.settings = TestLists.settings = TestMaps.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None
)
