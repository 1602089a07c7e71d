"""Positions: where a tuple stands in the one order that all tasks agree on.

A position is a timestamp and a path of 128 bits, compared in that order. The path says where the
tuple descends from; each hop of a topology writes into the bits of its own `Level`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from viper._backend import ffi, lib
from viper.errors import PositionError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WORD = 2**64 - 1
UNTOLD: Final = 2**63 - 1
"""In the place of a last event time: nobody has said where that is, so it is where positions are."""


class Position(NamedTuple):
    """A place in the order; positions compare as the tuples that they are."""

    ts: int
    """Timestamp, a signed 64-bit integer in the unit that the topology chose."""
    hi: int
    """Upper 64 bits of the path."""
    lo: int
    """Lower 64 bits of the path."""


LEAST: Final = Position(-(2**63), 0, 0)
"""Not above any tuple: how far a source is that has not spoken."""
END: Final = Position(2**63 - 1, _WORD, _WORD)
"""Above every tuple: how far a source is that has closed. No tuple may have it."""


@dataclass(frozen=True, slots=True)
class Level:
    """The bits of a path that one hop writes: a tag above an ordinal.

    Raises:
        PositionError: a width out of range, or the level does not fit into 128 bits.
    """

    offset: int
    """Lowest bit of the ordinal, counted from the end of the path."""
    ordinal_bits: int
    """Width of the ordinal, at most 63; its greatest value is reserved for what does not fit."""
    tag_bits: int
    """Width of the tag, at most 63."""
    tag: int
    """It names the emitter. One wider than `tag_bits` leaves no room: outputs are placed by saturation."""

    def __post_init__(self) -> None:
        fits = self.offset + self.ordinal_bits + self.tag_bits <= 128
        if not (fits and self.offset >= 0 and 0 <= self.ordinal_bits < 64 and 0 <= self.tag_bits < 64):
            raise PositionError(
                f"{self!r}: expected widths from 0 to 63 that fit, from the offset upwards, into 128 bits"
            )
        if not 0 <= self.tag <= _WORD:
            raise PositionError(f"{self!r}: expected a tag from 0 to 2**64 - 1")


def c_position(position: Position) -> tuple[int, int, int, int]:
    """A position as C takes it: with all its three numbers, in their range, and in no tree.

    The fourth has to be given: what is left out of a structure that goes by value is not set at all.

    Raises:
        PositionError: it is not one.
    """
    try:
        ts, hi, lo = position
        fits = not ((hi | lo) >> 64 or (ts - LEAST.ts) >> 64)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise PositionError(
            f"{position!r:.200}: expected a ts of 64 bits, signed, and two words of 64 bits, unsigned"
        )
    return (ts, hi, lo, 0)


def position_of(found: Any) -> Position:
    """A position that C has."""
    # Not Position(...), which calls a function of Python's.
    return _new(Position, (found.ts, found.hi, found.lo))


_new: Final = tuple.__new__
_extend: Final = lib.vp_positions_extend
_PACKED: Final = 24
"""Bytes of a position without its tree."""


class SourceClock:
    """The state of a source of timestamped tuples between calls of `Positions.extend_timed`."""

    def __init__(self) -> None:
        self._handle: Any = ffi.new("vp_clock *", {"ts": LEAST.ts})

    @property
    def ts(self) -> int:
        """Timestamp of the latest tuple; the least integer before the first."""
        return int(self._handle.ts)

    @property
    def overflowed(self) -> int:
        """The number of tuples for whose place no room was left among those of the same timestamp."""
        return int(self._handle.overflowed)

    def save(self) -> tuple[int, int, int]:
        """All that it remembers."""
        return int(self._handle.ts), int(self._handle.ordinal), int(self._handle.overflowed)

    def restore(self, noted: tuple[int, int, int]) -> None:
        """Go on from what was noted."""
        self._handle.ts, self._handle.ordinal, self._handle.overflowed = noted

    def advance(self, ts: int) -> None:
        """Go on to a timestamp later than the latest: the next tuple gets this one or a later one."""
        self._handle.ts, self._handle.ordinal = ts, 0

    def leave_out(self) -> None:
        """Leave out a place among those of the latest timestamp."""
        self._handle.ordinal += 1

    def next_position(self, level: Level) -> Position:
        """The least position that a further tuple can get."""
        ahead = SourceClock()
        ahead._handle[0] = self._handle[0]
        positions = Positions()
        positions.extend_timed(array("q", [self.ts]), ahead, level)
        return positions.last()


class Positions:
    """A growable array of positions in C memory.

    Beside its place each has the tree of tracked tuples that it belongs to, 0 for none (see `viper.forest`).
    One that is appended as a `Position` has none; all others keep their own or inherit it.

    A method that appends to it raises MemoryError if there is no memory, and leaves it as it was.
    """

    __slots__ = ("_handle",)

    def __init__(self) -> None:
        handle = lib.vp_positions_new()
        if not handle:
            raise MemoryError("no memory for an array of positions")
        self._handle: Any = ffi.gc(handle, lib.vp_positions_free)

    def __len__(self) -> int:
        return int(self._handle.length)

    def __getitem__(self, index: int) -> Position:
        return position_of(lib.vp_positions_at(self._handle, self._place(index)))

    def part(self, first: int, count: int) -> list[Position]:
        """So many positions from an index on; fewer where there are no more."""
        end = min(first + count, len(self))
        return [position_of(lib.vp_positions_at(self._handle, index)) for index in range(first, end)]

    def _place(self, index: int) -> int:
        length = int(self._handle.length)
        place = index + length if index < 0 else index
        if not 0 <= place < length:
            raise IndexError(f"index {index} out of range: there are {length} positions")
        return place

    def __iter__(self) -> Iterator[Position]:
        for index in range(len(self)):
            yield self[index]

    def __repr__(self) -> str:
        return f"Positions({list(self)!r})" if len(self) <= 4 else f"Positions({len(self)} of them)"

    def to_bytes(self) -> bytes:
        """All positions, 24 bytes each: ts, signed, and the two words of the path, in native order."""
        packed: Any = ffi.new("uint8_t[]", _PACKED * len(self))
        lib.vp_positions_pack(self._handle, packed)
        return bytes(ffi.buffer(packed))

    def clear(self) -> None:
        """Forget all positions, keep the memory."""
        self._handle.length = 0

    def truncate(self, count: int) -> None:
        """Forget all positions but the first so many; IndexError if there are not that many."""
        kept = Positions()
        kept.extend_from(self, 0, count)
        self._handle = kept._handle

    def last(self) -> Position:
        """The position appended last; IndexError if there is none."""
        length = self._handle.length
        if not length:
            raise IndexError("index -1 out of range: there are 0 positions")
        return position_of(lib.vp_positions_at(self._handle, length - 1))

    def last_ts(self) -> int:
        """The timestamp of `last`, at a quarter of its cost; LEAST's if there is none."""
        return int(lib.vp_positions_last_ts(self._handle))

    def ts(self, index: int) -> int:
        """The timestamp of the position at an index that is there, at a third of the cost of that."""
        return int(lib.vp_positions_at(self._handle, index).ts)

    def append(self, position: Position) -> None:
        """Append one position.

        Raises:
            PositionError: its numbers are not three, or out of range.
        """
        _checked(lib.vp_positions_append(self._handle, c_position(position)))

    def extend(self, other: Positions) -> None:
        """Append all positions of another array."""
        handle = other._handle
        if _extend(self._handle, handle, 0, handle.length) < 0:
            raise _no_memory()

    def take_over(self, other: Positions) -> None:
        """Append all positions of another array, which is empty then."""
        if self._handle.length:
            self.extend(other)
            other.clear()
        else:  # nothing has to be copied
            self._handle, other._handle = other._handle, self._handle

    def extend_from(self, other: Positions, first: int, count: int) -> None:
        """Append `count` positions of another array (or of this one) from index `first` on.

        Raises:
            IndexError: there are not that many.
        """
        _check_range(other, first, count)
        _checked(lib.vp_positions_extend(self._handle, other._handle, first, count))

    def extend_children(
        self, parents: Positions, first: int, count: int, ends: Buffer, first_ordinal: int, level: Level
    ) -> int:
        """Append the positions of what a task emitted for `count` inputs from index `first` on.

        Args:
            parents: positions of the inputs, not descending.
            first: index of the first input.
            count: number of inputs.
            ends: for each input how many outputs there were up to and including its own, as uint32.
            first_ordinal: outputs of the first input that were given positions before.
            level: where this hop writes.

        Returns:
            How many outputs had no room for their place among their siblings. They share the last
            place, so that order is coarser there, but never broken.

        Each output is in its input's tree. Inputs that are equal above the level share one count of
        outputs, so that the outputs do not descend either. Across calls that is up to the caller, through
        `first_ordinal`.

        Raises:
            IndexError: there are not that many parents.
            PositionError: not one end per parent, ends that descend, or a first ordinal out of range.
        """
        _check_range(parents, first, count)
        if not 0 <= first_ordinal <= _WORD:
            raise PositionError(f"first_ordinal={first_ordinal!r}: expected 0 to 2**64 - 1")
        cut = ffi.from_buffer("uint32_t[]", ends)
        if len(cut) != count:
            raise PositionError(f"{len(cut)} ends for {count} inputs: expected one for each")
        outputs = ffi.new("vp_outputs *", (cut, ffi.NULL))
        saturated: int = lib.vp_positions_children(
            self._handle, parents._handle, first, count, outputs, first_ordinal, c_level(level)
        )
        if saturated == lib.VP_ENDS_DESCEND:
            raise PositionError(f"ends {list(cut)!r:.200}: expected none to be smaller than the one before")
        return _checked(saturated)

    def extend_logical(self, first_ts: int, count: int, level: Level) -> int:
        """Append positions for `count` tuples of a source that counts: `first_ts` and upwards.

        Returns:
            How many had no room for their place at the level: all or none.

        Raises:
            PositionError: a count below 0, or timestamps out of range.
        """
        if not (count >= 0 and LEAST.ts <= first_ts <= END.ts - count):
            raise PositionError(
                f"first_ts={first_ts!r}, count={count!r}: expected timestamps from -2**63 to 2**63 - 2"
            )
        return _checked(lib.vp_positions_logical(self._handle, first_ts, count, c_level(level)))

    def number(self, distances: array[int], level: Level) -> int:
        """Give positions at a level other ordinals, counted from the end of those that it has room for.

        Args:
            distances: for each how far it is from there, as array("Q").
            level: theirs.

        Returns:
            How many had no room for theirs, and got the first one.

        Raises:
            PositionError: not one distance for each.
        """
        given = ffi.from_buffer("uint64_t[]", distances)
        if len(given) != len(self):
            raise PositionError(f"{len(given)} distances for {len(self)} positions: expected one for each")
        return _checked(lib.vp_positions_number(self._handle, given, c_level(level)))

    def extend_timed(self, ts: Buffer, clock: SourceClock, level: Level) -> int:
        """Append positions for a source's tuples with these timestamps, given as int64.

        Returns:
            How many were placed. If fewer than given, the next one comes after its predecessor.
        """
        stamps = ffi.from_buffer("int64_t[]", ts)
        return _checked(
            lib.vp_positions_timed(self._handle, stamps, len(stamps), clock._handle, c_level(level))
        )

    def tree(self, index: int) -> int:
        """The tree of one position; IndexError if there is none."""
        return int(lib.vp_positions_at(self._handle, self._place(index)).tree)

    def trees(self, first: int, count: int) -> array[int]:
        """The trees of `count` positions from index `first` on; IndexError if there are not that many."""
        _check_range(self, first, count)
        into = array("Q", bytes(8 * count))
        lib.vp_positions_trees(self._handle, first, count, ffi.from_buffer("uint64_t[]", into))
        return into

    def untracked(self, first: int = 0, count: int | None = None) -> int:
        """The number of positions without a tree, of `count` from index `first` on, else of all from there.

        Tasks in worker processes ask for it behind each take. To make an array of the trees and count in that
        took 55 % of the time of a word count on columns.

        Raises:
            IndexError: there are not that many.
        """
        count = len(self) - first if count is None else count
        _check_range(self, first, count)
        return int(lib.vp_positions_untracked(self._handle, first, count))

    def set_tree(self, index: int, tree: int) -> None:
        """Put one position into a tree; IndexError if there is none."""
        place = self._place(index)
        _checked(lib.vp_positions_apart(self._handle))
        self._handle.data[place].tree = tree

    def set_trees(self, indexes: Sequence[int], trees: array[int]) -> None:
        """Put the positions at some indexes into trees, given as array("Q").

        Raises:
            IndexError: there is no position at one of the indexes; those before it have their tree.
            PositionError: not one tree for each index.
        """
        places = indexes if isinstance(indexes, array) else array("I", indexes)
        if len(places) != len(trees):
            raise PositionError(f"{len(trees)} trees for {len(places)} positions: expected one for each")
        c_places, c_trees = ffi.from_buffer("uint32_t[]", places), ffi.from_buffer("uint64_t[]", trees)
        if len(c_places) != len(places) or len(c_trees) != len(trees):
            raise PositionError("expected indexes of 32 bits and trees of 64: array('I') and array('Q')")
        fault = lib.vp_positions_set_trees(self._handle, c_places, c_trees, len(places))
        if fault == lib.VP_OUT_OF_RANGE:
            raise IndexError(f"an index of {list(places)!r:.200}: there are {len(self)} positions")
        _checked(fault)

    def tracked(self, first: int = 0) -> bool:
        """True if any position from index `first` on belongs to a tree."""
        return bool(lib.vp_positions_tracked(self._handle, first))

    def scatter(self, targets: Buffer, outs: Sequence[Positions]) -> None:
        """Append position i to outs[targets[i]], for all i; targets are given as uint16.

        A target past the last out drops its position.

        Raises:
            PositionError: not one target per position.
        """
        chosen = ffi.from_buffer("uint16_t[]", targets)
        if len(chosen) != len(self):
            raise PositionError(f"{len(chosen)} targets for {len(self)} positions: expected one for each")
        handles = [out._handle for out in outs]
        _checked(lib.vp_positions_scatter(self._handle, chosen, handles, len(handles)))


def c_level(level: Level) -> tuple[int, int, int, int]:
    """A level as C takes it."""
    return (level.offset, level.ordinal_bits, level.tag_bits, level.tag)


def _check_range(positions: Positions, first: int, count: int) -> None:
    if first < 0 or count < 0 or first + count > len(positions):
        raise IndexError(f"[{first}, {first + count}) out of range: there are {len(positions)} positions")


def _checked(result: int) -> int:
    if result < 0:
        raise _no_memory()
    return result


def _no_memory() -> MemoryError:
    return MemoryError("no memory for more positions")
