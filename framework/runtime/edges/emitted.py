"""What one call of a batch bolt has emitted, by its inputs, and how several such emits are put in order."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import Any

from framework.errors import EmitError
from framework.runtime.edges.output import Port
from viper.columns.kept import Kept
from viper.payload import Payload, Rows
from viper.rows import are_ends, ends


@dataclass(frozen=True, slots=True)
class Emitted:
    """The tuples of one emit."""

    port: Port
    payload: Payload
    ends: memoryview[int] | None
    """For each input the number of these tuples after it, as uint32 that nobody changes; None where they do
    not come by their inputs."""
    of: Sequence[int]
    """The input of each tuple, where there are no ends."""

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
            return cls(port, payload, _checked(given_ends, len(payload), count), ())
        size = len(payload)
        if of is None:
            if size != count:
                raise EmitError(
                    f"emit_rows of {size:,} tuples for {count:,} rows in process: say with of= or "
                    "ends= which row each belongs to; it may be left out only where there is one for each"
                )
            return cls(port, payload, one_for_each(count), ())
        if hasattr(of, "to_numpy"):  # an Arrow array
            of = of.to_numpy()
        if len(of) != size:
            raise EmitError(
                f"emit_rows of {size:,} tuples with of= of {len(of):,}: expected one for each"
            )
        if isinstance(of, Kept) and of.rows == count:
            return cls(port, payload, of.ends, ())
        try:
            made = ends(of, count)
        except IndexError as error:
            raise EmitError(f"emit_rows: {error}") from None
        if made is None:
            return cls(port, payload, None, array("I", of))
        return cls(port, payload, _numbers(made), ())

    def inputs(self) -> Sequence[int]:
        """The input of each tuple."""
        if self.ends is None:
            return self.of
        made = array("I")
        before = 0
        for index, end in enumerate(self.ends):
            made.extend(repeat(index, end - before))
            before = end
        return made


def in_order(
    emitted: Sequence[Emitted], count: int
) -> tuple[list[tuple[Port, Payload]], memoryview[int]]:
    """What several emits have brought: by input, then by emit, then within an emit.

    Columns stay columns where all emits are of one stream.

    Returns:
        The tuples, and how many there are after each of `count` inputs, as uint32.

    Raises:
        EmitError: a tuple belongs to an input behind them.
    """
    if not emitted:
        return [], none_for_each(count)
    if len(emitted) == 1 and (found := emitted[0].ends) is not None:
        if len(emitted[0].payload) > (found[count - 1] if count else 0):
            raise _behind(count)
        return [(emitted[0].port, emitted[0].payload)], found[:count]
    inputs = array("I")
    for one in emitted:
        inputs.extend(one.inputs())
    order = array("I", sorted(range(len(inputs)), key=inputs.__getitem__))
    if order and inputs[order[-1]] >= count:
        raise _behind(count)
    marks = _numbers(ends(array("I", map(inputs.__getitem__, order)), count) or b"")
    return _ordered(emitted, order), marks


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


# Made once, as counting takes 20 ns each; never changed, but replaced by others, perhaps in another thread.
_ones = _zeros = memoryview(array("I"))


def one_for_each(count: int) -> memoryview[int]:
    """The ends of inputs with one tuple each: 1, 2, 3, ..."""
    global _ones
    ones = _ones
    if len(ones) < count:
        ones = _ones = memoryview(array("I", range(1, 2 * count + 1))).toreadonly()
    return ones[:count]


def none_for_each(count: int) -> memoryview[int]:
    """The ends of inputs without a tuple: 0, 0, 0, ..."""
    global _zeros
    zeros = _zeros
    if len(zeros) < count:
        zeros = _zeros = memoryview(bytes(8 * count)).cast("I")
    return zeros[:count]


def _checked(given: Any, size: int, count: int) -> memoryview[int]:
    try:
        made = array("I", given)  # of its own, as the component may go on with what it has given
    except (OverflowError, TypeError) as error:
        raise EmitError(f"emit_rows: ends= are counts from 0: {error}") from None
    if len(made) > count:
        raise EmitError(f"emit_rows with {len(made):,} ends for {count:,} rows in process")
    if not are_ends(made, size):
        raise EmitError(
            f"emit_rows of {size:,} tuples: ends= must ascend, and the last must be the number of tuples"
        )
    made.extend(repeat(size, count - len(made)))
    return memoryview(made)


def _numbers(ends: bytes) -> memoryview[int]:
    return memoryview(ends).cast("I")


def _behind(done: int) -> EmitError:
    return EmitError(f"emit_rows for a row behind row {done}, which a RowError says could not be processed")
