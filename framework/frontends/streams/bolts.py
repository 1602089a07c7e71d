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
from typing import Any, NamedTuple

from framework.frontends.streams.functions import Function, Stopped, found, stopped, values_of
from framework.model.topology import Stream
from framework.operators.components import BatchBolt, RowError, Rows
from viper.payload import BareRows
from viper.payload import Rows as RowPayload
from viper.rows import call_choosing, call_each, call_flat, misfit, pick

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

    def _emit(self, made: list[Any], ends: Sequence[int] | None, *, sealed: bool, bare: bool = False) -> None:
        """Emit rows of as many values as there are fields.

        Args:
            made: the rows, in a list that nobody else has; or their values, if `bare`.
            ends: as of `emit_rows`.
            sealed: whether nobody can change any of the values, so that they need not be looked at again.
            bare: whether each row is given by its only value.
        """
        if bare:
            self.emit_rows(BareRows(made) if sealed else list(zip(made, strict=True)), ends=ends)
        else:
            self.emit_rows(RowPayload(made, sealed=True) if sealed else made, ends=ends)


class Applied(NamedTuple):
    """All that came of the rows of a call."""

    made: list[Any]
    """The rows, or their values."""
    ends: Sequence[int] | None
    """For each row that was given how many there are so far; None if it is one each."""
    failed: Stopped | None
    """The row at which the function has raised."""
    sealed: bool
    """True if nobody can change any of the values."""
    bare: bool
    """True if each row is given by its only value."""


def _given(rows: Rows) -> tuple[list[Any], bool]:
    """The only value of each row, and True; or, where they come in tuples, these, and False."""
    bare = rows.bare
    return (rows.values(), False) if bare is None else (bare, True)


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
        applied = self._apply(rows)
        failed, ends = applied.failed, applied.ends
        if failed is not None and ends is None:
            ends = range(1, len(applied.made) + 1)
        self._emit(applied.made, ends, sealed=applied.sealed, bare=applied.bare)
        if failed is not None:
            raise RowError(failed.index, failed.cause) from failed.cause

    @abstractmethod
    def _apply(self, rows: Rows) -> Applied:
        """Call the function for rows, up to the first one for which it raises."""

    @property
    def _is_single(self) -> bool:
        """True if the function returns a single value."""
        return len(self._fields) == 1

    def _as_rows(self, results: list[Any]) -> Stopped | None:
        """Check that the function has returned rows: of several values it returns a tuple, or a list."""
        width = len(self._fields)
        index = None if self._is_single else misfit(results, width)
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

    def _apply(self, rows: Rows) -> Applied:
        given, bare, made = *_given(rows), list[Any]()
        raised, sealed = call_each(self._function, given, made, bare)
        failed = stopped(len(made), raised)
        return Applied(made, None, self._as_rows(made) or failed, sealed=sealed, bare=self._is_single)


class FlatMap(FunctionBolt):
    """Emits each of what the function returns for a tuple: none, one or many."""

    def _apply(self, rows: Rows) -> Applied:
        given, bare, made = *_given(rows), list[Any]()
        (counted, raised), sealed = call_flat(self._function, given, made, bare)
        ends = array("I", counted)
        failed = stopped(len(ends), raised)
        misfitting = self._as_rows(made)
        if misfitting is not None:
            index = bisect_right(ends, misfitting.index)
            failed = Stopped(index, misfitting.cause)
            del ends[index:]
            del made[ends[-1] if ends else 0 :]
        return Applied(made, ends, failed, sealed=sealed, bare=self._is_single)


class Filter(FunctionBolt):
    """Emits the tuples for which the function returns something true."""

    def _apply(self, rows: Rows) -> Applied:
        given, bare, made = *_given(rows), list[Any]()
        counted, raised = call_choosing(self._function, given, made, bare)
        ends = array("I", counted)
        return Applied(made, ends, stopped(len(ends), raised), sealed=rows.is_sealed, bare=bare)


class Peek(FunctionBolt):
    """Calls the function for each tuple, and emits the tuple as it is."""

    def _apply(self, rows: Rows) -> Applied:
        given, bare, seen = *_given(rows), list[Any]()
        raised, _ = call_each(self._look, given, seen, bare)
        failed = stopped(len(seen), raised)
        return Applied(given[: len(seen)], None, failed, sealed=rows.is_sealed, bare=bare)

    def _look(self, *values: Any) -> None:
        """Call the function; what it returns is nobody's concern, and may be what cannot be copied."""
        self._function(*values)


class KeyBy(FunctionBolt):
    """Emits each tuple with a key before its values: what the function returns."""

    def _apply(self, rows: Rows) -> Applied:
        given, bare, keys = *_given(rows), list[Any]()
        raised, sealed = call_each(self._function, given, keys, bare)
        pairs = zip(keys, given, strict=False)
        made = list(pairs) if bare else [(key, *row) for key, row in pairs]
        return Applied(made, None, stopped(len(keys), raised), sealed=sealed and rows.is_sealed, bare=False)


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
        chosen = pick(rows.values(), self._indexes)
        self._emit(chosen, None, sealed=rows.is_sealed, bare=len(self._indexes) == 1)


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
        raised, _ = call_each(self._chosen, rows.values(), chosen)
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
