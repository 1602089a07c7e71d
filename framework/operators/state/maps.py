"""Handles of declared maps: their attributes while a task runs.

A map of typed values is a `viper.state.MapCell`. One of any values is made of a map of bytes, here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import Durable
from framework.operators.state.kept import Kept, KeptValues
from framework.operators.state.loading import loaded
from viper.rows import is_plain
from viper.scalars import python_of
from viper.state import MapCell, scope_of, token_of


def map_handle(
    access: StateAccess, key_code: str, *, typed: bool, durable: Durable = "slice"
) -> MapCell | PickledMap:
    """The handle of a map whose keys have a code's type; empty, they have any."""
    if typed:
        return MapCell(access.scope, access.tables[0], key_code)
    return (LivingMap if durable == "checkpoint" else PickledMap)(access, key_code)


class PickledMap:
    """The map of the key of the tuple in process.

    Keys come and go at once, and with a new one its value. Values of others are pickled when the slice ends,
    if they were put or, unless they are plain, read.
    """

    def __init__(self, access: StateAccess, key_code: str) -> None:
        (table,) = access.tables
        self._scope = access.scope
        self._cell = MapCell(access.scope, table, key_code)
        self._any_key = scope_of(table)
        self._any_cell = MapCell(self._any_key, table)
        self._values = KeptValues(access)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default if there is none."""
        kept = self._look(key)
        if kept is None:
            return default
        return self._read(kept)

    def put(self, key: Any, value: Any) -> None:
        """Give a key a value."""
        value = python_of(value)
        kept = self._look(key)
        if kept is None:
            self._cell.put(key, self._values.pickled(value))
            kept = self._values.keep(Kept(self._token(key), self._scope.key, key, value))
            self._values.note(kept)
            if is_plain(value):
                return
        self._values.touch(kept)
        kept.value = value

    def remove(self, key: Any) -> bool:
        """Forget a key; whether there was one."""
        kept = self._values.get(self._token(key))
        if kept is not None:
            self._values.drop(kept)
        return self._cell.remove(key)

    def contains(self, key: Any) -> bool:
        """True if a key has a value."""
        return self._cell.contains(key)

    def keys(self) -> list[Any]:
        """The keys, in the order in which they came."""
        return self._cell.keys()

    def values(self) -> list[Any]:
        """The values, in the order of their keys."""
        return [value for _, value in self.items()]

    def items(self) -> list[tuple[Any, Any]]:
        """The entries, in the order in which their keys came."""
        return [(key, self._read(self._kept(key, data))) for key, data in self._cell.items()]

    def is_empty(self) -> bool:
        """True if there is no key."""
        return self._cell.is_empty()

    def clear(self) -> None:
        """Forget all keys."""
        for key in self._cell:
            kept = self._values.get(self._token(key))
            if kept is not None:
                self._values.drop(kept)
        self._cell.clear()

    def __contains__(self, key: object) -> bool:
        return self._cell.contains(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cell)

    def __len__(self) -> int:
        return len(self._cell)

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        for kept in self._values.flush():
            self._any_key.enter((kept.key,), (0,))
            pickled = self._values.pickled(kept.value)
            if pickled != self._any_cell.get(kept.entry):
                self._any_cell.put(kept.entry, pickled)
        self._any_key.leave()

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        self._values.forget()

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`."""
        self._values.let_all_go()

    def _token(self, key: Any) -> tuple[bytes, bytes]:
        return self._scope.token, token_of(key)

    def _look(self, key: Any) -> Kept | None:
        """The value of a key; None if it has none."""
        kept = self._values.get(self._token(key))
        if kept is not None:
            return kept
        data = self._cell.get(key)
        return None if data is None else self._kept(key, data)

    def _kept(self, key: Any, data: bytes) -> Kept:
        token = self._token(key)
        kept = self._values.get(token)
        return kept or self._values.keep(Kept(token, self._scope.key, key, loaded(data)))

    def _read(self, kept: Kept) -> Any:
        if not is_plain(kept.value):
            self._values.touch(kept)
        return kept.value


class LivingMap(PickledMap):
    """A map whose values are pickled for checkpoints only; what has changed since dies with its process.

    The first value of a key is pickled at once, as the table has the order of keys.
    """

    def flush(self) -> None:
        """As `DirtyHandle.flush`: what has changed stays here."""
        self._values.trim()

    def save(self) -> None:
        """As `LivingHandle.save`."""
        super().flush()
