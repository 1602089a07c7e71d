"""State for tests: a component's tables in an arena of their own, and the one task that owns them."""

from __future__ import annotations

from collections.abc import Iterable

from viper.arena import Arena
from viper.state import KeyedState, KeyedTable, Pool, Scope, UndoLog, Writer


class Store:
    """One component's tables."""

    def __init__(
        self, *codes: str, size_bytes: int = 1 << 20, groups: int = 1, tracked: bool = False
    ) -> None:
        self.arena = Arena.private(size_bytes + (1 << 21))
        self.pool = Pool.create(self.arena, size_bytes)
        self.state = KeyedState.create(self.arena, codes, groups=groups, first_owner=2, tracked=tracked)
        self.log = UndoLog.create(self.arena, owner=1)
        self.open()

    def open(self) -> None:
        """Open the log, as a task does that continues after a dead one."""
        self.writer = Writer(self.arena, self.pool, self.log, self.state.owners)
        self.scope: Scope = self.state.scope(self.writer)

    def die(self) -> None:
        """As if the task's process had died, and another one had resumed."""
        self.writer.close()
        self.open()

    def table(self, number: int = 0, groups: Iterable[int] | None = None) -> KeyedTable:
        """One of the tables, with the groups that the task owns: all, if they are left out."""
        owned = range(self.state.groups) if groups is None else list(groups)
        return self.state.table(self.writer, number, "seen", groups=owned)

    def enter(self, key: object) -> None:
        """Go on to a tuple of a key."""
        self.scope.enter((key,), (0,))
