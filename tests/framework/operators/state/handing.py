"""Handles of declared states without a run: what a task does with them, step by step."""

from __future__ import annotations

from typing import Any

from framework.operators.state import DirtyHandle, State, StateAccess
from tests.viper.stores import Store
from viper.state import KeyedTable, items

GROUPS = 4


class Held:
    """One declared state in the hands of a task: tuples, slices, deaths."""

    def __init__(self, state: State, *, goes_on: bool = True) -> None:
        self._state = state
        self._goes_on = goes_on
        self.store = Store(*state.codes, size_bytes=1 << 24, groups=GROUPS)
        self.open()

    def open(self) -> None:
        """A task begins, with what the last commit left."""
        tables: list[KeyedTable] = [self.store.table(number) for number in range(len(self._state.codes))]
        scope = self.store.scope
        self.table = tables[0]
        self.handle: Any = self._state.handle(StateAccess("seen", tables, scope, scope, self._goes_on))

    def enter(self, key: object) -> None:
        """Go on to a tuple of a key."""
        self.store.enter(key)

    def back(self) -> None:
        """The tuple in process has raised."""
        if isinstance(self.handle, DirtyHandle):
            self.handle.forget()
        self.store.scope.back()

    def commit(self) -> None:
        """The slice ends."""
        self.store.scope.leave()
        if isinstance(self.handle, DirtyHandle):
            self.handle.flush()
        self.store.writer.commit()

    def die(self) -> None:
        """The task's process dies, and another one continues."""
        self.store.die()
        self.open()

    def found(self) -> dict[Any, Any]:
        """Read the tables by key, in the order of key groups and of insertion."""
        return {key: values[0] for group in range(GROUPS) for key, values in items(self.table, group)}
