"""Destinations: each gathers a task's tuples for one consuming task, or several that have one input.

Tuples that find no room wait here, in the payloads in which they came.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from framework.model.errors import EmitError
from viper.errors import PayloadSizeError
from viper.forest import Forest
from viper.jumbo import Jumbo
from viper.link import Link
from viper.payload import Payload, Rows, worth_joining
from viper.position import Positions
from viper.source import BATCHES_BESIDE, Source

STORE_SHARE = 8
"""The columns of a jumbo tuple take at most one part in so many of the room of a channel to another process.

With an eighth, a filter of records of 10 numbers makes 16.3 million of them a second; with a quarter, 11.4.
Within a process there is no such limit. With as few bytes as here, it would make 17.6 million instead of 31.
Of records of 100 numbers it would make 0.6 million instead of 2.7, as each batch costs something for each of
its columns.
"""
_ROWS_BESIDE = 2
"""Jumbo tuples of rows that there is room for beside one that was emitted at once."""
MAX_WAITING = 1_000_000
"""Most tuples that may wait on one way through a cycle."""


Outlet: TypeAlias = Source | Link
"""A way to a consuming task: the producing end of a gate, or a link."""


class Destination:
    """Gathers tuples as jumbo tuples for one consuming task, or for several that have one input.

    Tuples come in the order of their positions. Tuples that the gates have no room for wait here, and the
    producing task is not run until they have gone.
    """

    def __init__(
        self,
        tasks: Sequence[int],
        sources: Sequence[Source],
        jumbo_size: int,
        tagged: bool,
        columns_rows: int | None = None,
        mask_shift: int | None = None,
    ) -> None:
        """
        Args:
            tasks: ids of the consuming tasks.
            sources: the producing ends of their gates, one for each gate; those that other processes read
                come first.
            jumbo_size: the most tuples in one jumbo tuple.
            tagged: whether the tuples belong to several streams.
            columns_rows: the most tuples in one that holds columns; None where no stream has a schema.
            mask_shift: as of a `Jumbo`, where the tuples are addressed rows.
        """
        self.claimed = False
        """True if each tuple goes to one of its tasks, which claims it: nobody knows as yet to which."""
        self.tasks = tuple(tasks)
        self.sources = tuple(sources)
        self.outlets: tuple[Outlet, ...] = self.sources
        """The producing ends through which consuming tasks hear of this task's progress."""
        self.positions = Positions()
        """The positions of the tuples that wait."""
        self.count = 0
        """The number of tuples that wait; kept here, as it is read several times a turn."""
        self._waiting = Backlog()
        self._tags: array[int] | None = array("H") if tagged else None
        self._mask_shift = mask_shift
        self._jumbo_size = jumbo_size
        self._columns_rows = columns_rows or jumbo_size
        stores = [store for source in sources if (store := source.store_bytes) is not None]
        self._most_bytes = min(stores) // STORE_SHARE if stores else None
        """About the most bytes of one jumbo tuple; None if none of them leaves the process."""
        self._rows_whole, self._columns_whole = (
            min((source.most_whole(size, beside) for source in sources), default=0)
            for size, beside in ((jumbo_size, _ROWS_BESIDE), (self._columns_rows, BATCHES_BESIDE))
        )
        """The most tuples of one jumbo tuple that were emitted at once, in rows and in columns."""
        self._next: Jumbo | None = None
        """The jumbo tuple that a gate had no room for last; it holds the first tuples that wait."""
        self._taken_by = 0
        """The number of sources that have taken that jumbo tuple already."""
        self._counted = 0
        """The number of tuples, from the first on, that have been counted by their trees or have none."""
        self._spare = Positions()

    def let_claim(self) -> None:
        """Have each tuple go to one of its tasks, which claims it; else it goes to all of them."""
        self.claimed = True

    def put(self, payload: Payload, tags: Iterable[int] = ()) -> None:
        """Append tuples whose positions have been appended to `positions` already.

        Args:
            payload: the values of the tuples, in order.
            tags: for each tuple the index of its stream among the producer's, if this destination is tagged.
        """
        self._waiting.put(payload)
        self.count = self._waiting.count
        if self._tags is not None:
            self._tags.extend(tags)

    def count_tracked(self, forest: Forest) -> None:
        """Have trees count the tuples that were put since the last call, once for each task that gets them.

        This must happen before the tuples are handed over, or a consumer's ack could come first.
        """
        count = self.count
        if count > self._counted:
            copies = 1 if self.claimed else len(self.tasks)
            forest.add(self.positions, self._counted, count - self._counted, copies)
            self._counted = count

    def flush(self) -> bool:
        """Hand over the tuples that wait.

        Returns:
            True if there was room for all of them.

        Raises:
            EmitError: a single tuple takes more bytes than a channel to another process has.
        """
        first, count = 0, self.count
        while first < count:
            jumbo = self._next or self._jumbo(first, self._most_at_once())
            try:
                taken = self._add(jumbo, first)
            except PayloadSizeError as error:
                self._next = self._half(jumbo, first, error)
                continue
            if not taken:
                self._next = jumbo
                break
            self._next = None
            first += jumbo.size
            self._waiting.drop(jumbo.size)
        if first:
            self._drop(first)
        return first == count

    @property
    def is_tagged(self) -> bool:
        """True if the tuples belong to several streams."""
        return self._tags is not None

    def waiting_untracked(self) -> int:
        """The number of untracked tuples that wait for room; if the process dies, they are lost."""
        return self.positions.untracked(0, self.count)

    def publish_waiting(self) -> None:
        """Publish the position of the first tuple that waits, of which there must be one, to the consumers.

        Of the replicas that share a full gate, one may have processed everything while another has not. A
        task further downstream may wait for the first one's heartbeat, which this makes possible.
        """
        first = self.positions[0]
        for source in self.sources:
            source.heartbeat(first)

    def _add(self, jumbo: Jumbo, first: int) -> bool:
        for source in self.sources[self._taken_by :]:
            if not source.add(jumbo, self.positions, first, jumbo.size):
                return False
            self._taken_by += 1
        self._taken_by = 0
        return True

    def _most_at_once(self) -> int:
        """The most tuples of the next jumbo tuple."""
        payload, rest = self._waiting.next, self._waiting.rest
        if isinstance(payload, Rows):
            if rest <= self._jumbo_size:
                return self._jumbo_size
            return max(self._jumbo_size, min(rest, self._rows_whole, self._fitting()))
        if self._most_bytes is None:
            return self._columns_rows
        # Each piece costs its consumers turns: in pieces of 16,384 a word count takes 1.4 times as long.
        most = max(self._columns_rows, min(rest, self._columns_whole))
        return max(min(most, self._most_bytes // payload.row_bytes), 1)

    def _fitting(self) -> int:
        """The most rows that take no more bytes than they should, if they are like the last ones."""
        if self._most_bytes is None:
            return self._rows_whole
        return self._most_bytes // max(1, *(source.row_bytes for source in self.sources))

    def _jumbo(self, first: int, most: int) -> Jumbo:
        payload = self._waiting.first(most)
        tags = None if self._tags is None else self._tags[first : first + len(payload)]
        return Jumbo(payload, tags, self._mask_shift)

    def _half(self, jumbo: Jumbo, first: int, error: PayloadSizeError) -> Jumbo:
        if jumbo.size == 1:
            raise EmitError(
                f"{jumbo.payload.rows[0]!r:.200} takes {error.size:,} bytes on its way to another process: "
                f"expected at most {error.capacity:,}; raise viper.channel.bytes, or use --worker inline"
            ) from error
        return self._jumbo(first, jumbo.size // 2)

    def _drop(self, count: int) -> None:
        kept = self.count = self.count - count
        if self._tags is not None:
            del self._tags[:count]
        if not kept:  # the same memory for the next ones, which the processor's caches have still
            self._counted = 0
            self.positions.clear()
            return
        self._counted = max(self._counted - count, 0)
        self._spare.extend_from(self.positions, count, kept)
        self.positions.clear()
        self.positions, self._spare = self._spare, self.positions


class CyclicDestination(Destination):
    """A destination that is part of a cycle. It never blocks its producer, or the cycle could deadlock."""

    def put(self, payload: Payload, tags: Iterable[int] = ()) -> None:
        """Append tuples as in the base class.

        Raises:
            EmitError: more than `MAX_WAITING` tuples wait.
        """
        super().put(payload, tags)
        if self.count > MAX_WAITING:
            raise EmitError(
                f"{self.count:,} tuples wait for task {self.tasks[0]}: "
                "the cycle emits more than it can process"
            )

    def flush(self) -> bool:
        """Hand over the tuples that there is room for; the rest waits, and the producer continues."""
        super().flush()
        return True


class LinkedDestination(Destination):
    """A destination whose consuming task is run by the same thread, which takes the tuples from here.

    Args:
        task: id of the consuming task.
        link: the way to it.
        tagged: whether the tuples belong to several streams.
    """

    def __init__(self, task: int, link: Link, tagged: bool) -> None:
        super().__init__((task,), (), 1, tagged)
        self.outlets = (link,)
        self.positions = link.positions
        self._link = link
        self._uncounted = 0
        """Tuples that were put since they were counted by their trees last."""

    def put(self, payload: Payload, tags: Iterable[int] = ()) -> None:
        """Hand over tuples as in the base class; there is always room for them."""
        jumbo = Jumbo(payload, None if self._tags is None else array("H", tags))
        self._link.put(jumbo)
        self.count += jumbo.size
        self._uncounted += jumbo.size

    def count_tracked(self, forest: Forest) -> None:
        """As in the base class."""
        self._link.note_tracked()
        # Those without a tree are not counted, and may have been taken.
        count, self._uncounted = min(self._uncounted, len(self.positions)), 0
        if count:
            forest.add(self.positions, len(self.positions) - count, count, 1)

    def flush(self) -> bool:
        """Find out how many tuples the producing task has to wait for; whether there was room for all."""
        self.count = self._link.excess()
        return not self.count

    def publish_waiting(self) -> None:
        """Do nothing: the consuming task sees the tuples that wait."""

    def waiting_untracked(self) -> int:
        """0, as in the base class: nothing would be left of the consuming task either."""
        return 0


class Backlog:
    """A queue of tuples' values. Large payloads are not copied to be together."""

    __slots__ = ("_gone", "_payloads", "count")

    def __init__(self) -> None:
        self.count = 0
        """The number of tuples."""
        self._payloads: list[Payload] = []
        self._gone = 0
        """Tuples of the first payload that have been dropped."""

    def put(self, payload: Payload) -> None:
        """Append tuples."""
        count = len(payload)
        if count:
            self._payloads.append(payload)
            self.count += count

    @property
    def next(self) -> Payload:
        """The payload that the first of them is in; there must be one."""
        return self._payloads[0]

    @property
    def rest(self) -> int:
        """The number of tuples of that payload which have not been dropped."""
        return len(self._payloads[0]) - self._gone

    def first(self, most: int) -> Payload:
        """The first of them, so many at most; less where those behind are not worth joining to them."""
        if len(self._payloads) > 1 and len(self._payloads[0]) - self._gone < most:
            self._join(most)
        payload = self._payloads[0]
        return payload.slice(self._gone, min(len(payload) - self._gone, most))

    def drop(self, count: int) -> None:
        """Forget the first of them, which were in one payload."""
        self.count -= count
        self._gone += count
        if self._gone >= len(self._payloads[0]):
            del self._payloads[0]
            self._gone = 0

    def _join(self, most: int) -> None:
        payloads, self._gone = [self._rest(), *self._payloads[1:]], 0
        first, *others = payloads[: worth_joining(payloads, most)]
        self._payloads[: 1 + len(others)] = [first.joined(*others)]

    def _rest(self) -> Payload:
        payload = self._payloads[0]
        return payload.slice(self._gone, len(payload) - self._gone)
