"""The tuples in flight of a bolt whose `process` is a coroutine function.

Tuples pass through here on their way from a channel to their task. They are lined up for the component, which
begins with each as soon as there is room. The task gets a tuple when it is done, and all tuples before it
are. So the task goes through its input in order as any other does: a tuple in flight has not come as yet for
it. The task's promise is the oldest of them, and no cut and no tick overtakes one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from framework.runtime.exchange.inputs import Channel
from framework.runtime.exchange.pieces import InputSource, Piece, split_at
from framework.runtime.tasks.hosts.async_host import AsyncHost, Call
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Position, Positions
from viper.rows import Inbox

if TYPE_CHECKING:
    from viper.columns.lease import Lease


@dataclass(frozen=True, slots=True)
class Room:
    """The numbers of tuples that a component may process ahead of their turn."""

    in_flight: int
    """The most that it has begun and not finished, counted from the oldest."""
    lined_up: int
    """The most that are taken of the channel."""
    commits: bool
    """True if nothing may be in flight while the task commits: tuples are lined up only when none is."""


class InFlight:
    """Has a component process tuples ahead of their turn, and hands them on in order; for one thread.

    Args:
        channel: brings the tuples.
        slot: holds the component.
        inbox: makes tuples of rows, with the ids that they have in their turn.
        room: how many tuples pass through at a time.
        on_oldest: called by any thread when the oldest one is done.
    """

    def __init__(
        self,
        channel: Channel,
        slot: ComponentSlot,
        inbox: Inbox,
        room: Room,
        on_oldest: Callable[[], None],
    ) -> None:
        self._channel = channel
        self._reader = channel.reader
        self._slot = slot
        self._inbox = inbox
        self._room = room
        self._on_oldest = on_oldest
        self._host = slot.host
        """The host that has begun all calls in flight."""
        self._calls: deque[Call] = deque()
        """The calls of the tuples in flight, the oldest first."""
        self._pieces: list[Piece] = []
        """The tuples in flight."""
        self._places = Positions()
        """Their positions, behind those of some that have landed."""
        self._passed = 0
        """The number of positions of such."""
        self._landed: deque[Call] = deque()
        """The calls of tuples that the task has taken, and has not come to."""
        self._stops_at_cut = False
        """True if tuples were put back that lie behind a cut."""

    # -- as an inlet

    @property
    def reader(self) -> InFlight:
        """Itself: what a task asks its reader, it answers too."""
        return self

    @property
    def sources(self) -> tuple[InputSource, ...]:
        """As of an `Inlet`."""
        return self._channel.sources

    def take(self, limit: int, positions: Positions) -> list[Piece]:
        """Take tuples that are done, and have the component begin with others.

        Args:
            limit: the most tuples to take.
            positions: the positions of the tuples are appended here.

        Raises:
            CodecError: a jumbo tuple from another process cannot be decoded here.
        """
        return self._take(limit, positions, self._channel.take)

    def take_first(
        self, limit: int, positions: Positions, wanted: Callable[[Positions], int]
    ) -> list[Piece]:
        """Take tuples that are done, and have the component begin with others that lie before a cut.

        Args:
            limit: the most tuples to take.
            positions: the positions of the tuples are appended here.
            wanted: returns how many of the tuples at some positions are to be processed.

        Raises:
            CodecError: as for `take`.
        """
        self._stops_at_cut = False

        def before_cut(found: Positions) -> int:
            count = wanted(found)
            self._stops_at_cut = count < len(found)
            return count

        return self._take(limit, positions, partial(self._channel.take_first, wanted=before_cut))

    def _take(
        self, limit: int, positions: Positions, more: Callable[[int, Positions], list[Piece]]
    ) -> list[Piece]:
        self._begin_again()
        count = 0
        while count < limit and self._calls and self._calls[0].is_done:
            self._landed.append(self._calls.popleft())
            count += 1
        taken: list[Piece] = []
        if count:
            taken, self._pieces = split_at(self._pieces, count)
            positions.extend_from(self._places, self._passed, count)
            self._passed += count
        untracked = self._untracked(self._passed - count)
        if not (self._room.commits and (count or self._calls)):
            untracked += self._begin(more)
        self._reader.working(untracked)
        return taken

    def _begin(self, more: Callable[[int, Positions], list[Piece]]) -> int:
        """Line up as many tuples as there is room for; returns how many of them nobody tracks."""
        room = self._room.lined_up - len(self._calls)
        found = Positions()
        pieces = more(room, found) if room > 0 else []
        if not pieces:
            return 0
        self._forget()
        self._places.extend(found)
        self._pieces += pieces
        self._inbox.load(pieces)
        calls = [Call(self._done, tup) for tup in self._inbox]
        self._calls += calls
        self._of_now.begin_calls(calls, self._room.in_flight)
        return found.untracked()

    def _begin_again(self) -> None:
        """Have a component that was made again begin with the tuples that the one before has not done."""
        if self._host is not self._slot.host:
            self._host = self._slot.host
            left = [call.again() for call in self._calls]
            self._calls = deque(left)
            self._of_now.begin_calls([call for call in left if not call.is_done], self._room.in_flight)

    @property
    def _of_now(self) -> AsyncHost:
        assert isinstance(self._host, AsyncHost)
        return self._host

    def _done(self, call: Call) -> None:
        """On the thread of the event loop: a call is over."""
        calls = self._calls
        if calls and calls[0] is call:
            self._on_oldest()

    def _forget(self) -> None:
        """Forget the positions of what has landed, in a time that is constant for each tuple."""
        if 2 * self._passed > len(self._places):
            kept = Positions()
            kept.extend_from(self._places, self._passed, len(self._places) - self._passed)
            self._places, self._passed = kept, 0

    # -- as a processor's callback

    def land(self, tup: object) -> None:
        """Do in the task what the component has done for the next tuple, and raise what it has raised."""
        self._landed.popleft().replay()

    # -- as a reader

    @property
    def carries_tracked(self) -> bool:
        """True if tracked tuples may come."""
        return self._reader.carries_tracked

    @property
    def count(self) -> int:
        """The number of tuples in flight."""
        return len(self._calls)

    def outlook(self) -> tuple[bool, Position, int]:
        """As `Reader.outlook`: the oldest tuple in flight is the next one."""
        ready, watermark, until_ts = self._reader.outlook()
        if not self._calls:
            return ready, watermark, until_ts
        may_begin = not (self._room.commits or self._stops_at_cut)
        may_begin = may_begin and len(self._calls) < self._room.lined_up
        ready = self.ready_to_land or (ready and may_begin)
        return ready, self._places[self._passed], until_ts

    def ready(self) -> bool:
        """True if `take` would do anything."""
        return self.outlook()[0]

    @property
    def ready_to_land(self) -> bool:
        """True if the oldest tuple in flight is done, or is to be begun again."""
        return self._calls[0].is_done or self._host is not self._slot.host

    def holding_source(self) -> int | None:
        """The source that holds the input back; None while tuples are in flight."""
        return None if self._calls else self._reader.holding_source()

    def last_ts(self) -> int:
        """As `Reader.last_ts`."""
        return self._reader.last_ts()

    def waiting_tuples(self) -> int:
        """The number of tuples that have come and have not been taken."""
        return len(self._calls) + self._reader.waiting_tuples()

    def defer(self) -> None:
        """Let the channel put tuples back."""
        self._reader.defer()

    def working(self, untracked: int) -> None:
        """As `Reader.working`: tuples in flight are not finished."""
        self._reader.working(untracked + self._untracked(self._passed))

    def _untracked(self, first: int) -> int:
        """The number of tuples that nobody tracks from an index of the positions on."""
        return self._places.untracked(first)

    def give_back(self) -> Lease | None:
        """As `Reader.give_back`."""
        return self._reader.give_back()

    # -- at the end

    def close(self) -> int:
        """Wait for no tuple in flight any more; returns how many of them are lost, as nobody tracks them."""
        lost = self._untracked(self._passed)
        self._calls.clear()
        self._landed.clear()  # which refer to this
        self._pieces = []
        self._places, self._passed = Positions(), 0
        return lost
