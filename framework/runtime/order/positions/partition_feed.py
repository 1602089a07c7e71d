"""The feed of one partition of a spout: the rows that its task has read, and the source of further rows."""

from __future__ import annotations

import datetime
import time
from array import array
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice
from operator import lt
from typing import Any, Final, NamedTuple

from framework.model.topology import DEFAULT_STREAM, did_you_mean, one_of
from framework.operators.components import Later
from framework.operators.components.partitioned import Block, Watermark
from framework.planning.place import BEGINNING, UNKNOWN, WHOLE, Mark, Place, mark_of
from framework.runtime.order.positions.event_times import AT_FRONTIER
from framework.runtime.order.positions.slack import Lateness, PartitionOrder, Run, out_of_order
from viper.errors import OrderError
from viper.partitions import Partition
from viper.payload import NOTHING, Payload, Row, Rows
from viper.position import LEAST, Level, Position
from viper.rows import misfit
from viper.scalars import python_rows


class StreamForm(NamedTuple):
    """The form of the rows of a stream."""

    tag: int = 0
    """The index of the stream among the component's."""
    fields: Sequence[str] = ()
    """The fields of each row; empty where a row may have any number of values."""
    fitted: Callable[[Any], Payload] | None = None
    """Makes the rows or columns of a block fit the stream's schema; None where it has none."""


def _nowhere(index: int) -> str:
    return f"row {index} of a block"


_ANY_ROWS: Final[Mapping[str, StreamForm]] = {DEFAULT_STREAM: StreamForm()}


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


class PartitionFeed:
    """The rows of one partition that have been read and not emitted, and the source of further rows.

    Args:
        number: the number of the partition.
        level: the bits of the path that the partition writes.
        place: the offset at which to continue; None to read from the beginning.
        forms: what the rows of each stream are like, by its name.
        lateness: how far out of order the rows may come; None where they come in order.
        where: says for messages where a row is in the source, by its index in the block that came last.
    """

    def __init__(
        self,
        number: int,
        level: Level,
        place: Place | None = None,
        forms: Mapping[str, StreamForm] = _ANY_ROWS,
        lateness: Lateness | None = None,
        where: Callable[[int], str] = _nowhere,
    ) -> None:
        self.number = number
        self._slack_us = 0 if lateness is None else lateness.slack_us
        self._order = None if lateness is None else PartitionOrder(lateness)
        self._where = where
        self._forms = forms
        self.partition = Partition(level)
        self.payload: Payload = NOTHING
        """The values of the block that was loaded last."""
        self.tag = 0
        """The index of their stream."""
        self.ended = place == WHOLE
        self.waits = False
        """True if the source had no rows for now when it was asked last."""
        self.later: Later | None = None
        """The time at which the source has rows again, if it has said so then."""
        self.has_read = False
        """True if the last `fill` has read rows, which are held back until later ones have come."""
        self.said_us: int | None = None
        """The event time in microseconds before which no more comes, where that is known."""
        self._before = place
        self._late = 0
        self._latest_us = LEAST.ts
        """The time of the last row that was put at hand."""
        self._raised = False
        """True if another process has emitted rows of the partition in this run."""
        self._counted = None if place is None else (place[0], place[1])
        """The part of the place in which rows are counted."""
        begins = self._counted is None or self.ended or not self._counted[1]
        self._floor = LEAST if self._counted is None or begins else self.partition.floor_behind(self._counted)
        self._offsets: OffsetsAtHand | None = None
        """The offsets of rows, where they have some."""
        self._blocks: Iterator[Block | Watermark | Later | None] = iter(())
        self._has_no_more = False
        """True if the source has ended, so that no row is held back any more."""

    def raise_to(self, floor: Position) -> None:
        """Leave out all rows below a position; to be called before `open`."""
        if floor > LEAST:
            self._raised = True
            self._floor = max(self._floor, floor)

    @property
    def start_us(self) -> int | None:
        """The event time in microseconds before which no row is wanted; None if all rows are.

        Rows that come out of order are all wanted: each may decide on what is late, or be late itself.
        """
        return None if self._floor == LEAST or self._order is not None else self._floor.ts

    @property
    def has_offsets(self) -> bool:
        """True if rows have offsets."""
        return self._offsets is not None

    def begin_at(self, first: int | None) -> tuple[int | None, int | None]:
        """Have rows come with offsets, and none before the place; to be called before `open`.

        Args:
            first: the offset at which the partition begins if it was not brought before; None for its first
                row.

        Returns:
            The offset from which on rows are wanted, None for the first row; and the latest event time of all
            rows before it, None where there are none.
        """
        mark = mark_of(self._before)
        if mark is None and first is not None:
            mark = Mark(first - 1, first, AT_FRONTIER, AT_FRONTIER)
            self._before = *BEGINNING, *mark
            self._counted = BEGINNING[0], BEGINNING[1]
        self._offsets = OffsetsAtHand(mark, self._order)
        if mark is None or self._before is None or self.ended:
            return None, None
        if self._counted is not None and self._counted[1]:
            self.partition.resume(self._counted)
            self._latest_us = self._counted[0]
        if self._order is not None:
            self._order.resume(self._before, mark)
        return mark.low, None if mark.latest_us == AT_FRONTIER else mark.latest_us

    @property
    def place(self) -> Place | None:
        """The offset up to which rows have been emitted; None if that is the beginning.

        That of a source with offsets says so at its end, too, as there may be more when a run goes on.
        """
        if self.ended and self._offsets is None:
            return WHOLE
        ts, count = self.partition.place
        # A source that is read from its beginning comes by rows first that were brought before.
        if count and (self._counted is None or (ts, count) > self._counted):
            return (ts, count) if self._offsets is None else (ts, count, *self._offsets.mark(self.partition))
        return UNKNOWN if self._raised and not self.ended else self._before

    def late_since(self, begun: Place | None) -> int:
        """The number of late rows behind a place in the partition, of those that were brought so far.

        A late row counts at its place in the output, not where it was read, so that each counts once wherever
        a process or a run resumes.

        Args:
            begun: the offset at which the run has begun to bring the partition; None for its beginning.
        """
        if self._order is None:
            return 0
        reached = (WHOLE[0], WHOLE[1]) if self.ended else self.partition.place
        for place in self._order.take_late(reached):
            self._late += begun is None or place >= begun
        return self._late

    @property
    def floor(self) -> Position:
        """The position below which no further row will be."""
        said_us = self.said_us
        if self._order is not None and said_us is not None:  # which may be later than what is let go
            next_us = self.partition.next_ts if self.partition.waiting else self._order.next_us
            said_us = min(said_us, next_us)
        said = LEAST if said_us is None else Position(said_us, 0, 0)
        return max(self._floor, self.partition.floor(), said)

    def open(self, blocks: Iterator[Block | Watermark | Later | None]) -> None:
        """Set the iterator that rows come from."""
        self._blocks = blocks

    def close(self) -> None:
        """Close the iterator that rows come from, if it is a generator."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()

    def fill(self) -> bool:
        """Load a block if all rows of the last one have been emitted.

        Returns:
            True if there are rows to emit; there are none if the source has none for now, or has ended.

        Raises:
            TypeError: the source gave neither a block nor a watermark nor None nor a time, or rows that are
                no list.
            ValueError: a block has more or fewer times than rows, begins before the latest watermark, has a
                row without a value for each field, or is of an unknown stream.
            PositionError: a block's times are no array("q").
        """
        self.has_read = False
        while not (self.ended or self.partition.waiting):
            if self._puts_next():
                continue
            if self.later is not None and not self.later.has_come(time.monotonic()):
                return False
            given = next(self._blocks, self)  # which stands for the end
            self.later = given if type(given) is Later else None
            self.waits = given is None or self.later is not None
            if given is self:
                self._end()
            elif not self.waits:
                self._take(given)
            if self._order is not None and (given is self or self._order.has_ready):
                continue
            if not isinstance(given, Block):  # after a watermark, too, as many could block the task
                return False
            if self._order is not None and not self.partition.waiting:  # nor may all that is held back
                self.has_read = True
                return False
        return not self.ended

    def _puts_next(self) -> bool:
        """Put rows at hand that were held back, if there are any; whether there were."""
        run = None if self._order is None else self._order.next_run()
        if run is None:
            return False
        self._put(run)
        return True

    def _end(self) -> None:
        """End the partition, as its source has no more: held rows come first."""
        if self._order is None or self._has_no_more:
            self._check_reached()
            self.ended = True
        else:
            self._order.end()
            self._has_no_more = True

    def _check_reached(self) -> None:
        """See to it that a partition that is read from its beginning still has what was brought of it."""
        if self._order is not None and self._counted is not None and self.partition.place < self._counted:
            raise ValueError(
                f"partition {self.number} ends before what was brought of it: its source was cut off or "
                "replaced; put back what was there, or start from the beginning"
            )

    def _take(self, given: object) -> None:
        if isinstance(given, Watermark):
            self._say(given.time_us)
            if self._order is not None:
                self._order.advance(given.time_us)
        elif isinstance(given, Block):
            self._load(given)
        else:
            found = type(given).__name__
            raise TypeError(
                f"partition {self.number}: blocks gave a {found}: expected a Block, a Watermark or None, "
                "or a time: after(seconds) or at(datetime) of viperstorm"
            )

    def _say(self, time_us: int) -> None:
        self.said_us = time_us if self.said_us is None else max(self.said_us, time_us)

    def _load(self, block: Block) -> None:
        times, rows, mutable, stream, offsets = block
        form = self._forms.get(stream)
        if form is None:
            expected = f"expected {one_of(self._forms)}{did_you_mean(stream, self._forms)}"
            raise ValueError(f"partition {self.number}: a block of the unknown stream {stream!r}: {expected}")
        if len(times) != len(rows):
            raise ValueError(f"partition {self.number}: a block with {len(times)} times for {len(rows)} rows")
        if self._order is None and self.said_us is not None and times and times[0] < self.said_us:
            said = f"though {self.said_us} us was said to come next"
            raise ValueError(
                f"partition {self.number}: a block begins at {times[0]} us, {said}; say with "
                "viper.timestamp.late what becomes of rows that are late (drop, admit, or the name of a "
                "stream for them)"
            )
        if isinstance(rows, list) or form.fitted is None:
            self._check(rows, form.fields)
        payload = Rows(python_rows(rows), mutable) if form.fitted is None else form.fitted(rows)
        if self._offsets is not None:
            self._offsets.check(self.number, len(times), offsets)
        run = Run(times, payload, form.tag, None if self._offsets is None else offsets)
        if self._order is None:
            self._put(run)
        elif len(times):
            self._hold(self._order, run)

    def _hold(self, order: PartitionOrder, run: Run) -> None:
        late = order.add(run)
        if late is not None:
            raise self._refusal(late, run, order.latest_us)
        self._say(order.frontier_us)

    def _put(self, run: Run) -> None:
        if (self._before is not None or self._raised) and self._order is None:
            self._check_order(run)  # a row that goes back could be left out with those that were brought
        self.payload, self.tag = run.payload, run.tag
        if self._offsets is not None:
            self._offsets.load(run.offsets)
        self.partition.load(run.times)
        # Rows are counted, because their positions may be saturated.
        if self._counted is not None and self._offsets is None:
            self.partition.skip_behind(self._counted)
        if self._raised:
            self.partition.skip(self._floor)

    def _check_order(self, run: Run) -> None:
        for index, time_us in enumerate(run.times):
            if time_us < self._latest_us:
                raise self._refusal(index, run, self._latest_us)
            self._latest_us = time_us

    def check_next(self) -> None:
        """Refuse the row at hand, if its event time is before that of the row before it.

        Raises:
            OrderError: it is.
        """
        if self.partition.waiting:
            before_us, _ = self.partition.place
            if self.partition.next_ts < before_us:
                times = array("q", [self.partition.next_ts])
                index = self.partition.next
                raise self._refusal(0, Run(times, self.payload.slice(index, 1), self.tag), before_us, index)

    def _refusal(self, index: int, run: Run, latest_us: int, in_block: int | None = None) -> OrderError:
        (row,) = run.payload.slice(index, 1).rows
        where = self._where(index if in_block is None else in_block)
        told = f"partition {self.number}, {where}"
        return out_of_order(row, told, run.times[index], latest_us, self._slack_us, _shown)

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


def _shown(time_us: int) -> str:
    """A time in microseconds and as people write it, where a calendar reaches."""
    try:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=time_us)
    except OverflowError:
        return f"{time_us} us"
    return f"{moment.isoformat()}Z ({time_us} us)"
