"""One partition of a spout, as the task reads it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Final

from framework.components.partitioned import Block, Watermark
from viper.partitions import Partition
from viper.payload import Row
from viper.position import LEAST, Level, Position
from viper.rows import misfit

Place = tuple[int, int]
"""How far a partition was brought: time of its last row in microseconds, and how many rows had that time."""
WHOLE: Final[Place] = (2**63 - 1, 0)
"""All of it."""
UNKNOWN: Final[Place] = (-(2**63), 0)
"""Nobody knows how far: the process that had brought it has died, and no row has come since."""


class PartitionFeed:
    """Rows of one partition that are at hand, and where more come from.

    Args:
        number: of the partition.
        level: where it marks the path.
        fields: of each row; empty where it may have any number of values.
        place: how far it was brought before; None: not at all.
    """

    def __init__(
        self, number: int, level: Level, fields: Sequence[str] = (), place: Place | None = None
    ) -> None:
        self.number = number
        self._fields = fields
        self.partition = Partition(level)
        self.rows: list[Row] = []
        """The block that was loaded last."""
        self.mutable = False
        """Whether its rows may hold a value that a consumer can change."""
        self.ended = place == WHOLE
        self.waits = False
        """Whether it had nothing for now when it was asked last."""
        self.said_us: int | None = None
        """The least event time that it has said to go on with."""
        self._before = place
        self._raised = False
        """Whether another process has brought some of it in this run."""
        self._floor = LEAST if place is None or self.ended else self.partition.floor_behind(place)
        self._blocks: Iterator[Block | Watermark | None] = iter(())

    def raise_to(self, floor: Position) -> None:
        """Leave out what lies below a position; before it is opened."""
        if floor > LEAST:
            self._raised = True
            self._floor = max(self._floor, floor)

    @property
    def start_us(self) -> int | None:
        """No row before this event time is wanted."""
        return None if self._floor == LEAST else self._floor.ts

    @property
    def place(self) -> Place | None:
        """How far it has been brought."""
        if self.ended:
            return WHOLE
        ts, count = self.partition.place
        if count:
            return ts, count
        return UNKNOWN if self._raised else self._before

    @property
    def floor(self) -> Position:
        """No row that comes lies below this."""
        said = LEAST if self.said_us is None else Position(self.said_us, 0, 0)
        return max(self._floor, self.partition.floor(), said)

    def open(self, blocks: Iterator[Block | Watermark | None]) -> None:
        """Where rows come from."""
        self._blocks = blocks

    def close(self) -> None:
        """No more rows are wanted."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()

    def fill(self) -> bool:
        """See to it that rows are at hand; False where there are none for now, or it has ended.

        Raises:
            TypeError: what comes is neither a block nor a watermark nor None, or a block's rows are no list.
            ValueError: a block with more times than rows, or fewer, with an earlier time than was said, or
                with a row that does not have the fields.
            PositionError: its times are no array("q").
        """
        while not (self.ended or self.partition.waiting):
            given = next(self._blocks, self)  # which stands for the end
            self.ended, self.waits = given is self, given is None
            if not (self.ended or self.waits):
                self._take(given)
            if not isinstance(given, Block):  # also a watermark: one after the other would hold up the task
                return False
        return not self.ended

    def _take(self, given: object) -> None:
        if isinstance(given, Watermark):
            self.said_us = given.time_us if self.said_us is None else max(self.said_us, given.time_us)
        elif isinstance(given, Block):
            self._load(given)
        else:
            found = type(given).__name__
            raise TypeError(
                f"partition {self.number}: blocks gave a {found}: expected a Block, a Watermark or None"
            )

    def _load(self, block: Block) -> None:
        times, rows, self.mutable = block
        if len(times) != len(rows):
            raise ValueError(f"partition {self.number}: a block with {len(times)} times for {len(rows)} rows")
        if self.said_us is not None and times and times[0] < self.said_us:
            said = f"though {self.said_us} us was said to come next"
            raise ValueError(f"partition {self.number}: a block begins at {times[0]} us, {said}")
        self._check(rows)
        self.rows = rows
        self.partition.load(times)
        if self._before is not None:  # by their number, as positions may be saturated
            self.partition.skip_behind(self._before)
        if self._raised:
            self.partition.skip(self._floor)

    def _check(self, rows: list[Row]) -> None:
        if not isinstance(rows, list):
            found = type(rows).__name__
            raise TypeError(f"partition {self.number}: rows of a block are a {found}: expected a list")
        index = misfit(rows, len(self._fields) or -1)
        if index is not None:
            expected = f" with a value for each of {list(self._fields)}" if self._fields else ""
            raise ValueError(
                f"partition {self.number}: row {index} of a block is {rows[index]!r:.200}: "
                f"expected a tuple{expected}"
            )

    def taken(self, first: int) -> list[Row]:
        """The rows from an index up to the next, in order."""
        end = self.partition.next
        return self.rows if end - first == len(self.rows) else self.rows[first:end]
