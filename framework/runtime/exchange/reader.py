"""The reading ends of several gates, each with one source, whose tuples are sorted in Python."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import groupby, repeat
from operator import itemgetter
from struct import Struct
from typing import Any, Final

from viper.interleaving import interleave_positions
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import LEAST, Position, Positions
from viper.reader import Reader, Run

_PLACE: Final = Struct("=qQQ")
"""A position in `Positions.to_bytes`."""
_Values = tuple[Row, "int | None"]
"""The values of a tuple, and the tag of its stream where its task sends several streams."""


class _Delivered:
    """The position that was delivered last."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Have nothing delivered."""
        self.order = array("H")
        """The producing task of each tuple."""
        self.values: list[_Values] = []
        """The tuples."""

    def add(self, source: int, values: _Values) -> None:
        """Have one tuple more of a producing task delivered."""
        self.order.append(source)
        self.values.append(values)


class SortedInPython:
    """Takes the place of the reading end of a gate, for one thread.

    It queues and sorts arriving tuples one by one, as a user's own bolt would do. The rows of each producing
    task come as one run.

    Args:
        readers: one for each producing task, of which there are several.
        room: the most tuples of one producing task that are taken ahead of the others'.
    """

    carries_tracked = True
    """True if tracked tuples may come: no source excludes them here."""

    def __init__(self, readers: Sequence[Reader], room: int) -> None:
        self._readers = tuple(readers)
        self._room = room
        self._places: list[Positions] = [Positions() for _ in readers]
        """Of each producing task the positions of what it has brought, some of which has been passed on."""
        self._passed = array("Q", [0] * len(readers))
        """The number of those that have been passed on."""
        self._last = _Delivered()
        self._is_mutable = False
        """True if a value can be changed by a consumer."""
        self._sort = MergeSort(len(readers), self._last.add)

    # -- what a task takes

    def get_ready(self, limit: int, into: Positions, *, borrows: bool = False) -> list[Run]:
        """Deliver up to `limit` tuples as `Reader.get_ready`, in runs that follow one another."""
        self._take(limit, into)
        stretches = groupby(zip(self._last.order, self._last.values, strict=True), key=itemgetter(0))
        return [self._run(source, [values for _, values in stretch]) for source, stretch in stretches]

    def get_interleaved(
        self, limit: int, into: Positions, *, borrows: bool = False
    ) -> tuple[list[Run], bytes | None]:
        """Deliver up to `limit` tuples as `Reader.get_interleaved`, in one run for each producing task."""
        self._take(limit, into)
        if not self._last.order:
            return [], None
        of_sources: list[list[_Values]] = [[] for _ in self._readers]
        for source, values in zip(self._last.order, self._last.values, strict=True):
            of_sources[source].append(values)
        return list(map(self._run, range(len(of_sources)), of_sources)), self._last.order.tobytes()

    def _take(self, limit: int, into: Positions) -> None:
        self._forget()
        for source in range(len(self._readers)):
            self._pull(source)
        self._last.begin()
        self._sort.emit_ready(limit)
        interleave_positions(self._places, self._passed, self._last.order, into)

    def _pull(self, source: int) -> None:
        """Take all that there is room for: while nothing can go, slices stay as short as they are."""
        reader = self._readers[source]
        room = self._room - self._sort.waiting(source)
        if room > 0 and reader.ready():
            arrived = Positions()
            tuples = self._tuples(reader.get_ready(room, arrived))
            take = partial(self._sort.process, source)
            for place, values in zip(_PLACE.iter_unpack(arrived.to_bytes()), tuples, strict=True):
                take(place, values)
            self._places[source].extend(arrived)
            reader.working(self._untracked(source))
        self._sort.promise(source, reader.watermark())

    def _tuples(self, runs: Iterable[Run]) -> Iterator[_Values]:
        for _, jumbo, first, count in runs:
            self._is_mutable = self._is_mutable or jumbo.payload.mutable
            tags = repeat(None, count) if jumbo.tags is None else jumbo.tags[first : first + count]
            yield from zip(jumbo.payload.rows[first : first + count], tags, strict=True)

    def _run(self, source: int, delivered: Sequence[_Values]) -> Run:
        """The rows of a producing task; those of several streams have tags."""
        is_tagged = not delivered or delivered[0][1] is not None
        tags = array("H", (tag for _, tag in delivered if tag is not None)) if is_tagged else None
        jumbo = Jumbo(Rows([row for row, _ in delivered], self._is_mutable), tags)
        return source, jumbo, 0, jumbo.size

    def _forget(self) -> None:
        """Forget the positions of what has been passed on, in a time that is constant for each tuple."""
        for source, places in enumerate(self._places):
            passed = int(self._passed[source])
            if 2 * passed > len(places):
                kept = Positions()
                kept.extend_from(places, passed, len(places) - passed)
                self._places[source], self._passed[source] = kept, 0

    # -- what a task puts back

    def defer(self) -> None:
        """Do nothing: delivered tuples can be put back until more are delivered."""

    def accept(self) -> None:
        """Do nothing: delivered tuples lie in no memory that others wait for."""

    def put_back(self, rest: object, positions: Positions, kept: int) -> None:
        """Have all that was delivered last but the first `kept` tuples come again, as `Reader.put_back`."""
        back: list[list[tuple[Place, _Values]]] = [[] for _ in self._readers]
        places = list(_PLACE.iter_unpack(positions.to_bytes()))[kept:]
        order, delivered = self._last.order[kept:], self._last.values[kept:]
        for source, place, values in zip(order, places, delivered, strict=True):
            back[source].append((place, values))
        for source, taken in enumerate(back):
            if taken:
                self._passed[source] -= len(taken)
                self._sort.take_back(source, taken)
        positions.truncate(kept)

    # -- how far it is

    def outlook(self) -> tuple[bool, Position, int]:
        """`ready`, `watermark` and `until_ts` in one call."""
        watermark = self.watermark()  # first, as it may let what waits go
        return self.ready(), watermark, max(reader.until_ts() for reader in self._readers)

    def ready(self) -> bool:
        """True if a tuple has arrived that can be sorted in, or passed on."""
        if self._sort.is_ready:
            return True
        waiting = self._sort.waiting
        return any(r.ready() for n, r in enumerate(self._readers) if waiting(n) < self._room)

    def watermark(self) -> Position:
        """The smallest position that can still be delivered; END when it is drained."""
        for source, reader in enumerate(self._readers):
            self._sort.promise(source, reader.watermark())
        return Position(*self._sort.next)

    def drained(self) -> bool:
        """True if all sources were closed and everything was delivered."""
        return not self.waiting_tuples() and all(reader.drained() for reader in self._readers)

    def holding_source(self) -> int | None:
        """The source that holds the others back; None where nothing has to wait."""
        return None if self.ready() or self.drained() else self._sort.holding

    def last_ts(self) -> int:
        """The event time of the source that came furthest."""
        return max(reader.last_ts() for reader in self._readers)

    def waiting_tuples(self) -> int:
        """Tuples that have not been delivered."""
        arrived = sum(reader.waiting_tuples() for reader in self._readers)
        return arrived + sum(map(self._sort.waiting, range(len(self._readers))))

    def working(self, untracked: int) -> None:
        """Say how many of the tuples that were delivered are not finished; those that wait here are not."""
        for source, reader in enumerate(self._readers):
            reader.working(self._untracked(source) + (0 if source else untracked))

    def _untracked(self, source: int) -> int:
        """The number of tuples that wait here and would be lost with this process: nobody tracks them."""
        return self._places[source].untracked(int(self._passed[source]))

    def give_back(self) -> None:
        """Do nothing: lent values are copied where they arrive."""


Place = tuple[int, int, int]
"""The position of a tuple: its time, and the two words of its path."""
_NONE: tuple[Place, int] = ((2**63, 0, 0), 0)
"""Above every place: no source holds the others back."""


class MergeSort:
    """Passes a tuple on once no source can bring one any more that belongs before it.

    It keeps a queue for each source, and a heap of their first tuples. While all sources have a tuple in
    their queues, the first one of the heap goes. A source whose queue is empty holds the others back until it
    brings a tuple, or has promised to bring only later ones.

    Args:
        sources: how many there are; their numbers break ties.
        emit: takes what is passed on: the number of its source, and what came with it.
    """

    def __init__(self, sources: int, emit: Callable[[int, Any], None]) -> None:
        self._emit = emit
        self._queues: Sequence[deque[tuple[Place, Any]]] = [deque() for _ in range(sources)]
        self._heads: list[tuple[Place, int]] = []
        self._promised: list[Place] = [LEAST] * sources
        """Of each source the place below which it brings nothing more."""
        self._limit: tuple[Place, int] = (LEAST, 0)
        """Everything before this can go: the least that a source with an empty queue may still bring."""

    def process(self, source: int, place: Place, values: Any) -> None:
        """Take a tuple, which lies after all tuples that its source has brought before."""
        queue = self._queues[source]
        queue.append((place, values))
        if len(queue) == 1:
            heappush(self._heads, (place, source))
            self._find_limit()

    def promise(self, source: int, place: Place) -> None:
        """Take note that a source will bring nothing below a place."""
        self._promised[source] = place
        if not self._queues[source]:
            self._find_limit()

    def emit_ready(self, most: int) -> int:
        """Pass on what can go, at most so many tuples; returns how many."""
        heads, queues, emit = self._heads, self._queues, self._emit
        count = 0
        while count < most and heads and heads[0] < self._limit:
            source = heads[0][1]
            queue = queues[source]
            emit(source, queue.popleft()[1])
            count += 1
            if queue:
                heapreplace(heads, (queue[0][0], source))
            else:
                heappop(heads)
                self._find_limit()
        return count

    def take_back(self, source: int, taken: Sequence[tuple[Place, Any]]) -> None:
        """Take back the last tuples of a source that were passed on, before all that wait of it."""
        queue = self._queues[source]
        queue.extendleft(reversed(taken))
        self._heads = [(each[0][0], number) for number, each in enumerate(self._queues) if each]
        self._heads.sort()
        self._find_limit()

    @property
    def is_ready(self) -> bool:
        """True if a tuple can be passed on."""
        return bool(self._heads) and self._heads[0] < self._limit

    @property
    def next(self) -> Place:
        """Nothing below this will be passed on any more."""
        limit = self._limit[0]
        return min(self._heads[0][0], limit) if self._heads else limit

    @property
    def holding(self) -> int:
        """The source that holds the others back."""
        return self._limit[1]

    def waiting(self, source: int) -> int:
        """The number of tuples of a source that wait."""
        return len(self._queues[source])

    def _find_limit(self) -> None:
        empty = [(self._promised[n], n) for n, queue in enumerate(self._queues) if not queue]
        self._limit = min(empty, default=_NONE)
