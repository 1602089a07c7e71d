"""What one call of a batch bolt has emitted, by its inputs, and how several such emits are put in order."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import Any

from framework.model.errors import EmitError
from framework.runtime.exchange.output import Port
from viper.columns.kept import Kept
from viper.fanout import Fanout
from viper.payload import Payload, Rows
from viper.rows import are_ends, ends


@dataclass(frozen=True, slots=True)
class Emitted:
    """The tuples of one emit."""

    port: Port
    payload: Payload
    fanout: Fanout | None
    """How many of these tuples each input has; None where they do not come by their inputs."""
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
    """What several emits have brought: by input, then by emit, then within an emit.

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
    return made


def _behind(done: int) -> EmitError:
    return EmitError(f"emit_rows for a row behind row {done}, which a RowError says could not be processed")
