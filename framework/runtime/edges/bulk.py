"""What a batch bolt emits while it processes rows: gathered until its call returns, and then put in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from framework.errors import EmitError
from framework.runtime.edges.buffer import EmitBuffer
from framework.runtime.edges.output import Port
from viper.payload import Row
from viper.rows import ends, plain_rows
from viper.values import is_shareable


class Marks:
    """Says of the rows in process how many outputs there are after each, all together.

    It stands in for a `viper.rows.Inbox`, which says so of single tuples.
    """

    open = False
    """Whether the last of them is still in process; outputs of such a one are not in the buffer yet."""

    def __init__(self) -> None:
        self._ends = array("I")

    def extend(self, ends: array[int], before: int) -> None:
        """Append the marks of further inputs.

        Args:
            ends: for each of them the number of outputs after it, counted from the first of them.
            before: how many outputs were in the buffer before theirs.
        """
        self._ends.extend(ends if not before else array("I", map(before.__add__, ends)))

    def cut(self) -> bytes:
        """The marks since the last call, as native uint32."""
        marks, self._ends = self._ends.tobytes(), array("I")
        return marks


@dataclass(frozen=True, slots=True)
class _Emitted:
    """The rows of one emit."""

    port: Port
    rows: list[Row]
    ends: array[int] | None
    """For each input the number of these rows after it; None where they do not come by their inputs."""
    of: Sequence[int]
    """The input of each row, where there are no ends."""

    def inputs(self) -> Sequence[int]:
        """The input of each row."""
        if self.ends is None:
            return self.of
        made: list[int] = []
        before = 0
        for index, end in enumerate(self.ends):
            made.extend(repeat(index, end - before))
            before = end
        return made


class BulkEmits:
    """Takes the emits of many rows that a component makes.

    Args:
        buffer: where they go.
        row_of: makes a row of the values of one emit on a port, or refuses them; for what C leaves to Python.
    """

    def __init__(self, buffer: EmitBuffer, row_of: Callable[[Port, Any], Row]) -> None:
        self.marks = Marks()
        self._buffer = buffer
        self._row_of = row_of
        self._emitted: list[_Emitted] = []
        self._mutable = False
        """Whether a row in there may hold a value that a consumer can change."""
        self._count: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether rows are in process, so that each output has to say which of them it belongs to."""
        return self._count is not None

    def begin(self, count: int) -> None:
        """So many rows come next."""
        self._count = count

    def add(
        self, port: Port, rows: Sequence[Any], of: Sequence[int] | None, ends_of_inputs: Sequence[int] | None
    ) -> None:
        """Take the rows of one emit.

        Raises:
            EmitError: a row belongs to no input, or cannot be emitted.
            TypeError: a row is neither list nor tuple.
        """
        made = self._rows_of(port, rows)
        if self._count is None:
            if of is not None or ends_of_inputs is not None:
                raise EmitError("emit_rows takes of and ends in process_rows only, where rows are in process")
            self._put(port, made)
        elif ends_of_inputs is not None:
            self._emitted.append(_Emitted(port, made, _checked(ends_of_inputs, len(made), self._count), ()))
        else:
            self._emitted.append(_by_inputs(port, made, of, self._count))

    def finish(self, done: int) -> None:
        """The first `done` rows have been processed: append what was emitted for them to the buffer.

        Raises:
            EmitError: something was emitted for a row behind them.
        """
        emitted, self._emitted, self._count = self._emitted, [], None
        used = [one for one in emitted if one.port.is_used]
        with self._buffer.guard:  # rows and marks must be of the same moment
            before = len(self._buffer)
            if len(used) == 1 and used[0].ends is not None:
                marks = used[0].ends[:done]
                if len(used[0].rows) > (marks[-1] if done else 0):
                    raise _behind(done)
                self._put(used[0].port, used[0].rows)
            else:
                marks = self._put_in_order(used, done)
            self.marks.extend(marks, before)
        for one in emitted:
            if not one.port.is_used:
                self._put(one.port, one.rows)
        self._mutable = False

    def pass_over(self, count: int) -> None:
        """So many further rows have failed, and nothing was emitted for them."""
        with self._buffer.guard:
            self.marks.extend(array("I", repeat(0, count)), len(self._buffer))

    def drop(self) -> None:
        """The call has failed, and nothing that it has emitted is to be seen."""
        self._emitted, self._mutable, self._count = [], False, None

    def _rows_of(self, port: Port, rows: Sequence[Any]) -> list[Row]:
        given = rows if type(rows) is list else list(rows)
        made: list[Row] = []
        while (index := plain_rows(given, self._buffer.arity_of(port), len(made), made)) < len(given):
            made.append(self._row_of(port, given[index]))
            self._mutable = self._mutable or not is_shareable(made[-1])
        return made

    def _put(self, port: Port, rows: list[Row]) -> None:
        self._buffer.extend(port, rows, self._mutable)

    def _put_in_order(self, emitted: Sequence[_Emitted], done: int) -> array[int]:
        """Append what several emits have brought: by input, then by emit, then within an emit."""
        inputs: list[int] = []
        rows: list[tuple[Port, Row]] = []
        for one in emitted:
            inputs += one.inputs()
            rows += zip(repeat(one.port), one.rows)
        order = sorted(range(len(rows)), key=inputs.__getitem__)
        if order and inputs[order[-1]] >= done:
            raise _behind(done)
        marks = array("I", ends([inputs[index] for index in order], done) or b"")
        for index in order:
            port, row = rows[index]
            self._put(port, [row])
        return marks


def _by_inputs(port: Port, rows: list[Row], of: Sequence[int] | None, count: int) -> _Emitted:
    if of is None:
        if len(rows) != count:
            raise EmitError(
                f"emit_rows of {len(rows):,} tuples for {count:,} rows in process: say with of= or ends= "
                "which row each belongs to; it may be left out only where there is one for each"
            )
        return _Emitted(port, rows, array("I", range(1, count + 1)), ())
    if len(of) != len(rows):
        raise EmitError(f"emit_rows of {len(rows):,} tuples with of= of {len(of):,}: expected one for each")
    try:
        made = ends(of, count)
    except IndexError as error:
        raise EmitError(f"emit_rows: {error}") from None
    return _Emitted(port, rows, None if made is None else array("I", made), () if made else tuple(of))


def _checked(given: Sequence[int], size: int, count: int) -> array[int]:
    try:
        made = given if isinstance(given, array) and given.typecode == "I" else array("I", given)
    except (OverflowError, TypeError) as error:
        raise EmitError(f"emit_rows: ends= are counts from 0: {error}") from None
    if len(made) > count:
        raise EmitError(f"emit_rows with {len(made):,} ends for {count:,} rows in process")
    if sorted(made) != list(made) or (made[-1] if made else 0) != size:
        raise EmitError(
            f"emit_rows of {size:,} tuples: ends= must ascend, and the last must be the number of tuples"
        )
    return made if len(made) == count else made + array("I", repeat(size, count - len(made)))


def _behind(done: int) -> EmitError:
    return EmitError(f"emit_rows for a row behind row {done}, which a RowError says could not be processed")
