"""The positions of what a task emits for its inputs, in whatever portions these are processed."""

from __future__ import annotations

from typing import Any, Final

from viper._backend import ffi, lib
from viper.errors import PositionError
from viper.fanout import Fanout
from viper.position import LEAST, Level, Position, Positions, c_level, c_position, position_of

_ENDS: Final = ffi.typeof("uint32_t[]")
_KEPT: Final = ffi.typeof("uint64_t[]")
NULL: Final = ffi.NULL


class Descent:
    """Places outputs below their inputs, one C call for each portion.

    Outputs below one position are numbered consecutively, however many portions they come in.
    """

    __slots__ = ("_c_level", "_level", "_lineage", "_outputs", "_place")

    def __init__(self) -> None:
        least = c_position(LEAST)
        self._lineage: Any = ffi.new("vp_lineage *", (least, 0, least))
        self._outputs: Any = ffi.new("vp_outputs *")
        self._place: Final = lib.vp_lineage_place
        self._level: Level | None = None
        self._c_level: Any = None

    @property
    def parent(self) -> Position:
        """The position below which outputs were placed last; the least one before the first."""
        return position_of(self._lineage.parent)

    @property
    def children(self) -> int:
        """The number of outputs that were placed below it so far."""
        return int(self._lineage.children)

    def noted(self) -> tuple[tuple[int, int, int], int]:
        """The parent as a plain tuple, and the number of its children."""
        parent = self._lineage.parent
        return (parent.ts, parent.hi, parent.lo), self._lineage.children

    @property
    def floor(self) -> Position:
        """The least position of an output."""
        return position_of(self._lineage.floor)

    def stay_above(self, floor: Position) -> None:
        """From now on, place at a position what would lie below it."""
        self._lineage.floor = c_position(floor)

    def go_below(self, parent: Position, children: int) -> None:
        """Note that so many outputs have been placed below a position, by other means than `place`."""
        self._lineage.parent, self._lineage.children = c_position(parent), children

    def place(self, inputs: Positions, first: int, fanout: Fanout, level: Level, out: Positions) -> int:
        """Append the positions of what was emitted for the inputs from index `first` on.

        Args:
            inputs: their positions, not descending.
            first: index of the first of them.
            fanout: how many outputs each of them had.
            level: where this hop writes.
            out: the positions are appended here, none below the floor.

        Returns:
            How many outputs had no room for their place, as `Positions.extend_children` does.

        Raises:
            IndexError: there are not that many inputs.
            PositionError: ends that descend.
        """
        count = fanout.inputs
        if not count:
            return 0
        if not 0 <= first <= inputs._handle.length - count:
            raise IndexError(f"[{first}, {first + count}) out of range: there are {len(inputs)} positions")
        if level is not self._level:
            # As a structure: a tuple would be converted at each call, which takes as long as all else.
            self._level, self._c_level = level, ffi.new("vp_level *", c_level(level))[0]
        outputs, ends, kept = self._outputs, fanout.told_ends, fanout.kept
        # Both are kept till after the call.
        outputs.ends = c_ends = NULL if ends is None else ffi.from_buffer(_ENDS, ends)
        outputs.kept = c_kept = NULL if kept is None else ffi.from_buffer(_KEPT, kept)
        saturated: int = self._place(
            self._lineage, out._handle, inputs._handle, first, count, outputs, self._c_level
        )
        if saturated < 0:
            raise _error(saturated, c_ends)
        del c_kept
        return saturated


def _error(code: int, ends: Any) -> Exception:
    if code == lib.VP_ENDS_DESCEND:
        return PositionError(f"ends {list(ends)!r:.200}: expected none to be smaller than the one before")
    return MemoryError("no memory for more positions")
