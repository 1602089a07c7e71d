"""A value of any type, which is pickled when a slice that may have changed it ends.

A value that was read may have been changed in place; only of plain values is it sure that they were not. Keys
come and go in the table at once, so that neither their order nor `is_set` depends on where slices end. A
value that lives in its process is pickled likewise, but for checkpoints only.
"""

from __future__ import annotations

from typing import Any

from framework.operators.state.access import StateAccess
from framework.operators.state.kept import Kept, KeptValues
from framework.operators.state.loading import loaded
from viper.rows import is_plain
from viper.scalars import python_of
from viper.state import StateCell, scope_of


class PickledValue:
    """The value of the key of the tuple in process."""

    def __init__(self, access: StateAccess, default: Any) -> None:
        (table,) = access.tables
        self._scope = access.scope
        self._cell = StateCell(access.scope, table, None)
        self._any_key = scope_of(table)
        self._any_cell = StateCell(self._any_key, table, None)
        self._values = KeptValues(access)
        self._default = python_of(default)
        self._pickled_default = None if is_plain(self._default) else self._values.pickled(self._default)

    @property
    def value(self) -> Any:
        """The value of the key of the tuple in process."""
        kept = self._look()
        if kept is None:
            if self._pickled_default is None:
                return self._default
            # The key gets a copy, which may be changed in place.
            kept = self._give(loaded(self._pickled_default), self._pickled_default)
        if not is_plain(kept.value):
            self._values.touch(kept)
        return kept.value

    @value.setter
    def value(self, value: Any) -> None:
        value = python_of(value)
        kept = self._look()
        if kept is None:
            kept = self._give(value, self._values.pickled(value))
            if is_plain(value):
                return
        self._values.touch(kept)
        kept.value = value

    @value.deleter
    def value(self) -> None:
        self.clear()

    @property
    def is_set(self) -> bool:
        """True if the key was given a value, or a copy of a default that may be changed in place."""
        return self._cell.is_set

    def clear(self) -> None:
        """Let the key have the default again."""
        kept = self._values.get(self._scope.token)
        if kept is not None:
            self._values.drop(kept)
        self._cell.clear()

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        for kept in self._values.flush():
            self._any_key.enter((kept.key,), (0,))
            pickled = self._values.pickled(kept.value)
            if pickled != self._any_cell.value:
                self._any_cell.value = pickled
        self._any_key.leave()

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        self._values.forget()

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`."""
        self._values.let_all_go()

    def _look(self) -> Kept | None:
        """The value of the key; None if it was given none."""
        token = self._scope.token
        kept = self._values.get(token)
        if kept is not None:
            return kept
        data = self._cell.value
        if data is None:
            return None
        return self._values.keep(Kept(token, self._scope.key, None, loaded(data)))

    def _give(self, value: Any, pickled: bytes) -> Kept:
        """Enter the key with a value."""
        self._cell.value = pickled
        kept = self._values.keep(Kept(self._scope.token, self._scope.key, None, value))
        self._values.note(kept)
        return kept


class LivingValue(PickledValue):
    """A value that is pickled for checkpoints only; what has changed since dies with its process.

    Of a key that is new the first value is pickled at once, as the table has the order of keys.
    """

    def flush(self) -> None:
        """As `DirtyHandle.flush`: what has changed stays here."""
        self._values.trim()

    def save(self) -> None:
        """As `LivingHandle.save`."""
        super().flush()
