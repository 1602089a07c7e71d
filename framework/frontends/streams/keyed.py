"""Steps that remember something of each key, as declared state: so it survives what the bolts do not."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from operator import itemgetter
from typing import Any, Final

from framework.frontends.streams.bolts import Step
from framework.frontends.streams.functions import Function, found, values_of
from framework.model.errors import StateError
from framework.operators.components import BatchBolt, RowError, Rows
from framework.operators.state import StateAccess, ValueState
from viper.hashing import comparable
from viper.rows import kept


class Counts(ValueState):
    """The number of tuples of each key that have come, for a bolt that takes many of them in one call.

    The handle is a function in C, ``counts(rows, indexes, made)``. It counts row after row by its key, which
    is in the fields with these indexes, and appends these and the count, in a tuple, to the list `made`.
    """

    def __init__(self) -> None:
        super().__init__("int64", default=0)

    def handle(self, access: StateAccess) -> Callable[..., None]:
        """As in the base class."""
        (table,) = access.tables
        return table.count_rows


class CountByKey(Step):
    """Emits for each tuple its key and how many tuples with it have come so far.

    Args:
        fields: names of the values of the key, which are the first of each tuple, and of the count.
    """

    counts = Counts()

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._key = tuple(range(len(self._fields) - 1))

    def process_rows(self, rows: Rows) -> None:
        """Count the tuples."""
        made: list[tuple[Any, ...]] = []
        try:
            self.counts(rows.values(), self._key, made)
        except Exception as error:
            emit_first(self, made)
            raise RowError(len(made), error) from error
        self.emit_rows(made)


NOTHING: Final[Any] = object()
"""The value of a key that has none."""
MOST_KEPT: Final = 1 << 18
"""Keys whose values are kept between slices; beyond that all are read again."""


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
        """The value that replaces a key in the dictionaries that do not take it.

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


class Fold(Step):
    """Base of the bolts that keep a value for each key, and emit it whenever it changes.

    Args:
        width: how many of the first values of a tuple are its key.
        fields: names of the values that are emitted: those of the key, and those of the result.
    """

    folded = FoldedState()

    def __init__(self, width: int, fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._width = width
        self._key_of = itemgetter(*range(width))

    def process_rows(self, rows: Rows) -> None:
        """Give each tuple to the value of its key."""
        folded, width, made = self.folded, self._width, list[tuple[Any, ...]]()
        changed, results, key, before = folded.changed, len(self._fields) - width, None, NOTHING
        try:
            for row in rows.values():
                key, before = self._key_of(row), NOTHING
                try:
                    before = changed.get(key, NOTHING)
                except TypeError:  # no dictionary takes it, such as a list
                    key = folded.hashable(key)
                    before = changed.get(key, NOTHING)
                if before is NOTHING:
                    before = folded.read(key)
                value = self._next(before, row[width:])
                result = kept(self._result(value))
                if results != 1:
                    result = values_of(result, self._fields[width:])
                changed[key] = value
                made.append((*row[:width], *result) if results != 1 else (*row[:width], result))
        except Exception as error:
            if before is not NOTHING:  # the function may have changed it, and raised then
                changed[key] = before
            emit_first(self, made)
            raise RowError(len(made), error) from error
        self.emit_rows(made)

    @abstractmethod
    def _next(self, before: Any, values: tuple[Any, ...]) -> Any:
        """Return the new value of a key, after `before` or `NOTHING`, with a tuple that has these values."""

    def _result(self, value: Any) -> Any:
        return value


class ReduceByKey(Fold):
    """Emits for each tuple its key and what the function makes of the values so far and its own.

    Args:
        function: makes one value of two, or a tuple of values of two tuples; or its dotted path.
        width: how many of the first values of a tuple are its key.
        fields: names of the values.
    """

    def __init__(self, function: Function, width: int, fields: Sequence[str]) -> None:
        super().__init__(width, fields)
        self._function = found(function)
        self._takes_one = len(self._fields) - width == 1

    def _next(self, before: Any, values: tuple[Any, ...]) -> Any:
        value = values[0] if self._takes_one else values
        return value if before is NOTHING else self._function(before, value)


class AggregateByKey(Fold):
    """Emits for each tuple its key and the result so far.

    Args:
        function: makes the next state of a state and of a tuple's values; or its dotted path.
        width: how many of the first values of a tuple are its key.
        fields: names of the values that are emitted.
        initial: the state of a key before its first tuple.
        make: makes that state, in the place of `initial`.
        result: makes the result of a state; None where the state is the result.
    """

    def __init__(
        self,
        function: Function,
        width: int,
        fields: Sequence[str],
        initial: Any = None,
        make: Function | None = None,
        result: Function | None = None,
    ) -> None:
        super().__init__(width, fields)
        self._function = found(function)
        self._make: Callable[[], Any] = partial(deepcopy, initial) if make is None else found(make)
        self._result_of: Callable[[Any], Any] | None = None if result is None else found(result)

    def _next(self, before: Any, values: tuple[Any, ...]) -> Any:
        return self._function(self._make() if before is NOTHING else before, *values)

    def _result(self, value: Any) -> Any:
        return value if self._result_of is None else self._result_of(value)


def emit_first(bolt: BatchBolt, made: list[tuple[Any, ...]]) -> None:
    """Emit one tuple for each of the first rows in process."""
    bolt.emit_rows(made, ends=range(1, len(made) + 1))
