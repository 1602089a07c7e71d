"""The partitions of a source, merged by the task that brings them: by time, then by partition."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Final

from viper._backend import ffi, lib
from viper.errors import OrderError, PositionError
from viper.position import LEAST, Level, Position, Positions, c_position

NO_LIMIT: Final = 2**63 - 1
"""Later than every row."""
MOST_PARTITIONS: Final = int(lib.VP_MOST_PARTITIONS)
"""The most partitions that one task can merge."""


class Partition:
    """One partition: the times of its rows at hand, and what it remembers of those before.

    Args:
        level: where the partition marks the path; its tag names the partition.
    """

    __slots__ = ("_handle", "_times")

    def __init__(self, level: Level) -> None:
        parts = (level.offset, level.ordinal_bits, level.tag_bits, level.tag)
        self._times: Any = None
        self._handle: Any = ffi.new("vp_partition *", {"clock": {"ts": LEAST.ts}, "level": parts})

    def load(self, times: array[int]) -> None:
        """Put rows at hand, once all before them have been placed.

        Args:
            times: for each row its time, as array("q"); it is kept, and must not change.

        Raises:
            PositionError: it is not.
        """
        if not isinstance(times, array):
            raise PositionError(f"times are of type {type(times).__name__}: expected array('q')")
        if times.typecode != "q":
            raise PositionError(f"times are an array of type {times.typecode!r}: expected array('q')")
        self._times = ffi.from_buffer("int64_t[]", times)
        handle = self._handle
        handle.times, handle.next, handle.count = self._times, 0, len(times)

    @property
    def waiting(self) -> int:
        """The number of rows at hand."""
        return int(self._handle.count - self._handle.next)

    @property
    def next(self) -> int:
        """Index of the next row among those that were loaded last."""
        return int(self._handle.next)

    @property
    def next_ts(self) -> int:
        """Time of the next row; IndexError where none is at hand."""
        if not self.waiting:
            raise IndexError("the partition has no rows at hand")
        return int(self._handle.times[self._handle.next])

    @property
    def place(self) -> tuple[int, int]:
        """Time of the last row that was placed, and how many have had that time so far, itself included."""
        return int(self._handle.clock.ts), int(self._handle.clock.ordinal)

    @property
    def overflowed(self) -> int:
        """The number of rows for whose place no room was left among those of the same time."""
        return int(self._handle.clock.overflowed)

    def floor(self) -> Position:
        """The least position that a further row can get; LEAST before the first."""
        found = lib.vp_partition_floor(self._handle)
        return Position(found.ts, found.hi, found.lo)

    def floor_behind(self, place: tuple[int, int]) -> Position:
        """The least position after what another had as its `place`."""
        ahead: Any = ffi.new("vp_partition *", {"clock": {"ts": place[0], "ordinal": place[1]}})
        ahead.level = self._handle.level
        found = lib.vp_partition_floor(ahead)
        return Position(found.ts, found.hi, found.lo)

    def resume(self, place: tuple[int, int]) -> None:
        """Go on counting where another had this as its `place`: the next row is the one behind it."""
        self._handle.clock.ts, self._handle.clock.ordinal = place

    def skip_behind(self, place: tuple[int, int]) -> int:
        """Leave out the rows at hand up to what another had as its `place`; returns how many."""
        return int(lib.vp_partition_skip_behind(self._handle, *place))

    def skip(self, floor: Position) -> int:
        """Leave out the rows at hand that lie below a position; returns how many."""
        return int(lib.vp_partition_skip(self._handle, c_position(floor)))


class Merge:
    """Puts partitions into one order.

    Args:
        partitions: by their tags, ascending.

    Raises:
        PositionError: more than can be merged.
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        if len(partitions) > MOST_PARTITIONS:
            raise PositionError(f"{len(partitions)} partitions: one task merges at most {MOST_PARTITIONS}")
        self._partitions = tuple(partitions)
        self._handles = ffi.new("vp_partition *[]", [partition._handle for partition in partitions])

    def take(self, limit: int, out: Positions, until: int = NO_LIMIT) -> memoryview:
        """Place the next rows: until a partition has none left, as nobody knows what it brings next.

        Args:
            limit: place so many at most.
            out: the positions are appended here.
            until: and none that is later than this.

        Returns:
            For each row the index of its partition, as native uint16.

        Raises:
            OrderError: the next row of a partition is earlier than the one before it.
            IndexError: a partition has no rows at hand.
        """
        if not all(partition.waiting for partition in self._partitions):
            raise IndexError("a partition has no rows at hand: nobody knows what comes first")
        chosen = bytearray(2 * limit)
        into, among = ffi.from_buffer("uint16_t[]", chosen), len(self._partitions)
        count = lib.vp_partitions_merge(out._handle, self._handles, among, until, limit, into)
        if count < 0:
            raise MemoryError("no memory for more positions")
        if not count:
            self._check_order()
        return memoryview(chosen)[: 2 * count]

    def _check_order(self) -> None:
        for partition in self._partitions:
            before, _ = partition.place
            if partition.next_ts < before:
                raise OrderError(
                    f"row {partition.next} of the block is at {partition.next_ts} us, behind one at "
                    f"{before} us: time must not go back within a partition"
                )
