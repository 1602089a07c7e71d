"""The number of outputs of each input (`Fanout`), and the positions of these outputs (`Descent`).

The positions are the same in whatever portions the inputs are processed.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from viper._backend import ffi, lib
from viper.errors import PositionError
from viper.position import LEAST, Level, Position, Positions, c_level, c_position, position_of
from viper.rows import ends_of_bits

if TYPE_CHECKING:
    from typing_extensions import Buffer

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
        outputs, ends, kept = self._outputs, fanout._ends, fanout.kept
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


_WORD: Final = 8
"""Bytes that hold the bits of 64 inputs."""
_NOTHING: Final = memoryview(array("I"))
# Made once, as counting takes 20 ns each; never changed, but replaced by others, perhaps in another thread.
_ones = _zeros = _NOTHING


class Fanout:
    """The number of outputs of each of some inputs, in the shortest of three forms; it is never changed.

    If each has one, that takes no memory; if each has one at most, a bit for each. A filter of 16,384 rows
    spent 30 us on numbers of 4 bytes that said so.

    Args:
        inputs: how many inputs there are.
        kept: the inputs that have one, by bits as native uint64 from the lowest upwards; None where each has.
        ends: in its place, for each input the number of outputs up to its own, that included, as uint32.

    Raises:
        ValueError: these are not as many as the inputs, and C would read beyond them.
    """

    __slots__ = ("_ends", "inputs", "kept")

    def __init__(self, inputs: int, kept: Buffer | None = None, ends: memoryview[int] | None = None) -> None:
        if kept is not None and (size := memoryview(kept).nbytes) < (inputs + 63) // 64 * _WORD:
            raise ValueError(f"{size} bytes of bits for {inputs} inputs: expected whole words of {_WORD}")
        if ends is not None and len(ends) != inputs:
            raise ValueError(f"{len(ends)} ends for {inputs} inputs")
        self.inputs = inputs
        """The number of inputs."""
        self.kept: Any = kept
        """As given."""
        self._ends = ends

    @classmethod
    def of_ends(cls, ends: Buffer) -> Fanout:
        """By the number of outputs up to each input, as native uint32 that nobody changes."""
        numbers = memoryview(ends).cast("B").cast("I")
        return cls(len(numbers), None, numbers)

    @classmethod
    def of_none(cls, inputs: int) -> Fanout:
        """Of inputs that have no output."""
        global _zeros
        zeros = _zeros
        if len(zeros) < inputs:
            zeros = _zeros = memoryview(bytes(8 * inputs)).cast("I")
        return cls(inputs, None, zeros[:inputs])

    @property
    def told_ends(self) -> memoryview[int] | None:
        """The ends, where it has this form."""
        return self._ends

    @property
    def ends(self) -> memoryview[int]:
        """For each input the number of outputs up to and including its own, as uint32."""
        if self._ends is not None:
            return self._ends
        if self.kept is None:
            return _one_each(self.inputs)
        return memoryview(ends_of_bits(self.kept, self.inputs)).cast("I")

    def first(self, inputs: int) -> Fanout:
        """That of so many of the inputs, from the first on."""
        if inputs == self.inputs:
            return self
        return Fanout(inputs) if self._is_one_each else Fanout(inputs, None, self.ends[:inputs])

    def followed_by(self, other: Fanout, before: int) -> Fanout:
        """That of these inputs and of others after them, which have `before` outputs before theirs."""
        made = array("I", self.ends)
        made.extend(other.ends if not before else map(before.__add__, other.ends))
        return Fanout(len(made), None, memoryview(made))

    @property
    def _is_one_each(self) -> bool:
        return self._ends is None and self.kept is None

    def __len__(self) -> int:
        return self.inputs

    def __repr__(self) -> str:
        ends = self.ends
        return f"Fanout({self.inputs} inputs, {ends[-1] if ends else 0} outputs)"


def _one_each(inputs: int) -> memoryview[int]:
    """1, 2, 3, ..."""
    global _ones
    ones = _ones
    if len(ones) < inputs:
        ones = _ones = memoryview(array("I", range(1, 2 * inputs + 1))).toreadonly()
    return ones[:inputs]
