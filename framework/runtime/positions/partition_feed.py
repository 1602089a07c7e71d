"""The feed of one partition of a spout: the rows that its task has read, and the source of further rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from framework.components.partitioned import Block, Watermark
from framework.topology import DEFAULT_STREAM, did_you_mean, one_of
from viper.partitions import Partition
from viper.payload import NOTHING, Payload, Row, Rows
from viper.position import LEAST, Level, Position
from viper.rows import misfit

Place = tuple[int, int]
"""An offset in a partition: the time of the last row in microseconds, and the number of rows of that time."""
WHOLE: Final[Place] = (2**63 - 1, 0)
"""The offset of a partition that was read to its end."""
UNKNOWN: Final[Place] = (-(2**63), 0)
"""An unknown offset: the process that read the partition has died, and no row has come since."""


class StreamForm(NamedTuple):
    """What the rows of a stream are like."""

    tag: int = 0
    """The index of the stream among the component's."""
    fields: Sequence[str] = ()
    """The fields of each row; empty where a row may have any number of values."""
    fitted: Callable[[Any], Payload] | None = None
    """Makes the rows or columns of a block fit the stream's schema; None where it has none."""


_ANY_ROWS: Final[Mapping[str, StreamForm]] = {DEFAULT_STREAM: StreamForm()}


class PartitionFeed:
    """The rows of one partition that have been read and not emitted, and the source of further rows.

    Args:
        number: the number of the partition.
        level: the bits of the path that the partition writes.
        place: the offset at which to continue; None to read from the beginning.
        forms: what the rows of each stream are like, by its name.
    """

    def __init__(
        self,
        number: int,
        level: Level,
        place: Place | None = None,
        forms: Mapping[str, StreamForm] = _ANY_ROWS,
    ) -> None:
        self.number = number
        self._forms = forms
        self.partition = Partition(level)
        self.payload: Payload = NOTHING
        """The values of the block that was loaded last."""
        self.tag = 0
        """The index of their stream."""
        self.ended = place == WHOLE
        self.waits = False
        """Whether the source had no rows for now when it was asked last."""
        self.said_us: int | None = None
        """The event time in microseconds of the latest watermark; None before the first."""
        self._before = place
        self._raised = False
        """Whether another process has emitted rows of the partition in this run."""
        self._floor = LEAST if place is None or self.ended else self.partition.floor_behind(place)
        self._blocks: Iterator[Block | Watermark | None] = iter(())

    def raise_to(self, floor: Position) -> None:
        """Leave out all rows below a position; to be called before `open`."""
        if floor > LEAST:
            self._raised = True
            self._floor = max(self._floor, floor)

    @property
    def start_us(self) -> int | None:
        """The event time in microseconds before which no row is wanted; None if all rows are."""
        return None if self._floor == LEAST else self._floor.ts

    @property
    def place(self) -> Place | None:
        """The offset up to which rows have been emitted; None if that is the beginning."""
        if self.ended:
            return WHOLE
        ts, count = self.partition.place
        # A source that is read from its beginning comes by rows first that were brought before.
        if count and (self._before is None or (ts, count) > self._before):
            return ts, count
        return UNKNOWN if self._raised else self._before

    @property
    def floor(self) -> Position:
        """The position below which no further row will be."""
        said = LEAST if self.said_us is None else Position(self.said_us, 0, 0)
        return max(self._floor, self.partition.floor(), said)

    def open(self, blocks: Iterator[Block | Watermark | None]) -> None:
        """Set the iterator that rows come from."""
        self._blocks = blocks

    def close(self) -> None:
        """Close the iterator that rows come from, if it is a generator."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()

    def fill(self) -> bool:
        """Load a block if all rows of the last one have been emitted.

        Returns:
            Whether there are rows to emit; there are none where the source has none for now, or has ended.

        Raises:
            TypeError: the source gave neither a block nor a watermark nor None, or rows that are no list.
            ValueError: a block has more times than rows, or fewer, begins before the latest watermark, has a
                row without a value for each field, or is of an unknown stream.
            PositionError: a block's times are no array("q").
        """
        while not (self.ended or self.partition.waiting):
            given = next(self._blocks, self)  # which stands for the end
            self.ended, self.waits = given is self, given is None
            if not (self.ended or self.waits):
                self._take(given)
            if not isinstance(given, Block):  # after a watermark, too, as many could block the task
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
        times, rows, mutable, stream = block
        form = self._forms.get(stream)
        if form is None:
            expected = f"expected {one_of(self._forms)}{did_you_mean(stream, self._forms)}"
            raise ValueError(f"partition {self.number}: a block of the unknown stream {stream!r}: {expected}")
        if len(times) != len(rows):
            raise ValueError(f"partition {self.number}: a block with {len(times)} times for {len(rows)} rows")
        if self.said_us is not None and times and times[0] < self.said_us:
            said = f"though {self.said_us} us was said to come next"
            raise ValueError(f"partition {self.number}: a block begins at {times[0]} us, {said}")
        if isinstance(rows, list) or form.fitted is None:
            self._check(rows, form.fields)
        self.payload = Rows(rows, mutable) if form.fitted is None else form.fitted(rows)
        self.tag = form.tag
        self.partition.load(times)
        if self._before is not None:  # rows are counted, because their positions may be saturated
            self.partition.skip_behind(self._before)
        if self._raised:
            self.partition.skip(self._floor)

    def _check(self, rows: list[Row], fields: Sequence[str]) -> None:
        if not isinstance(rows, list):
            found = type(rows).__name__
            raise TypeError(f"partition {self.number}: rows of a block are a {found}: expected a list")
        index = misfit(rows, len(fields) or -1)
        if index is not None:
            expected = f" with a value for each of {list(fields)}" if fields else ""
            raise ValueError(
                f"partition {self.number}: row {index} of a block is {rows[index]!r:.200}: "
                f"expected a tuple{expected}"
            )

    def taken(self, first: int) -> Payload:
        """The values from an index up to the next one to emit, in order."""
        return self.payload.slice(first, self.partition.next - first)
