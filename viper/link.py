"""A link: the way from one task to another that the same thread runs, and that receives from no other.

The tuples of a single source are in order already, so nothing has to be merged. Tuples that one thread both
adds and takes need no memory that others share. So a link is a queue. It replaces a gate with one source and
one reader, and has the methods of both of its ends.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from itertools import islice

from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import END, LEAST, UNTOLD, Position, Positions
from viper.reader import Run
from viper.statistics import DeliveryStatistics, GateStatistics, ReaderStatistics, SourceStatistics


class Link:
    """Both ends of the way from one task to another; for one thread, but for `statistics`.

    It takes whatever it is given, and says afterwards how much of it there was no room for. So the producing
    task waits as it would for a gate, and nothing has to be handed over twice.

    Args:
        slots: jumbo tuples that it has room for.
        tuples: tuples that it has room for.
    """

    store_bytes = None
    """None, as nothing that goes this way is encoded."""

    def __init__(self, *, slots: int, tuples: int) -> None:
        self.positions = Positions()
        """The positions of the tuples that wait, after those of some that have been taken."""
        self.carries_tracked = False
        """True if tracked tuples may come, as one has been put at some time."""
        self._slots = slots
        self._room = tuples
        self._jumbos: deque[Jumbo] = deque()
        """The jumbo tuples of which tuples wait."""
        self._waiting = 0
        """The number of tuples that wait."""
        self._passed = 0
        """The number of positions that belong to tuples which have been taken."""
        self._taken = 0
        """The number of tuples of the first jumbo tuple that have been taken."""
        self._floor = LEAST
        self._last_ts = UNTOLD
        self._added = self._added_jumbos = self._runs = 0
        self._refused = self._blocked_ns = 0
        self._blocked_since_ns: int | None = None

    # -- the producing task's end

    def put(self, jumbo: Jumbo) -> None:
        """Hand over a jumbo tuple, the positions of whose tuples have been appended to `positions`."""
        size = jumbo.size
        if size:
            self._jumbos.append(jumbo)
            self._waiting += size
            self._added += size
            self._added_jumbos += 1

    def note_tracked(self) -> None:
        """Some of the tuples that were put are tracked."""
        self.carries_tracked = True

    def excess(self) -> int:
        """The number of tuples that there is no room for; 0 if the producing task may continue."""
        if self._waiting <= self._room and len(self._jumbos) <= self._slots:
            if self._blocked_since_ns is not None:
                self._blocked_ns += time.monotonic_ns() - self._blocked_since_ns
                self._blocked_since_ns = None
            return 0
        self._refused += 1
        if self._blocked_since_ns is None:
            self._blocked_since_ns = time.monotonic_ns()
        return max(self._waiting - self._room, len(self._jumbos) - self._slots)

    def heartbeat(self, position: Position) -> None:
        """Promise that nothing below a position will be added; one below an earlier one changes nothing."""
        if position > self._floor:
            self._floor = position

    def tell_last_ts(self, ts: int) -> None:
        """Tell how far event time came, before a heartbeat that no longer says it."""
        self._last_ts = ts

    def close(self) -> None:
        """Promise that nothing will be added any more."""
        self._floor = END

    def floor(self) -> Position:
        """The smallest position that may still be added; END once closed."""
        return self._floor

    # -- the consuming task's end

    def get_ready(self, limit: int, into: Positions) -> list[Run]:
        """Deliver up to `limit` tuples, in order; their positions are appended to `into`."""
        waiting = self._waiting
        if not waiting:
            return []
        # Most often a single jumbo tuple waits, and is taken whole.
        if waiting <= limit and len(self._jumbos) == 1 and not (self._passed or self._taken):
            into.take_over(self.positions)  # first, as a finalizer may put another one behind it
            runs = [(0, self._jumbos.popleft(), 0, waiting)]
            self._waiting -= waiting
        else:
            runs = self._part(self._uncut(limit), into)
        self._runs += len(runs)
        return runs

    def defer(self) -> None:
        """Nothing: what was delivered can be put back until more is."""

    def accept(self) -> None:
        """Nothing: what goes this way lies in no memory that others wait for."""

    def put_back(self, rest: Iterable[tuple[Run, int]], positions: Positions, kept: int) -> None:
        """As `Reader.put_back`."""
        back = list(rest)
        count = len(positions) - kept
        waiting = Positions()
        waiting.extend_from(positions, kept, count)
        waiting.extend_from(self.positions, self._passed, self._waiting)
        self.positions.clear()
        self.positions.extend(waiting)
        self._passed = 0
        self._waiting += count
        for (_, jumbo, first, size), number in reversed(back):
            if not (self._jumbos and self._jumbos[0] is jumbo):
                self._jumbos.appendleft(jumbo)
            self._taken = first + size - number
        positions.truncate(kept)

    def _uncut(self, limit: int) -> int:
        """The number of tuples to take: no columns are cut but those that come first.

        A part of 100 columns takes as many calls as all of it. With a limit of 16,384, batches of 3,616 and
        16,384 rows came in parts of 12,768 and 3,616.
        """
        count = self._jumbos[0].size - self._taken
        for jumbo in islice(self._jumbos, 1, None):
            if count >= limit:
                break
            if count + jumbo.size > limit and not isinstance(jumbo.payload, Rows):
                return count
            count += jumbo.size
        return min(count, limit)

    def _part(self, count: int, into: Positions) -> list[Run]:
        into.extend_from(self.positions, self._passed, count)
        self._passed += count
        self._waiting -= count
        self._forget()
        return list(self._cut(count))

    def _cut(self, count: int) -> Iterable[Run]:
        while count:
            jumbo, first = self._jumbos[0], self._taken
            size = min(jumbo.size - first, count)
            if first + size == jumbo.size:
                self._jumbos.popleft()
                self._taken = 0
            else:
                self._taken += size
            yield 0, jumbo, first, size
            count -= size

    def _forget(self) -> None:
        """Forget the positions of what has been taken, in a time that is constant for each tuple."""
        if self._passed < self._waiting:
            return
        kept = Positions()
        kept.extend_from(self.positions, self._passed, self._waiting)
        self.positions.clear()
        self.positions.extend(kept)
        self._passed = 0

    def outlook(self) -> tuple[bool, Position, int]:
        """`ready`, `watermark` and `until_ts` in one call."""
        if self._waiting:
            return True, self.watermark(), self._last_ts
        return False, self._floor, self._last_ts

    def ready(self) -> bool:
        """True if any tuple waits."""
        return self._waiting > 0

    def watermark(self) -> Position:
        """The smallest position that can still be delivered; END when it is drained."""
        return self.positions[self._passed] if self._waiting else self._floor

    def drained(self) -> bool:
        """True if it was closed, and everything was delivered."""
        return not self._waiting and self._floor == END

    def holding_source(self) -> int | None:
        """0, its only source, if the reader waits for it; None if a tuple is ready or it is drained."""
        return None if self._waiting or self._floor == END else 0

    def last_ts(self) -> int:
        """Read how far event time came, as the source has reported it; LEAST.ts if it has not."""
        return LEAST.ts if self._last_ts == UNTOLD else self._last_ts

    def until_ts(self) -> int:
        """As `Reader.until_ts`."""
        return self._last_ts

    def waiting_tuples(self) -> int:
        """Tuples that were not delivered yet."""
        return self._waiting

    def working(self, untracked: int) -> None:
        """Nothing: no one outlives this process to whom it could matter how many tuples are in process."""

    def give_back(self) -> None:
        """Nothing: what goes this way is never lent."""

    # -- for anybody

    def statistics(self) -> GateStatistics:
        """Counts of the tuples that have passed, and of those that wait now."""
        since_ns = self._blocked_since_ns
        blocked_ns = self._blocked_ns + (0 if since_ns is None else time.monotonic_ns() - since_ns)
        waiting, added = self._waiting, self._added
        adding = SourceStatistics(self._added_jumbos, added, 0, self._refused, blocked_ns)
        taking = DeliveryStatistics(added - waiting, self._runs, len(self._jumbos), waiting)
        reading = ReaderStatistics(self.holding_source(), (taking,))
        return GateStatistics(self._slots, self._room, 0, (adding,), (reading,))
