"""Functions as bolts: each is called with the values of a tuple, for all tuples of a batch in one go.

A bolt of this kind can be used in any topology. In YAML its function goes by its dotted path:

    - id: "split"
      className: "viperstorm.streams.FlatMap"
      constructorArgs: ["words.split", ["word"]]

If a function raises, its tuple alone fails, as that of any other bolt does. Steps that remember something of
each key are in `framework.frontends.streams.keyed`.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from framework.frontends.streams.functions import Function, Stopped, found, stopped, values_of
from framework.model.topology import Stream
from framework.operators.components import BatchBolt, RowError, Rows
from viper.rows import call_choosing, call_each, call_flat, misfit

STATELESS = {"viper.stateless": True}
"""The configuration of a bolt whose output depends on its tuple alone, so that any task may get it."""

class Step(BatchBolt):
    """Base of the bolts that get the names of the values that they emit."""

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
        ends, failed = self._apply(rows.values(), made)
        if failed is None:
            self.emit_rows(made, ends=ends)
        else:
            self.emit_rows(made, ends=range(1, len(made) + 1) if ends is None else ends)
            raise RowError(failed.index, failed.cause) from failed.cause

    @abstractmethod
    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        """Append what comes of rows.

        Returns:
            For each row how much that is so far, None if it is one each; and where the function has raised.
        """

    @property
    def _packs(self) -> bool:
        """True if the function returns a single value, which is to be put in a row."""
        return len(self._fields) == 1

    def _as_rows(self, results: list[Any]) -> Stopped | None:
        """Check that the function has returned rows: of several values it returns a tuple, or a list."""
        width = len(self._fields)
        index = None if self._packs else misfit(results, width)
        if index is None:
            return None
        try:
            values_of(results[index], self._fields)
        except TypeError as error:
            del results[index:]
            return Stopped(index, error)
        results[:] = [tuple(row) if type(row) is list else row for row in results]
        return self._as_rows(results)


class Map(FunctionBolt):
    """Emits what the function returns for each tuple: the value, or a tuple of values for several fields."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        raised = call_each(self._function, rows, made, self._packs)
        failed = stopped(len(made), raised)
        return None, self._as_rows(made) or failed


class FlatMap(FunctionBolt):
    """Emits each of what the function returns for a tuple: none, one or many."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        counted, raised = call_flat(self._function, rows, made, self._packs)
        ends = array("I", counted)
        failed = stopped(len(ends), raised)
        misfitting = self._as_rows(made)
        if misfitting is not None:
            index = bisect_right(ends, misfitting.index)
            failed = Stopped(index, misfitting.cause)
            del ends[index:]
            del made[ends[-1] if ends else 0 :]
        return ends, failed


class Filter(FunctionBolt):
    """Emits the tuples for which the function returns something true."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        counted, raised = call_choosing(self._function, rows, made)
        ends = array("I", counted)
        return ends, stopped(len(ends), raised)


class Peek(FunctionBolt):
    """Calls the function for each tuple, and emits the tuple as it is."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        seen: list[Any] = []
        raised = call_each(self._look, rows, seen, False)
        made += rows[: len(seen)]
        return None, stopped(len(seen), raised)

    def _look(self, *values: Any) -> None:
        """Call the function; what it returns is nobody's concern, and may be what cannot be copied."""
        self._function(*values)


class KeyBy(FunctionBolt):
    """Emits each tuple with a key before its values: what the function returns."""

    def _apply(
        self, rows: list[tuple[Any, ...]], made: list[tuple[Any, ...]]
    ) -> tuple[Sequence[int] | None, Stopped | None]:
        keys: list[Any] = []
        raised = call_each(self._function, rows, keys, False)
        made += [(key, *row) for key, row in zip(keys, rows, strict=False)]
        return None, stopped(len(keys), raised)


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
        chosen = map(itemgetter(*self._indexes), rows.values())
        self.emit_rows(list(zip(chosen, strict=True) if len(self._indexes) == 1 else chosen))


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
        raised = call_each(self._chosen, rows.values(), chosen, False)
        for branch in range(len(self._functions)):
            of = [index for index, taken in enumerate(chosen) if taken == branch]
            self.emit_rows([rows[index] for index in of], of, branch_name(branch))
        if raised is not None:
            raise RowError(len(chosen), raised) from raised

    def _chosen(self, *values: Any) -> int | None:
        return next((index for index, holds in enumerate(self._functions) if holds(*values)), None)


def branch_name(index: int) -> str:
    """The name of the stream of the function with that index."""
    return f"branch{index}"
