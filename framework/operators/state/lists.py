"""Handles of declared lists: their attributes while a task runs.

A typed list is a `viper.state.ListCell`. One of any values is made of a list of bytes, here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import Durable
from framework.operators.state.kept import Kept, KeptValues
from framework.operators.state.loading import loaded
from viper.rows import is_plain
from viper.scalars import python_of
from viper.state import ListCell, scope_of


def list_handle(
    access: StateAccess, *, typed: bool, durable: Durable = "slice"
) -> ListCell | PickledList:
    """The handle of a list."""
    if typed:
        return ListCell(access.scope, access.tables[0])
    return (LivingList if durable == "checkpoint" else PickledList)(access)


class PickledList:
    """The list of the key of the tuple in process.

    An added element is pickled and written at once. Elements that were read are kept. If they are not plain
    they may have been changed in place; the list is then written again, if it differs, when the slice ends.
    """

    def __init__(self, access: StateAccess) -> None:
        (table,) = access.tables
        self._scope = access.scope
        self._cell = ListCell(access.scope, table)
        self._any_key = scope_of(table)
        self._any_cell = ListCell(self._any_key, table)
        self._lists = KeptValues(access)

    def add(self, value: Any) -> None:
        """Append an element, as it is now."""
        self.add_all((value,))

    def add_all(self, values: Iterable[Any]) -> None:
        """Append elements, as they are now."""
        values, pickled = self._pickled(values)
        self._cell.add_all(pickled)
        if kept := self._lists.get(self._scope.token):
            self._lists.note(kept)
            kept.value.extend(_copies(values, pickled))

    def get(self) -> list[Any]:
        """The elements, in the order in which they came, in a list of the caller's."""
        kept = self._look()
        if not all(map(is_plain, kept.value)):
            self._lists.touch(kept)
        return [*kept.value]

    def update(self, values: Iterable[Any]) -> None:
        """Put elements in the place of those that are there."""
        values, pickled = self._pickled(values)
        self._cell.update(pickled)
        if kept := self._lists.get(self._scope.token):
            self._lists.note(kept)
            kept.value = _copies(values, pickled)

    def clear(self) -> None:
        """Take all elements out."""
        self.update(())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __len__(self) -> int:
        return len(self._cell)

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        for kept in self._lists.flush():
            self._any_key.enter((kept.key,), (0,))
            _, pickled = self._pickled(kept.value)
            if pickled != self._any_cell.get():
                self._any_cell.update(pickled)
        self._any_key.leave()

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        self._lists.forget()

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`."""
        self._lists.let_all_go()

    def _look(self) -> Kept:
        """The elements of the key."""
        token = self._scope.token
        kept = self._lists.get(token)
        if kept is not None:
            return kept
        elements = [loaded(data) for data in self._cell.get()]
        kept = self._lists.keep(Kept(token, self._scope.key, None, elements))
        self._lists.note(kept)  # the tuple in process may have added some of them
        return kept

    def _pickled(self, values: Iterable[Any]) -> tuple[list[Any], list[bytes]]:
        found = [python_of(value) for value in values]
        return found, [self._lists.pickled(value) for value in found]


class LivingList(PickledList):
    """A list that is pickled for checkpoints only; what has changed since dies with its process.

    The first elements of a key are pickled at once, as the table has the order of keys. So a list is in the
    table as long as it has elements.
    """

    def add_all(self, values: Iterable[Any]) -> None:
        """As in the base class."""
        kept = self._look()
        if not kept.value:
            super().add_all(values)
        elif added := self._as_now(values):
            self._lists.touch(kept)
            kept.value.extend(added)

    def update(self, values: Iterable[Any]) -> None:
        """As in the base class."""
        found, kept = list(values), self._look()
        if found and kept.value:
            others = self._as_now(found)
            self._lists.touch(kept)
            kept.value = others
        else:
            self._lists.drop(kept)
            super().update(found)

    def __len__(self) -> int:
        return len(self._look().value)

    def flush(self) -> None:
        """As `DirtyHandle.flush`: what has changed stays here."""
        self._lists.trim()

    def save(self) -> None:
        """As `LivingHandle.save`."""
        super().flush()

    def _as_now(self, values: Iterable[Any]) -> list[Any]:
        """Elements that nobody else can change."""
        return _copies(*self._pickled(values))


def _copies(values: list[Any], pickled: list[bytes]) -> list[Any]:
    """Values that nobody else can change."""
    return [
        value if is_plain(value) else loaded(data) for value, data in zip(values, pickled, strict=True)
    ]
