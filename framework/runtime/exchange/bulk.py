"""What a batch bolt emits while it processes rows: gathered until its call returns, and then put in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.model.errors import EmitError
from framework.runtime.exchange.buffer import EmitBuffer
from framework.runtime.exchange.emitted import Emitted, in_order
from framework.runtime.exchange.output import Port
from viper.fanout import Fanout
from viper.payload import Payload, Row, Rows
from viper.rows import plain_rows
from viper.values import is_shareable

if TYPE_CHECKING:
    from viper.columns.lease import Lease
    from viper.columns.payload import Columns

_OF_NO_INPUT: Final = Fanout(0)


class Marks:
    """Says of the rows in process how many outputs there are after each, all together.

    It stands in for a `viper.rows.Inbox`, which says so of single tuples.
    """

    open = False
    """Whether the last of them is still in process; outputs of such a one are not in the buffer yet."""

    def __init__(self) -> None:
        self._fanout: Fanout | None = None

    def extend(self, fanout: Fanout, before: int) -> None:
        """Append the marks of further inputs.

        Args:
            fanout: how many outputs each of them had.
            before: how many outputs were in the buffer before theirs.
        """
        own = self._fanout
        if own is None and not before:
            self._fanout = fanout  # that of one call, most often
        else:
            self._fanout = (own or Fanout(0)).followed_by(fanout, before)

    def cut(self) -> Fanout:
        """How many outputs each input since the last call has had."""
        fanout, self._fanout = self._fanout, None
        return fanout or _OF_NO_INPUT


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
        self._emitted: list[Emitted] = []
        self._count: int | None = None
        self._made: Sequence[Any] = ()
        self._lease: Lease | None = None

    @property
    def is_open(self) -> bool:
        """Whether rows are in process, so that each output has to say which of them it belongs to."""
        return self._count is not None

    def begin(self, count: int, made: Sequence[Any] = (), lease: Lease | None = None) -> None:
        """So many rows come next, of which these batches will be made.

        Args:
            count: how many.
            made: the batches.
            lease: what the rows' memory is lent by, in which no output may lie; None where it may be kept.
        """
        self._count = count
        self._made = made
        self._lease = lease

    def has_made(self, batch: Any) -> bool:
        """Whether a batch was made of the rows in process, so that nobody can write to its memory."""
        return any(batch is made for made in self._made)

    def add(self, port: Port, rows: Sequence[Any], of: Any, ends: Sequence[int] | None) -> None:
        """Take the rows of one emit.

        Raises:
            EmitError: a row belongs to no input, or cannot be emitted.
            TypeError: a row is neither list nor tuple.
        """
        self._add(port, self._rows_of(port, rows), of, ends)

    def add_columns(self, port: Port, columns: Columns, of: Any, ends: Sequence[int] | None) -> None:
        """Take the columns of one emit.

        Raises:
            EmitError: a tuple belongs to no input.
        """
        if self._lease is not None:
            columns = columns.apart_from(self._lease, alike=self.has_made(columns.batch))
        self._add(port, columns, of, ends)

    def _add(self, port: Port, payload: Payload, of: Any, ends: Sequence[int] | None) -> None:
        if self._count is not None:
            self._emitted.append(Emitted.made(port, payload, of, ends, self._count))
        elif of is None and ends is None:
            self._put(port, payload)
        else:
            raise EmitError("emit_rows takes of and ends in process_rows only, where rows are in process")

    def finish(self, done: int) -> None:
        """The first `done` rows have been processed: append what was emitted for them to the buffer.

        Raises:
            EmitError: something was emitted for a row behind them.
        """
        emitted = self._closed()
        if not emitted:
            self.pass_over(done)
            return
        parts, fanout = in_order([one for one in emitted if one.port.is_used], done)
        with self._buffer.guard:  # what was emitted and its marks must be of the same moment
            before = len(self._buffer)
            # Columns alone make an emission of their own, which the marks belong to.
            whole = not before and len(parts) == 1
            for port, payload in parts:
                self._put(port, payload if whole else Rows(payload.rows, payload.mutable))
            self.marks.extend(fanout, before)
        for one in emitted:
            if not one.port.is_used:
                self._put(one.port, one.payload)

    def pass_over(self, count: int) -> None:
        """So many further rows have been processed or have failed, and nothing was emitted for them."""
        with self._buffer.guard:
            self.marks.extend(Fanout.of_none(count), len(self._buffer))

    def drop(self) -> None:
        """The call has failed, and nothing that it has emitted is to be seen."""
        self._closed()

    def _closed(self) -> list[Emitted]:
        """What was emitted for the rows in process, of which there are none from now on."""
        emitted, self._emitted, self._count = self._emitted, [], None
        self._made, self._lease = (), None
        return emitted

    def _rows_of(self, port: Port, rows: Sequence[Any]) -> Rows:
        given = rows if type(rows) is list else list(rows)
        codes = () if port.form is None else (port.form.codes,)
        arity, mutable = self._buffer.arity_of(port), False
        made: list[Row] = []
        while (index := plain_rows(given, arity, len(made), made, *codes)) < len(given):
            made.append(self._row_of(port, given[index]))
            mutable = mutable or not is_shareable(made[-1])
        return Rows(made, mutable)

    def _put(self, port: Port, payload: Payload) -> None:
        if isinstance(payload, Rows):
            self._buffer.extend(port, payload.rows, payload.mutable)
        else:
            self._buffer.put(port, payload)
