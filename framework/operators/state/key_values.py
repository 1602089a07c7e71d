"""Storm's key-value state: what one task remembers under keys of its own, whichever tuple is in process."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

from framework.model.errors import StateError
from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import PickledState
from framework.operators.state.loading import loaded
from viper.scalars import python_of
from viper.state import KeyedTable, items


class KeyValues(PickledState):
    """Any values of Python's under any keys that a fields grouping takes; of the task, not of a tuple's key.

    The handle is a `KeyValueState`.
    """

    kind = "key-value"
    holds = "any values"

    def __init__(self) -> None:
        super().__init__(per="task")

    def handle(self, access: StateAccess) -> KeyValueState:
        """As in the base class."""
        (table,) = access.tables
        return KeyValueState(table, access.name)


class KeyValueState:
    """A mapping that lasts: what is put into it survives the bolt, and the death of its worker.

    Values are pickled when they are put, and what is read is a copy: to change a value, put it again. Keys
    that are equal across types, such as 1 and 1.0, are one key. Iteration gives pairs of key and value in the
    order in which the keys were put first.
    """

    def __init__(self, table: KeyedTable, name: str) -> None:
        """
        Args:
            table: its keys and values.
            name: the state's, for messages.
        """
        self._table = table
        self._name = name

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key; the default if it has none."""
        found = self._table.get(key)
        return default if found is None else loaded(found[0])

    def put(self, key: Any, value: Any) -> None:
        """Give a key a value.

        Raises:
            StateError: the value cannot be pickled.
            StateFullError: there is no room for it.
        """
        try:
            pickled = pickle.dumps(python_of(value), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise StateError(
                f"state {self._name}: put({key!r:.100}, {value!r:.300}), which cannot be pickled: {error}"
            ) from error
        self._table.set(key, (pickled,))

    def delete(self, key: Any) -> Any:
        """Forget a key; returns the value that it had, or None."""
        found = self.get(key)
        self._table.drop(key)
        return found

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of key and value, as they are when the iteration begins."""
        return iter([(key, loaded(value)) for key, (value,) in items(self._table, 0)])

    def __contains__(self, key: Any) -> bool:
        """True if a key has a value."""
        return self._table.get(key) is not None

    def __len__(self) -> int:
        """The number of keys."""
        return self._table.count(0)
