"""The order of a spout's rows: how late they may come, and what becomes of later ones."""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Generic, NamedTuple, TypeVar

from framework.planning.place import Mark, Place
from framework.runtime.order.positions.event_times import AT_FRONTIER
from viper.errors import OrderError
from viper.payload import Payload, interleaved

_LONGEST_US = 1 << 63
"""A slack that no two times exceed."""
_MOST_ROWS: Final = 4096
"""The most rows that are put at hand at once, as columns or rows are copied for it."""
ERROR = "error"
"""A late tuple ends the run."""
DROP = "drop"
"""A late tuple is dropped, and counted."""
ADMIT = "admit"
"""A late tuple is placed where the spout has got to, and counted."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Lateness:
    """The lateness that a spout's tuples may have, and what becomes of later ones."""

    slack_us: int
    """Microseconds of event time by which a tuple may be earlier than the latest before it."""
    drops: bool = False
    """True if late tuples are dropped."""
    late_port: int | None = None
    """The port of the stream that late tuples go to; None for none: unless they are dropped or admitted, they
    are an error."""
    admits: bool = False
    """True if late tuples are placed at the spout's present time, as if they were of it."""

    @classmethod
    def configured(cls, conf: Mapping[str, Any], streams: Sequence[str]) -> Lateness:
        """The lateness by a spout's configuration; `streams` are the names of its streams."""
        slack_us = round(min(conf["viper.timestamp.slack"] * 1000, _LONGEST_US))
        late = conf["viper.timestamp.late"]
        port = None if late in (ERROR, DROP, ADMIT) else streams.index(late)
        return cls(slack_us, late == DROP, port, late == ADMIT)

    @property
    def refuses(self) -> bool:
        """True if a late tuple ends the run."""
        return not (self.drops or self.admits) and self.late_port is None


class Reorder(Generic[Item]):
    """Puts items in the order of time, within a slack.

    An item is released once one has come whose time is later by the slack, so held items span no more time
    than that. The output depends on nothing but the items and their order.

    Args:
        slack_us: microseconds by which an item may be earlier than the latest before it.
    """

    def __init__(self, slack_us: int) -> None:
        self._slack_us = slack_us
        self._held: list[tuple[int, int, Item]] = []
        self._count = 0
        self.latest_us = AT_FRONTIER
        """The latest time of all that has come."""
        self.frontier_us = AT_FRONTIER
        """Nothing earlier is let go any more: what comes with an earlier time is late."""
        self.has_ended = False
        """True if nothing is held any more."""
        self.ready: deque[tuple[int, Item]] = deque()
        """The elements that were let go and not taken, in order, with their times."""

    def __len__(self) -> int:
        return len(self._held)

    @property
    def earliest_us(self) -> int:
        """The time of what is let go next, of what is held."""
        return self._held[0][0]

    def add(self, time_us: int, item: Item) -> None:
        """Take in an item that is not late; those of equal time stay in the order in which they came."""
        heapq.heappush(self._held, (time_us, self._count, item))
        self._count += 1
        if time_us > self.latest_us:
            self.latest_us = time_us
        self.advance(self.latest_us if self.has_ended else self.latest_us - self._slack_us)

    def advance(self, frontier_us: int) -> None:
        """Release all that need not wait any more, as nothing earlier than this comes in time."""
        if frontier_us > self.frontier_us:
            self.frontier_us = frontier_us
        held, ready = self._held, self.ready
        while held and held[0][0] <= self.frontier_us:
            time_us, _, item = heapq.heappop(held)
            ready.append((time_us, item))

    def end(self) -> None:
        """Hold nothing any more."""
        self.has_ended = True
        self.advance(self.latest_us)

    def replace_held(self, change: Callable[[Item], Item]) -> None:
        """Put something else in the place of each item that is held."""
        self._held = [(time_us, number, change(item)) for time_us, number, item in self._held]

    def resume(self, latest_us: int, frontier_us: int) -> None:
        """Continue with nothing held, where this was the latest time of all before, and nothing earlier than
        the frontier was let go any more."""
        self.latest_us, self.frontier_us = latest_us, frontier_us

    def save(self) -> Any:
        """The elements that are held, and the time that has come."""
        return self.latest_us, self.frontier_us, self._count, sorted(self._held, key=lambda one: one[:2])

    def restore(self, noted: Any) -> None:
        """Resume from the noted state."""
        self.latest_us, self.frontier_us, self._count, held = noted
        self._held = list(held)


class Run(NamedTuple):
    """Rows of one stream of a partition, in order."""

    times: array[int]
    """The event time of each, as array("q"), in microseconds."""
    payload: Payload
    tag: int
    """The index of the stream among the component's."""
    offsets: array[int] | None = None
    """The offset of each, as array("q"), where rows have one."""


Held = tuple[Payload, int, int, int]
"""The payload in which a row came, the tag of its stream, its index there, and its offset if it has one."""
Reached = tuple[int, int]
"""A place in what is let go: the time of the last row, and how many rows had that time."""
_DROPPED: Final = -1
"""The tag that marks, among released rows, the place of a late one that is left out."""


class PartitionOrder:
    """Puts the rows of a partition in order, within a slack.

    Its output is a function of the rows of the partition and of nothing else. So a place in that output is a
    place from which another process can resume: it reads the partition again, and leaves out as many rows.

    If rows have offsets, it reads them from the first that was not let go. The latest time of all before is
    in the place, and decides on which are late. The output is sorted by time and offset. The time of a late
    row there is the one at which it is let go. So it leaves out all that is not behind the last row.

    Args:
        lateness: how far out of order rows may be.
    """

    def __init__(self, lateness: Lateness) -> None:
        self._lateness = lateness
        self._order: Reorder[Held] = Reorder(lateness.slack_us)
        self._latest = (AT_FRONTIER, 0)
        self.late: deque[tuple[int, int, int]] = deque()
        """For each late row of what `next_run` has given so far: the place behind which it came, and its
        offset."""
        self._until: Reached | None = None
        """The time and the offset up to which another process has let rows go; None if it has none."""
        self._read: deque[Mark] = deque()
        """For each row with an offset, from the first that has not left: what held before it was read."""
        self._left: set[int] = set()
        """The offsets of rows that have left, and of which one before has not."""

    def resume(self, place: Place, mark: Mark) -> None:
        """Continue where another process has come to this place."""
        ts, count = self._latest = place[0], place[1]
        self._until = (ts, mark.last) if count else None
        self._order.resume(mark.latest_us, mark.frontier_us)

    def take_late(self, reached: Reached) -> Iterator[Reached]:
        """The places of the late rows that come before one in the output, which are forgotten."""
        while self.late and self.late[0] < reached:
            *place, offset = self.late.popleft()
            if self._read and self._lateness.drops:
                self.leave([offset])
            yield place[0], place[1]

    def leave(self, offsets: Iterable[int]) -> None:
        """Note that rows have left, so that nobody has to read them again."""
        left, read = self._left, self._read
        left.update(offsets)
        while read and read[0].low in left:
            left.discard(read.popleft().low)

    def mark(self, last: int, read_to: int) -> Mark:
        """The mark of a place.

        Args:
            last: the offset of the last row that has left.
            read_to: the offset behind all that was read.
        """
        if self._read:
            return self._read[0]._replace(last=last)
        return Mark(last, read_to, self._order.latest_us, self._order.frontier_us)

    @property
    def frontier_us(self) -> int:
        """Event time in microseconds: no row is let go any more that is earlier."""
        return self._order.frontier_us

    @property
    def next_us(self) -> int:
        """Event time in microseconds: neither what was let go nor anything that comes is earlier."""
        ready = self._order.ready
        return ready[0][0] if ready else self._order.frontier_us

    @property
    def latest_us(self) -> int:
        """The latest event time of any row so far."""
        return self._order.latest_us

    @property
    def has_ready(self) -> bool:
        """True if `next_run` may return rows."""
        return bool(self._order.ready)

    def add(self, run: Run) -> int | None:
        """Take in rows as they come.

        Returns:
            The index of the first late row, where that is an error; None for none.
        """
        order, payload, tag = self._order, run.payload, run.tag
        offsets = repeat(0) if run.offsets is None else run.offsets
        for index, (time_us, offset) in enumerate(zip(run.times, offsets, strict=False)):
            if run.offsets is not None:
                self._read.append(Mark(0, offset, order.latest_us, order.frontier_us))
            if time_us >= order.frontier_us:
                order.add(time_us, (payload, tag, index, offset))
            elif self._lateness.refuses:
                return index
            else:
                order.ready.append((order.frontier_us, (payload, _DROPPED, index, offset)))
                if not self._lateness.drops:
                    port = self._lateness.late_port
                    late = payload, tag if port is None else port, index, offset
                    order.ready.append((order.frontier_us, late))
        return None

    def advance(self, time_us: int) -> None:
        """Note the promise of the source that no row comes that is earlier than this."""
        self._order.advance(time_us)

    def end(self) -> None:
        """Note that no more row comes."""
        self._order.end()

    def next_run(self) -> Run | None:
        """The next rows in order, of one stream; None for none at the moment."""
        ready, times = self._order.ready, array("q")
        rows: list[Held] = []
        while ready and len(rows) < _MOST_ROWS:
            time_us, row = ready[0]
            if row[1] != _DROPPED and rows and row[1] != rows[0][1]:
                break
            ready.popleft()
            if self._has_left(time_us, row):
                continue
            before_us, count = self._latest
            if row[1] == _DROPPED:
                self.late.append((time_us, count if time_us == before_us else 0, row[3]))
                continue
            self._latest = time_us, count + 1 if time_us == before_us else 1
            times.append(time_us)
            rows.append(row)
        if not rows:
            return None
        offsets = array("q", [row[3] for row in rows]) if self._read else None
        return Run(times, _gathered(rows), rows[0][1], offsets)

    def _has_left(self, time_us: int, row: Held) -> bool:
        """True if another process has let a row go; the first that it has not ends it."""
        if self._until is None:
            return False
        if (time_us, row[3]) > self._until:
            self._until = None
            return False
        if row[1] != _DROPPED or self._lateness.drops:  # a late one that goes elsewhere has two entries
            self.leave([row[3]])
        return True


def _gathered(rows: Sequence[Held]) -> Payload:
    """The values of rows that came in several payloads; columns stay columns."""
    numbers: dict[int, int] = {}
    payloads: list[Payload] = []
    indexes: list[array[int]] = []
    chosen = array("H")
    for payload, _, index, _ in rows:
        number = numbers.setdefault(id(payload), len(payloads))
        if number == len(payloads):
            payloads.append(payload)
            indexes.append(array("I"))
        indexes[number].append(index)
        chosen.append(number)
    parts = [_chosen(payload, found) for payload, found in zip(payloads, indexes, strict=True)]
    return parts[0] if len(parts) == 1 else interleaved(parts, [0] * len(parts), chosen)


def _chosen(payload: Payload, indexes: array[int]) -> Payload:
    first, count = indexes[0], len(indexes)
    if indexes == array("I", range(first, first + count)):
        return payload.slice(first, count)
    return payload.ordered(indexes)


def out_of_order(
    row: object, where: str, time_us: int, latest_us: int, slack_us: int, shown: Callable[[int], str]
) -> OrderError:
    """The error of a row that comes too late, which says where it is and what to do.

    Args:
        row: its values.
        where: its place in its source.
        time_us: its event time in microseconds.
        latest_us: the latest one before it.
        slack_us: by how much it may be earlier.
        shown: a time as messages show it.
    """
    behind_us = latest_us - time_us
    cause = (
        f"earlier by {behind_us:,} us, and viper.timestamp.slack allows for {slack_us:,} us: set it to "
        f"{-(-behind_us // 1000)} (milliseconds) or more, so that the spout puts such rows in order"
        if behind_us > slack_us
        else "although its source had said that no earlier one comes (Watermark)"
    )
    return OrderError(
        f"{where}: event time goes back: {row!r:.300} is at {shown(time_us)}, after a row at "
        f"{shown(latest_us)}; {cause}; or say with viper.timestamp.late what becomes of rows that are late "
        "(drop, admit, or the name of a stream for them)"
    )
