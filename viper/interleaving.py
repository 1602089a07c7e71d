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
        firsts: for each the index of the next position that is taken, as array("Q"); these go on.
        order: the index of each position's array, as array("H").
        into: they are appended here.

    Raises:
        PositionError: an array has fewer positions than are taken of it, or there is no such array.
        MemoryError: there is no memory for more positions; nothing has changed.
    """
    if len(firsts) != len(sources) or firsts.typecode != "Q" or order.typecode != "H":
        raise PositionError(f"expected {len(sources)} firsts as array('Q'), and an order as array('H')")
    if order and max(order) >= len(sources):
        raise PositionError(f"source {max(order)}: there are {len(sources)}")
    for number, (source, first) in enumerate(zip(sources, firsts, strict=True)):
        if first + (taken := order.count(number)) > len(source):
            raise PositionError(f"{taken} positions of source {number}: it has {len(source) - first} more")
    from_c = ffi.new("vp_positions *[]", [source._handle for source in sources])
    failed = lib.vp_positions_interleave(
        into._handle,
        from_c,
        ffi.from_buffer("uint64_t[]", firsts),
        len(sources),
        ffi.from_buffer("uint16_t[]", order),
        len(order),
    )
    if failed:
        raise MemoryError("no memory for more positions")
