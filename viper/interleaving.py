"""Positions of several sources in one order, which somebody has found."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from viper._backend import ffi, lib
from viper.errors import PositionError
from viper.position import Positions


def interleave_positions(
    sources: Sequence[Positions], firsts: array[int], order: array[int], into: Positions
) -> None:
    """Append the positions of several arrays in one order.

    Args:
        sources: the arrays.
        firsts: for each the index of the next position that is taken, as array("Q"); these advance.
        order: the index of each position's array, as array("H").
        into: they are appended here.

    Raises:
        PositionError: an array has fewer positions than are taken of it, or there is no such array.
        MemoryError: there is no memory for more positions; nothing has changed.
    """
    if len(firsts) != len(sources) or firsts.typecode != "Q" or order.typecode != "H":
        raise PositionError(f"expected {len(sources)} firsts as array('Q'), and an order as array('H')")
    from_c = ffi.new("vp_positions *[]", [source._handle for source in sources])
    failed = lib.vp_positions_interleave(
        into._handle,
        from_c,
        ffi.from_buffer("uint64_t[]", firsts),
        len(sources),
        ffi.from_buffer("uint16_t[]", order),
        len(order),
    )
    if failed == lib.VP_OUT_OF_RANGE:
        raise PositionError(_too_many(sources, firsts, order))
    if failed:
        raise MemoryError("no memory for more positions")


def _too_many(sources: Sequence[Positions], firsts: array[int], order: array[int]) -> str:
    for number in sorted(set(order)):
        if number >= len(sources):
            return f"source {number}: there are {len(sources)}"
        left = len(sources[number]) - firsts[number]
        if (taken := order.count(number)) > left:
            return f"{taken} positions of source {number}: it has {left} more"
    return "the order takes more positions than there are"
