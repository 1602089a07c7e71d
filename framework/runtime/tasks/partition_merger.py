"""The partitions that one task brings, merged by time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from framework.model.topology import DEFAULT_STREAM
from framework.operators.components import HasFileno, Later
from framework.operators.components.partitioned import Block, PartitionedSpout, Watermark
from framework.planning import ComponentLevel
from framework.planning.place import WHOLE, Place
from framework.runtime.exchange.output import Port
from framework.runtime.order.positions.partition_feed import PartitionFeed, StreamForm
from framework.runtime.order.positions.slack import Lateness
from framework.runtime.tasks.hosts.user_errors import user_errors
from viper.errors import OrderError
from viper.jumbo import Emission
from viper.partitions import MOST_PARTITIONS, Merge
from viper.payload import Payload, interleaved
from viper.position import END, LEAST, Position, Positions


class PartitionMerger:
    """Reads some partitions of a spout, and gives their rows in the order of their positions.

    Args:
        level: where the spout marks the path.
        offsets: how far its partitions were brought before, where they were.
        lateness: how far out of order the rows of a partition may come; None where they come in order.
    """

    def __init__(
        self, level: ComponentLevel, offsets: Mapping[int, Place], lateness: Lateness | None = None
    ) -> None:
        self._level = level
        self._lateness = lateness
        self._begun = dict(offsets)
        """The place in each partition at which the run has begun, whatever was brought of it since."""
        self._offsets = dict(offsets)
        self._feeds: list[PartitionFeed] = []
        self._open_feeds: Sequence[PartitionFeed] = ()
        """The feeds that have not ended, whose rows are merged."""
        self._merge = Merge([])
        self._has_streams = False
        """True if the spout has several streams, so that each row says which one is its own."""
        self._late_before: dict[int, int] = {}
        """Late rows that the component which is here now does not read: of partitions that were at their end
        when it began, and where rows have offsets."""
        self._saturated = 0
        """Rows without room for their place, of components before the one that is here now."""
        self._out, self._spare = Positions(), Positions()
        """The positions of the next emission, and those of the last one."""
        self.is_exhausted = False
        """True if no partition has a row any more."""

    def open(
        self, spout: PartitionedSpout, numbers: Iterable[int], ports: Sequence[Port], floor: Position
    ) -> None:
        """Begin to read partitions, behind what was brought of them before.

        Args:
            spout: whose they are.
            numbers: which of them.
            ports: the streams that its rows go to.
            floor: what lies below it has been brought by another process.

        Raises:
            ValueError: the spout has more partitions than can be merged.
            Exception: whatever its `blocks` or `blocks_from` raises.
        """
        if spout.partitions > MOST_PARTITIONS:
            raise ValueError(f"{spout.partitions} partitions: expected at most {MOST_PARTITIONS}")
        forms = {port.stream.name: _form(port) for port in ports} or {DEFAULT_STREAM: StreamForm()}
        self._has_streams = len(ports) > 1
        self._feeds = [
            PartitionFeed(
                n, self._level.level(copy=n), self._offsets.get(n), forms, self._lateness, _where(spout, n)
            )
            for n in numbers
        ]
        for feed in self._feeds:
            feed.raise_to(floor)
            feed.open(self._blocks(spout, feed))
        self._follow([feed for feed in self._feeds if not feed.ended])

    def _blocks(
        self, spout: PartitionedSpout, feed: PartitionFeed
    ) -> Iterator[Block | Watermark | Later | None]:
        """The blocks of a partition from where it was brought to."""
        if feed.ended:
            return iter(())
        if not spout.has_offsets():
            return iter(spout.blocks(feed.number, feed.start_us))
        was_added = bool(self._begun) and feed.number not in self._begun
        first = None if was_added else spout.first_offset(feed.number)
        return iter(spout.blocks_from(feed.number, *feed.begin_at(first)))

    def reopen_behind(self, offsets: Mapping[int, Place]) -> None:
        """Prepare for a spout that is made again: `open` resumes after these offsets."""
        self._saturated = self.saturated
        self._late_before = self._late_for_good()
        self._offsets.update(offsets)

    def save(self) -> tuple[dict[int, Place], dict[int, int]]:
        """As `offsets`, and how many rows were late that nobody reads again."""
        late = self._late_for_good()  # first, as nobody has to read those again
        return self.offsets, late

    def restore(self, noted: tuple[dict[int, Place], dict[int, int]]) -> None:
        """As `reopen_behind`: another process has brought what lies before these offsets."""
        offsets, late = noted
        self.reopen_behind(offsets)
        self._late_before = late

    def _late_for_good(self) -> dict[int, int]:
        feeds = [feed for feed in self._feeds if feed.ended or feed.has_offsets]
        found = {feed.number: self._late_of(feed) for feed in feeds}
        return {number: late for number, late in found.items() if late}

    def _late_of(self, feed: PartitionFeed) -> int:
        begun = None if feed.has_offsets else self._begun.get(feed.number)
        return self._late_before.get(feed.number, 0) + feed.late_since(begun)

    def close(self) -> Iterator[BaseException]:
        """Read no more; gives what closing the partitions raised."""
        for feed in self._feeds:
            try:
                feed.close()
            except user_errors() as error:
                yield error

    @property
    def has_partitions(self) -> bool:
        """True if there is any partition to read, at its end or not."""
        return bool(self._feeds)

    @property
    def begins_anew(self) -> bool:
        """True if no partition was partly brought before."""
        return not self._offsets

    @property
    def latest_offset_us(self) -> int | None:
        """The latest event time up to which any partition was brought before; None where none was.

        Partitions of other tasks count too, so that all tasks agree.
        """
        return max((place[0] for place in self._offsets.values() if place != WHOLE), default=None)

    @property
    def offsets(self) -> dict[int, Place]:
        """The progress of each partition, by its number, where that is known."""
        places = {feed.number: feed.place for feed in self._feeds}
        return {number: place for number, place in places.items() if place is not None}

    @property
    def saturated(self) -> int:
        """Rows that had no room left for their place among those of the same time."""
        return self._saturated + sum(feed.partition.overflowed for feed in self._feeds)

    @property
    def late(self) -> int:
        """Rows that came later than the slack allows, of all that were brought in the run."""
        return sum(map(self._late_of, self._feeds))

    @property
    def has_read(self) -> bool:
        """True if the last `take` has read rows, which are held back until later ones have come."""
        return any(feed.has_read for feed in self._open_feeds)

    @property
    def waits_for_rows(self) -> bool:
        """True if a partition had nothing for now when it was asked last."""
        return any(feed.waits for feed in self._open_feeds)

    def asks_at_s(self, now_s: float) -> float | None:
        """Monotonic time in seconds at which a partition without rows has some again; None where one of them
        does not say it.

        Args:
            now_s: the present one.
        """
        laters = [feed.later for feed in self._open_feeds if feed.waits]
        times = [later.look_at_s(now_s) for later in laters if later is not None]
        return min(times) if times and len(times) == len(laters) else None

    @property
    def readable(self) -> Sequence[int | HasFileno]:
        """The descriptors of which one that is readable says that a partition without rows has some again."""
        laters = (feed.later for feed in self._open_feeds if feed.waits)
        return [one for later in laters if later is not None for one in later.readable]

    @property
    def next_row_us(self) -> int | None:
        """The event time of the next row at hand; None where none is."""
        waiting = (feed.partition for feed in self._open_feeds if feed.partition.waiting)
        return min((partition.next_ts for partition in waiting), default=None)

    @property
    def behind(self) -> Position:
        """No partition has a row below this; the end where none has any more."""
        return min((feed.floor for feed in self._open_feeds), default=END)

    def take(self, limit: int, until_us: int) -> Emission | None:
        """The next rows at their positions, at most so many and up to an event time; None for none at the
        moment.

        Raises:
            OrderError: the times of a partition go back.
            Exception: whatever reading a partition raises.
        """
        take = self._take_next if self._fill() else self._take_before
        try:
            return take(limit, until_us)
        except OrderError:
            for feed in self._open_feeds:
                feed.check_next()  # which says where the row stands, and what to do
            raise

    def _fill(self) -> bool:
        """See to it that every partition has rows at hand, as nobody knows otherwise which comes first."""
        is_filled = True
        for feed in self._open_feeds:
            is_filled = (feed.fill() or feed.ended) and is_filled
        if any(feed.ended for feed in self._open_feeds):
            self._follow([feed for feed in self._open_feeds if not feed.ended])
        self.is_exhausted = not self._open_feeds
        return is_filled and not self.is_exhausted

    def _follow(self, feeds: Sequence[PartitionFeed]) -> None:
        self._open_feeds = feeds
        self._merge = Merge([feed.partition for feed in feeds])

    def _take_next(self, limit: int, until_us: int) -> Emission | None:
        return self._merged(self._open_feeds, self._merge, limit, until_us)

    def _take_before(self, limit: int, until_us: int) -> Emission | None:
        """Rows that are earlier than all that partitions without rows have promised."""
        feeds = self._open_feeds
        ready = [feed for feed in feeds if feed.partition.waiting]
        behind = min((feed.floor for feed in feeds if not feed.partition.waiting), default=LEAST)
        if not ready or behind == LEAST or all(feed.said_us is None for feed in feeds):
            return None
        merge = Merge([feed.partition for feed in ready])
        return self._merged(ready, merge, limit, min(until_us, behind.ts - 1))

    def _merged(
        self, feeds: Sequence[PartitionFeed], merge: Merge, limit: int, until_us: int
    ) -> Emission | None:
        firsts = [feed.partition.next for feed in feeds]
        self._out.clear()
        chosen = merge.take(limit, self._out, until_us)
        if not len(self._out):
            return None
        made, self._out, self._spare = self._out, self._spare, self._out
        tags = _tags(feeds, chosen) if self._has_streams else None
        return Emission(_payload(feeds, chosen, firsts), tags, made)


def _where(spout: PartitionedSpout, partition: int) -> Callable[[int], str]:
    """Says where a row is in a partition's source."""
    return lambda index: spout.place_of(partition, index)


def _payload(feeds: Sequence[PartitionFeed], chosen: memoryview, firsts: list[int]) -> Payload:
    taken = [(feed, first) for feed, first in zip(feeds, firsts, strict=True) if feed.partition.next > first]
    if len(taken) == 1:
        ((feed, first),) = taken
        return feed.taken(first)
    return interleaved([feed.payload for feed in feeds], firsts, chosen)


def _tags(feeds: Sequence[PartitionFeed], chosen: memoryview) -> bytes:
    """For each row the index of its stream, as native uint16: that of the block at hand of its feed."""
    tags = [feed.tag for feed in feeds]
    return array("H", map(tags.__getitem__, chosen.cast("H"))).tobytes()


def _form(port: Port) -> StreamForm:
    return StreamForm(port.tag, port.stream.fields, None if port.form is None else port.form.payload)
