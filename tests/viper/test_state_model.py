"""Tables of state against dictionaries: two tasks that own the key groups, their slices and their deaths."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from viper.arena import Arena
from viper.hashing import stable_hash
from viper.state import KeyedState, Pool, UndoLog, Writer, items

GROUPS = 8
TASKS = 2
CODES = "qd?sy"

numbers = st.integers(-3, 3) | st.sampled_from([1.0, True, -0.0, 1.5, 2**63, 2.0**63, 2**70, -(2**63)])
plain = numbers | st.none() | st.text(max_size=40) | st.binary(max_size=20)
keys = plain | st.tuples(plain, plain) | st.lists(numbers, max_size=2).map(tuple)
rows = st.tuples(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.binary(max_size=3000),
)
Model = list[dict[Any, tuple[Any, Any]]]
"""By group, the key as it was first seen and the values of each key."""


class StateMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.arena = Arena.private(1 << 26)
        self.pool = Pool.create(self.arena, 1 << 25)
        self.state = KeyedState.create(self.arena, [CODES], groups=GROUPS, first_owner=TASKS + 1)
        self.logs = [UndoLog.create(self.arena, owner=task + 1) for task in range(TASKS)]
        self.committed: Model = [{} for _ in range(GROUPS)]
        self.current: Model = deepcopy(self.committed)
        self.writers: list[Writer] = []
        self.tables: list[Any] = []
        for task in range(TASKS):
            self.open(task)

    def open(self, task: int) -> None:
        mine = [group for group in range(GROUPS) if group % TASKS == task]
        owners = [self.state.owners[group] for group in mine]
        writer = Writer(self.arena, self.pool, self.logs[task], owners)
        self.writers[task : task + 1] = [writer]
        self.tables[task : task + 1] = [self.state.table(writer, 0, "seen", groups=mine)]

    def of(self, key: Any) -> tuple[int, Any]:
        group = stable_hash(key) % GROUPS
        return group, self.tables[group % TASKS]

    @rule(key=keys, values=rows)
    def set(self, key: Any, values: tuple[Any, ...]) -> None:
        group, table = self.of(key)
        table.set(key, values)
        shown, _ = self.current[group].get(key, (key, None))
        self.current[group][key] = shown, values

    @rule(key=keys)
    def drop(self, key: Any) -> None:
        group, table = self.of(key)
        assert table.drop(key) == (self.current[group].pop(key, None) is not None)

    @rule(key=keys)
    def get(self, key: Any) -> None:
        group, table = self.of(key)
        assert table.get(key) == self.current[group].get(key, (None, None))[1]

    @rule(task=st.integers(0, TASKS - 1))
    def commit(self, task: int) -> None:
        self.writers[task].commit()
        for group in range(task, GROUPS, TASKS):
            self.committed[group] = dict(self.current[group])

    @rule(task=st.integers(0, TASKS - 1), dies=st.booleans())
    def go_back(self, task: int, dies: bool) -> None:
        if dies:  # whoever opens the log next takes back what the dead one has left
            self.writers[task].close()
            self.open(task)
        else:
            self.writers[task].back_to_commit()
        for group in range(task, GROUPS, TASKS):
            self.current[group] = dict(self.committed[group])

    @invariant()
    def same_rows_in_order(self) -> None:
        for group in range(GROUPS):
            table, expected = self.tables[group % TASKS], self.current[group]
            assert table.count(group) == len(expected)
            found = [(repr(key), values) for key, values in items(table, group)]
            assert found == [(repr(key), values) for key, values in expected.values()]

    def teardown(self) -> None:
        for writer in self.writers:
            writer.close()


TestTables = StateMachine.TestCase
TestTables.settings = settings(max_examples=30, stateful_step_count=50, deadline=None)
