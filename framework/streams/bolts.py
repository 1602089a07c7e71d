"""Functions as bolts: each is called with the values of a tuple, for all tuples of a batch in one go.

A bolt of this kind can stand in any topology. In YAML its function goes by its dotted path:

    - id: "split"
      className: "framework.streams.bolts.FlatMap"
      constructorArgs: ["words.split", ["word"]]

Where a function raises, its tuple alone fails, as that of any other bolt does.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import accumulate, compress
from typing import Any

from framework.components import BatchBolt, RowError, Rows
from framework.streams.functions import Function, Stopped, called, found
from framework.topology import Stream
from viper.rows import kept, misfit

STATELESS = {"viper.stateless": True}
"""What comes of a tuple depends on nothing else, so any task may get it."""

States = dict[tuple[Any, ...], Any]
"""What is kept for each key."""


class Step(BatchBolt):
    """Base of the bolts that are told the names of the values that they emit."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__()
        self._fields = tuple(fields)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """These names."""
        return list(self._fields)


class FunctionBolt(Step):
    """Base of the bolts that call a function.

    Args:
        function: the function, or its dotted path.
        fields: names of the values that the bolt emits.
    """

    config = STATELESS

    def __init__(self, function: Function, fields: Sequence[str] = ("value",)) -> None:
        super().__init__(fields)
        self._function = found(function)

    def process_rows(self, rows: Rows) -> None:
        """Call the function for each tuple, and emit what comes of it."""
        made: list[tuple[Any, ...]] = []
        ends = array("I")
        stopped = self._apply(rows.values(), made, ends)
        self.emit_rows(made, ends=ends)
        if stopped is not None:
            raise RowError(stopped.index, stopped.cause) from stopped.cause

    @abstractmethod
    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        """Append what comes of rows, and for each how much that is so far; return where it stopped."""

    def _as_rows(self, results: list[Any]) -> tuple[list[Any], Stopped | None]:
        """What the function returned, as rows of values; of several values it returns a tuple."""
        width = len(self._fields)
        if width == 1:
            return list(zip(results)), None
        index = misfit(results, width)
        if index is None:
            return results, None
        if isinstance(results[index], list) and len(results[index]) == width:
            return self._as_rows([tuple(row) if type(row) is list else row for row in results])
        error = TypeError(
            f"the function has returned {results[index]!r:.200}: "
            f"expected a tuple of {width} values, {list(self._fields)}"
        )
        return results[:index], Stopped(index, error)


class Map(FunctionBolt):
    """Emits what the function returns for each tuple: the value, or a tuple of values for several fields."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        results: list[Any] = []
        stopped = called(self._function, rows, results)
        fitting, misfitting = self._as_rows(results)
        made += fitting
        ends.extend(range(1, len(made) + 1))
        return misfitting or stopped


class FlatMap(FunctionBolt):
    """Emits each of what the function returns for a tuple: none, one or many."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        function, results, stopped = self._function, list[Any](), None
        extend, end_at = results.extend, ends.append
        try:
            for row in rows:
                extend(map(kept, function(*row)))
                end_at(len(results))
        except Exception as error:
            del results[ends[-1] if ends else 0 :]
            stopped = Stopped(len(ends), error)
        fitting, misfitting = self._as_rows(results)
        if misfitting is not None:
            index = sum(1 for end in ends if end <= misfitting.index)
            del ends[index:]
            stopped = Stopped(index, misfitting.cause)
        made += fitting[: ends[-1] if ends else 0]
        return stopped


class Filter(FunctionBolt):
    """Emits the tuples for which the function returns something true."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        function, chosen = self._function, list[Any]()
        stopped = called(lambda *row: bool(function(*row)), rows, chosen)
        made += compress(rows, chosen)
        ends.extend(accumulate(chosen))
        return stopped


class Peek(FunctionBolt):
    """Calls the function for each tuple, and emits the tuple as it is."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        seen: list[Any] = []
        stopped = called(self._look, rows, seen)
        made += rows[: len(seen)]
        ends.extend(range(1, len(seen) + 1))
        return stopped

    def _look(self, *values: Any) -> None:
        """Call the function; what it returns is nobody's concern, and may be what cannot be copied."""
        self._function(*values)


class KeyBy(FunctionBolt):
    """Emits each tuple with a key before its values: what the function returns."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]], ends: array[int]
    ) -> Stopped | None:
        keys: list[Any] = []
        stopped = called(self._function, rows, keys)
        made += [(key, *row) for key, row in zip(keys, rows, strict=False)]
        ends.extend(range(1, len(keys) + 1))
        return stopped


class Select(Step):
    """Emits some of the values of each tuple, in another order.

    Args:
        indexes: of the values.
        fields: names of the values that are emitted.
    """

    config = STATELESS

    def __init__(self, indexes: Sequence[int], fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._indexes = tuple(indexes)

    def process_rows(self, rows: Rows) -> None:
        """Emit the values."""
        indexes = self._indexes
        self.emit_rows([tuple([row[index] for index in indexes]) for row in rows.values()])


class Branch(Step):
    """Emits each tuple on the stream of the first function that returns something true; on none else.

    Args:
        functions: the functions, or their dotted paths.
        fields: names of the values.
    """

    config = STATELESS

    def __init__(self, functions: Sequence[Function], fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._functions = tuple(map(found, functions))

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """A stream for each function: ``branch0``, ``branch1`` and so on."""
        return [Stream(self._fields, name=branch_name(index)) for index in range(len(self._functions))]

    def process_rows(self, rows: Rows) -> None:
        """Emit the tuples."""
        chosen: list[int | None] = []
        stopped = called(self._chosen, rows.values(), chosen)
        for branch in range(len(self._functions)):
            of = [index for index, taken in enumerate(chosen) if taken == branch]
            self.emit_rows([rows[index] for index in of], of, branch_name(branch))
        if stopped is not None:
            raise RowError(stopped.index, stopped.cause) from stopped.cause

    def _chosen(self, *values: Any) -> int | None:
        return next((index for index, holds in enumerate(self._functions) if holds(*values)), None)


def branch_name(index: int) -> str:
    """The name of the stream of the function with that index."""
    return f"branch{index}"


class CountByKey(Step):
    """Emits for each tuple its key and how many tuples with it have come so far.

    Args:
        fields: names of the values of the key, which are the first of each tuple, and of the count.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._width = len(self._fields) - 1
        self._counts: dict[Any, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Count the tuples."""
        counts, width, made = self._counts, self._width, list[tuple[Any, ...]]()
        keep, before = made.append, counts.get
        try:
            if width == 1:
                for row in rows.values():
                    key = row[0]
                    counts[key] = count = before(key, 0) + 1
                    keep((key, count))
            else:
                for row in rows.values():
                    counts[row[:width]] = count = before(row[:width], 0) + 1
                    keep((*row[:width], count))
        except Exception as error:
            emit_first(self, made)
            raise RowError(len(made), error) from error
        self.emit_rows(made)


class Fold(Step):
    """Base of the bolts that keep a value for each key, and emit it whenever it changes.

    Args:
        width: how many of the first values of a tuple are its key.
        fields: names of the values that are emitted: those of the key, and those of the result.
    """

    def __init__(self, width: int, fields: Sequence[str]) -> None:
        super().__init__(fields)
        self._width = width
        self._states: States = {}

    def process_rows(self, rows: Rows) -> None:
        """Give each tuple to the value of its key."""
        states, width, made = self._states, self._width, list[tuple[Any, ...]]()
        results = len(self._fields) - width
        try:
            for row in rows.values():
                key = row[:width]
                state = self._next(states, key, row[width:])
                result = kept(self._result(state))
                made.append((*key, *result) if results != 1 else (*key, result))
                states[key] = state
        except Exception as error:
            emit_first(self, made)
            raise RowError(len(made), error) from error
        self.emit_rows(made)

    @abstractmethod
    def _next(self, states: States, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        """The value of a key after a tuple with these values."""

    def _result(self, state: Any) -> Any:
        return state


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

    def _next(self, states: States, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        value = values[0] if self._takes_one else values
        return self._function(states[key], value) if key in states else value


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

    def _next(self, states: States, key: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
        return self._function(states[key] if key in states else self._make(), *values)

    def _result(self, state: Any) -> Any:
        return state if self._result_of is None else self._result_of(state)


def emit_first(bolt: BatchBolt, made: list[tuple[Any, ...]]) -> None:
    """Emit one tuple for each of the first rows in process."""
    bolt.emit_rows(made, ends=range(1, len(made) + 1))
