"""What a step folds the tuples of each key into: any values, pickled behind the slice that changed them."""

from __future__ import annotations

import pickle
from typing import Any, Final

from framework.model.errors import StateError
from framework.operators.state import StateAccess, ValueState
from viper.hashing import comparable

NOTHING: Final[Any] = object()
"""Stands for the value of a key that has none."""
MOST_KEPT: Final = 1 << 18
"""Keys whose values are kept between slices; beyond that all are read anew."""


class FoldedState(ValueState):
    """A value for each key, which a step reads and changes by the key, whichever tuple it comes with.

    A `ValueState` looks up the key of each tuple by its bytes, in 1.4 us where a dictionary takes 0.1.
    So the handle has a dictionary, and writes behind each slice what has changed in it.
    """

    def __init__(self) -> None:
        super().__init__()

    def handle(self, access: StateAccess) -> Folded:
        """As in the base class."""
        return Folded(access)


class Folded:
    """The values of a task's keys: by the value of the key's field, or by the tuple of several."""

    def __init__(self, access: StateAccess) -> None:
        (self._table,) = access.tables
        self._name = access.name
        self.changed: dict[Any, Any] = {}
        """Values that may differ from what the table has."""
        self._kept: dict[Any, Any] = {}
        """Others that were used."""
        self._shown: dict[Any, Any] = {}
        """Keys that no dictionary takes, such as lists, by what stands for them."""

    def hashable(self, key: Any) -> Any:
        """The value that stands in the dictionaries for a key that they do not take.

        Raises:
            TypeError: it is no key.
        """
        found = comparable(key)
        self._shown.setdefault(found, key)
        return found

    def read(self, key: Any) -> Any:
        """The value of a key that has not changed, or `NOTHING`.

        Raises:
            LookupError: the key is another task's.
            TypeError: it is no key.
        """
        value = self._kept.get(key, NOTHING)
        key = self._shown.get(key, key) if self._shown else key
        if value is NOTHING and (found := self._table.get(key)) is not None:
            value = pickle.loads(found[0])
        return value

    def flush(self) -> None:
        """Write what has changed into the table.

        Raises:
            StateError: a value cannot be pickled.
        """
        write, pickled, value = self._table.set, pickle.dumps, None
        try:
            for key, value in self.changed.items():
                write(self._shown.get(key, key), (pickled(value, pickle.HIGHEST_PROTOCOL),))
        except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
            raise StateError(
                f"state {self._name} holds {value!r:.300}, which cannot be pickled: {error}"
            ) from error
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()
        self._kept.update(self.changed)
        self.changed.clear()
        self._shown.clear()

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`: keys may come back with values that other tasks have given them."""
        self._kept.clear()

    def forget(self) -> None:
        """Take back what the call has changed; what was changed before it has been written."""
        self._kept.clear()
        self.changed.clear()
        self._shown.clear()
