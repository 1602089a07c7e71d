"""The offsets of the rows of a partition that are at hand, and the mark of the place that they are at."""

from __future__ import annotations

from array import array
from itertools import islice
from operator import lt

from framework.runtime.order.positions.event_times import AT_FRONTIER
from framework.runtime.order.positions.place import Mark
from framework.runtime.order.positions.slack import PartitionOrder
from viper.partitions import Partition


class OffsetsAtHand:
    """Follows the offsets of a partition's rows from where they are read to where they have left.

    Args:
        mark: the place at which the partition is continued; None for its first row.
        order: puts its rows in order; None where they come so.
    """

    def __init__(self, mark: Mark | None, order: PartitionOrder | None) -> None:
        self._order = order
        self._last = AT_FRONTIER if mark is None else mark.last
        """The offset of the last row that has left."""
        self._behind = AT_FRONTIER if mark is None else mark.low
        """The least offset that a further row may have."""
        self._run: array[int] = array("q")
        self._noted = 0
        """The number of rows at hand that have left and are noted."""

    def check(self, partition: int, count: int, offsets: array[int] | None) -> None:
        """Take note of a block that was read.

        Raises:
            ValueError: not each row has an offset, they do not rise, or one was there before.
        """
        place = f"partition {partition}"
        if not isinstance(offsets, array) or offsets.typecode != "q" or len(offsets) != count:
            found = type(offsets).__name__ if not isinstance(offsets, array) else f"{len(offsets)} offsets"
            raise ValueError(
                f"{place}: a block of blocks_from has {found} for {count} rows: expected an offset for each, "
                'as array("q")'
            )
        if not count:
            return
        if offsets[0] < self._behind:
            raise ValueError(
                f"{place}: a block begins at offset {offsets[0]}: expected at least {self._behind}, as "
                "offsets rise, and those before were not asked for"
            )
        if not all(map(lt, offsets, islice(offsets, 1, None))):
            raise ValueError(f"{place}: the offsets of a block do not rise")
        self._behind = offsets[-1] + 1

    def load(self, offsets: array[int] | None) -> None:
        """Put rows at hand, once all before them have left."""
        self._note(len(self._run))
        self._run, self._noted = offsets or array("q"), 0

    def mark(self, partition: Partition) -> Mark:
        """The mark of the place that the partition is at."""
        self._note(partition.next)
        if self._order is not None:
            return self._order.mark(self._last, self._behind)
        ts, _ = partition.place
        return Mark(self._last, self._last + 1, ts, ts)

    def _note(self, count: int) -> None:
        if count > self._noted:
            self._last = self._run[count - 1]
            if self._order is not None:
                self._order.leave(self._run[self._noted : count])
            self._noted = count
