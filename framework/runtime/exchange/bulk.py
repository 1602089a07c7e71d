"""The emits of a batch bolt while it processes rows: gathered until its call returns, then put in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from framework.model.errors import EmitError
from framework.runtime.exchange.buffer import EmitBuffer
from framework.runtime.exchange.output import Port
from viper.columns.selecting import Kept
from viper.lineage import Fanout
from viper.payload import Payload, Row, Rows, is_shareable
from viper.rows import are_ends, ends, plain_rows

if TYPE_CHECKING:
    from viper.columns.lease import Lease
    from viper.columns.payload import Columns

_OF_NO_INPUT: Final = Fanout(0)


class Marks:
    """Marks with the number of outputs after each row in process, all together.

    It takes the place of a `viper.rows.Inbox`, which has such marks for single tuples.
    """

    open = False
    """True if the last row is still in process; its outputs are not in the buffer yet."""

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
        """The number of outputs of each input since the last call."""
        fanout, self._fanout = self._fanout, None
        return _OF_NO_INPUT if fanout is None else fanout


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
        self._known: list[Row] | None = None

    @property
    def is_open(self) -> bool:
        """True if rows are in process, so that each output has to say which of them it belongs to."""
        return self._count is not None

    def begin(
        self,
        count: int,
        made: Sequence[Any] = (),
        lease: Lease | None = None,
        known: list[Row] | None = None,
    ) -> None:
        """Prepare for so many rows, of which these batches will be made.

        Args:
            count: how many.
            made: the batches.
            lease: what the rows' memory is lent by, in which no output may lie; None where it may be kept.
            known: the rows, where nobody can change their values; those that are emitted as they came are not
                looked at again. A filter of records of 100 values takes 691 ns a record in place of 831.
        """
        self._count, self._known = count, known
        self._made = made
        self._lease = lease

    def has_made(self, batch: Any) -> bool:
        """True if a batch was made of the rows in process, so that nobody can write to its memory."""
        return any(map(is_, self._made, repeat(batch)))

    def add(self, port: Port, rows: Sequence[Any] | Rows, of: Any, ends: Sequence[int] | None) -> None:
        """Take the rows of one emit; in a payload they go on as they are, where nobody can change them.

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
        """Append the output of the first `done` rows, which have been processed, to the buffer.

        Raises:
            EmitError: something was emitted for a row behind them.
        """
        emitted = self._closed()
        if not emitted:
            self.pass_over(done)
            return
        if self._is_whole(emitted, done):
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

    def _is_whole(self, emitted: Sequence[Emitted], done: int) -> bool:
        """Append the output of one emit for all rows; return False where there is anything else.

        Most batch bolts emit once. This takes a third of the calls that putting several in order takes.
        """
        one = emitted[0]
        if len(emitted) > 1 or one.fanout is None or one.fanout.inputs != done or not one.port.is_used:
            return False
        with self._buffer.guard:
            if len(self._buffer):
                return False
            self._put(one.port, one.payload)
            self.marks.extend(one.fanout, 0)
        return True

    def pass_over(self, count: int) -> None:
        """Note that so many further rows have been processed or have failed, without any output."""
        with self._buffer.guard:
            self.marks.extend(Fanout.of_none(count), len(self._buffer))

    def drop(self) -> None:
        """Drop the output of a call that has failed."""
        self._closed()

    def _closed(self) -> list[Emitted]:
        """The emits for the rows in process, of which there are none from now on."""
        emitted, self._emitted, self._count = self._emitted, [], None
        self._made, self._lease, self._known = (), None, None
        return emitted

    def _rows_of(self, port: Port, rows: Sequence[Any] | Rows) -> Rows:
        if isinstance(rows, Rows) and self._is_emitted(port, rows):
            return rows
        given: list[Any] = rows if type(rows) is list else list(rows)
        codes, known = (None, self._known) if port.form is None else (port.form.codes, None)
        arity, mutable = self._buffer.arity_of(port), False
        made: list[Row] = []
        while (index := plain_rows(given, arity, len(made), made, codes, known)) < len(given):
            known = None  # it would be searched from its first row on again
            made.append(self._row_of(port, given[index]))
            mutable = mutable or not is_shareable(made[-1])
        return Rows(made, mutable)

    def _is_emitted(self, port: Port, rows: Rows) -> bool:
        """True if the rows are what an emit of them would make.

        The steps of functions have looked at each value when it came. A record that passes four of them takes
        4,980 instructions with a second look and a copy of the list, and 4,520 without.
        """
        return rows.sealed and port.form is None and rows.have(self._buffer.arity_of(port))

    def _put(self, port: Port, payload: Payload) -> None:
        if isinstance(payload, Rows) and not payload.sealed:
            self._buffer.extend(port, payload.rows, payload.mutable)
        else:
            self._buffer.put(port, payload)


@dataclass(slots=True)
class Emitted:
    """The tuples of one emit; it is never changed, which is not enforced, as that takes 1 us for each."""

    port: Port
    payload: Payload
    fanout: Fanout | None
    """The number of these tuples of each input; None where they do not come by their inputs."""
    of: Sequence[int]
    """The input of each tuple, where there is no fanout."""

    @classmethod
    def made(cls, port: Port, payload: Payload, of: Any, given_ends: Any, count: int) -> Emitted:
        """The tuples of an emit, and what it says of their inputs.

        Args:
            port: the stream.
            payload: the tuples.
            of: the input of each; None where the emit does not say it.
            given_ends: the number of tuples after each input; likewise.
            count: how many inputs there are.

        Raises:
            EmitError: it says neither, and there is not one tuple for each input; or it says what cannot be.
        """
        if given_ends is not None:
            return cls(port, payload, Fanout.of_ends(_checked(given_ends, len(payload), count)), ())
        size = len(payload)
        if of is None:
            if size != count:
                raise EmitError(
                    f"emit_rows of {size:,} tuples for {count:,} rows in process: say with of= or "
                    "ends= which row each belongs to; it may be left out only where there is one for each"
                )
            return cls(port, payload, Fanout(count), ())
        if hasattr(of, "to_numpy"):  # an Arrow array
            of = of.to_numpy()
        if len(of) != size:
            raise EmitError(f"emit_rows of {size:,} tuples with of= of {len(of):,}: expected one for each")
        if isinstance(of, Kept) and of.rows == count:
            return cls(port, payload, of.fanout, ())
        try:
            made = ends(of, count)
        except IndexError as error:
            raise EmitError(f"emit_rows: {error}") from None
        if made is None:
            return cls(port, payload, None, array("I", of))
        return cls(port, payload, Fanout.of_ends(made), ())

    def inputs(self) -> Sequence[int]:
        """The input of each tuple."""
        if self.fanout is None:
            return self.of
        made = array("I")
        before = 0
        for index, end in enumerate(self.fanout.ends):
            made.extend(repeat(index, end - before))
            before = end
        return made


def in_order(emitted: Sequence[Emitted], count: int) -> tuple[list[tuple[Port, Payload]], Fanout]:
    """The rows of several emits: by input, then by emit, then within an emit.

    Columns stay columns where all emits are of one stream.

    Returns:
        The tuples, and how many each of `count` inputs has.

    Raises:
        EmitError: a tuple belongs to an input behind them.
    """
    if not emitted:
        return [], Fanout.of_none(count)
    if len(emitted) == 1 and (whole := emitted[0].fanout) is not None:
        fanout = whole.first(count)
        if fanout is not whole and len(emitted[0].payload) > (fanout.ends[-1] if count else 0):
            raise _behind(count)
        return [(emitted[0].port, emitted[0].payload)], fanout
    inputs = array("I")
    for one in emitted:
        inputs.extend(one.inputs())
    order = array("I", sorted(range(len(inputs)), key=inputs.__getitem__))
    if order and inputs[order[-1]] >= count:
        raise _behind(count)
    made = ends(array("I", map(inputs.__getitem__, order)), count) or b""
    return _ordered(emitted, order), Fanout.of_ends(made)


def _ordered(emitted: Sequence[Emitted], order: array[int]) -> list[tuple[Port, Payload]]:
    if all(one.port is emitted[0].port for one in emitted):
        joined = emitted[0].payload
        for one in emitted[1:]:
            joined = joined.joined(one.payload)
        return [(emitted[0].port, joined.ordered(order))]
    rows = [(one.port, row) for one in emitted for row in one.payload.rows]
    mutable = any(one.payload.mutable for one in emitted)
    runs = groupby(map(rows.__getitem__, order), key=lambda pair: pair[0].tag)
    ports = {one.port.tag: one.port for one in emitted}
    return [(ports[tag], Rows([row for _, row in run], mutable)) for tag, run in runs]


def _checked(given: Any, size: int, count: int) -> array[int]:
    made = array("I")  # of its own, as the component may go on with what it has given
    try:
        if _is_plain(given):  # else each number is made an int
            made.frombytes(given.tobytes())
        else:
            made.extend(given)
    except (OverflowError, TypeError) as error:
        raise EmitError(f"emit_rows: ends= are counts from 0: {error}") from None
    if len(made) > count:
        raise EmitError(f"emit_rows with {len(made):,} ends for {count:,} rows in process")
    if not are_ends(made, size):
        raise EmitError(
            f"emit_rows of {size:,} tuples: ends= must ascend, and the last must be the number of tuples"
        )
    made.extend(repeat(size, count - len(made)))
    return made


def _is_plain(given: Any) -> bool:
    """True if it is an array of NumPy's or a memoryview of native uint32."""
    kind = given.format if isinstance(given, memoryview) else getattr(given, "dtype", None)
    return kind == "I" and hasattr(given, "tobytes") and given.ndim == 1


def _behind(done: int) -> EmitError:
    return EmitError(f"emit_rows for a row behind row {done}, which a RowError says could not be processed")
