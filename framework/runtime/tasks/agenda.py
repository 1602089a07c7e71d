"""The work of a bolt's task that is due at a position, between two inputs.

Ticks, batches and windows are such entries. Every other kind of work that is due at a position is one more
client. The task asks all clients in the same places. It runs their entries in the order of positions, through
the same bounded way as tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from framework.recording.timeline import ReplayTicks, Tick, TickKind
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.order.positions.ticks import EventTicks, WallTimer
from viper.position import LEAST, Position

NEVER_S = float("inf")


class Entry(NamedTuple):
    """Something to be done between two inputs."""

    at: Position | None
    """The position of its outputs; None for the task's frontier."""
    run: Callable[[Position | None], None]
    """Does it; is given the position."""


class Frontier(NamedTuple):
    """The progress of a task's input."""

    position: Position
    """No input below this will come; `LAST` or above once every source has brought all it has."""
    time_us: int
    """The event time that has come, in microseconds. A position does not say it behind all input of the
    sources, nor at a cut that is further on."""
    is_over: bool
    """True if no input at all will come."""


class AgendaClient:
    """Something that is due at positions, or at times of the wall clock. By default nothing ever is."""

    def is_due_before(self, position: Position) -> bool:
        """True if an entry is due before an input at a position.

        If it is true of a position, it is true of all later ones.
        """
        return False

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The entries before an input at a position; they are not given again."""
        return iter(())

    def input_passed(self, position: Position) -> None:
        """Note that inputs have been processed, up to a position."""

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The entries that are due when the input has been processed up to a frontier."""
        return iter(())

    def held(self, position: Position) -> Position:
        """The position that may be promised to consumers of a task whose input has come to a position."""
        return position

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """The entries that are due at a monotonic time in seconds."""
        return iter(())

    @property
    def due_at_s(self) -> float:
        """Monotonic time in seconds at which `take_timed` gives the next entry; infinite if it never does."""
        return float("inf")

    @property
    def ends_at_us(self) -> int | None:
        """Event time in microseconds at which the next entry is due, whatever input comes; None if there is
        none."""
        return None

    def taken_over(self) -> None:
        """Note that the task has other key groups from now on."""

    def save(self) -> dict[str, Any]:
        """The state that another run resumes from, as JSON holds it, by names that no other client uses."""
        return {}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from the data that all clients of another run have saved; called before anything is due."""


class Agenda:
    """All that is due in one task.

    Args:
        clients: give the entries; of several that are due together, those of the first client come first.
    """

    def __init__(self, clients: Sequence[AgendaClient] = ()) -> None:
        self._clients = tuple(clients)
        self.has_clients = bool(self._clients)
        """True if anything can ever be due."""

    def also(self, client: AgendaClient) -> Agenda:
        """The agenda with all that is due here, and then by one more client."""
        return Agenda((*self._clients, client))

    def is_due_before(self, position: Position) -> bool:
        """True if an entry is due before an input at a position."""
        return any(client.is_due_before(position) for client in self._clients)

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The entries before an input at a position."""
        for client in self._clients:
            yield from client.take_before(position)

    def input_passed(self, position: Position) -> None:
        """Note that inputs have been processed, up to a position."""
        for client in self._clients:
            client.input_passed(position)

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The entries that are due when the input has been processed up to a frontier."""
        for client in self._clients:
            yield from client.take_until(frontier)

    def held(self, position: Position) -> Position:
        """The position that may be promised to consumers of a task whose input has come to a position."""
        for client in self._clients:
            position = client.held(position)
        return position

    def taken_over(self) -> None:
        """Note that the task has other key groups from now on."""
        for client in self._clients:
            client.taken_over()

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """The entries that are due at a monotonic time in seconds."""
        for client in self._clients:
            yield from client.take_timed(now_s)

    def save(self) -> dict[str, Any]:
        """The state that another run needs to resume; for `restore`."""
        return {name: value for client in self._clients for name, value in client.save().items()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Resume from the data of another run; called before anything is due."""
        for client in self._clients:
            client.restore(saved)

    @property
    def ends_at_us(self) -> int | None:
        """Event time in microseconds at which the next entry is due, whatever input comes; None if there is
        none."""
        ends = [client.ends_at_us for client in self._clients]
        return min((end_us for end_us in ends if end_us is not None), default=None)

    @property
    def due_at_s(self) -> float:
        """Monotonic time in seconds at which the next entry is due by the wall clock."""
        if not self._clients:
            return NEVER_S
        return min([client.due_at_s for client in self._clients])


class EventTimeTicks(AgendaClient):
    """Ticks by event time.

    Args:
        ticks: when they are due.
        tick: gives the component a tick.
        has_producers: whether event time begins with an input, and not at once.
        last_time_us: how far event time came, for inputs behind all that has a time.
        path: the upper word of their path.
    """

    def __init__(
        self,
        ticks: EventTicks,
        tick: Callable[[Position | None], None],
        *,
        has_producers: bool,
        last_time_us: Callable[[], int],
        path: int = 0,
    ) -> None:
        self._ticks = ticks
        self._path = path
        self._tick = tick
        self._has_producers = has_producers
        self._last_time_us = last_time_us

    def is_due_before(self, position: Position) -> bool:
        """True if a tick is due before an input at a position."""
        boundary = self._ticks.next_boundary()
        return boundary is None or self._due_before(position) >= boundary

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The ticks before an input at a position."""
        begins = self._ticks.next_boundary() is None
        yield from self._entries(self._time_at(position) if begins else self._due_before(position))

    def input_passed(self, position: Position) -> None:
        """Note that further ticks can be noticed again from now on."""
        self._ticks.input_seen()

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The ticks that event time has come to; it begins with the first input, where there are any."""
        boundary, time_us = self._ticks.next_boundary(), frontier.time_us
        if time_us == LEAST.ts or (self._has_producers and boundary is None):
            return
        if boundary is not None and frontier.position < LAST:
            time_us = min(time_us, self._due_before(frontier.position))
        yield from self._entries(time_us)

    def held(self, position: Position) -> Position:
        """The next tick, as that may still be due where event time has not come to the position."""
        boundary = self._ticks.next_boundary()
        if boundary is None or position >= LAST:
            return position
        return min(position, Position(boundary, self._path, 0))

    def save(self) -> dict[str, Any]:
        """The time of the next tick, and the number of ticks since the last input."""
        return {"ticks": self._ticks.save()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """As in the base class."""
        if "ticks" in saved:
            self._ticks.restore(*saved["ticks"])

    def _entries(self, time_us: int) -> Iterator[Entry]:
        for due_us in self._ticks.due(time_us):
            yield Entry(Position(due_us, self._path, 0), self._tick)

    def _due_before(self, position: Position) -> int:
        """The time of the last tick that may lie before a position: there may be some of its time ahead."""
        return self._time_at(position) - (position < LAST and position.hi < self._path)

    def _time_at(self, position: Position) -> int:
        return position.ts if position < LAST else self._last_time_us()


class RecordedTicks(AgendaClient):
    """The entries that were due by the wall clock in a run that this one repeats.

    Args:
        ticks: what it was, and when.
        tick: gives the component a tick.
        fire: lets it process what it has gathered.
    """

    def __init__(
        self,
        ticks: ReplayTicks,
        tick: Callable[[Position | None], None],
        fire: Callable[[Position | None], None],
    ) -> None:
        self._ticks = ticks
        self._tick = tick
        self._fire = fire

    def is_due_before(self, position: Position) -> bool:
        """True if an entry is due before an input at a position."""
        return self._ticks.next is not None and self._ticks.next.is_before(position)

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The entries before an input at a position."""
        return map(self._entry, self._ticks.due(position))

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The entries before a frontier."""
        return map(self._entry, self._ticks.due(frontier.position))

    def _entry(self, tick: Tick) -> Entry:
        return Entry(tick.at, self._tick if tick.kind is TickKind.TICK else self._fire)


class Timed(AgendaClient):
    """Something that is due every so many seconds of the wall clock, at the task's frontier.

    Args:
        timer: when it is due.
        run: does it.
        catches_up: whether a task that could not run for several periods does it once for each, as Storm
            delivers each tick.
    """

    def __init__(self, timer: WallTimer, run: Callable[[Position | None], None], *, catches_up: bool) -> None:
        self._timer = timer
        self._run = run
        self._catches_up = catches_up

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """The entries that have become due since the last time."""
        count = self._timer.take_due(now_s)
        for _ in range(count if self._catches_up else min(count, 1)):
            yield Entry(None, self._run)

    @property
    def due_at_s(self) -> float:
        """The time at which it is due next."""
        return self._timer.due_at_s


class AskedFor(AgendaClient):
    """Something that is due as soon as it is asked for, once each time.

    Args:
        run: does it.
    """

    def __init__(self, run: Callable[[Position | None], None]) -> None:
        self._run = run
        self._count = 0

    def ask(self) -> None:
        """Have it done at the next turn."""
        self._count += 1

    def take_timed(self, now_s: float) -> Iterator[Entry]:
        """It, as often as it was asked for."""
        while self._count:
            self._count -= 1
            yield Entry(None, self._run)

    @property
    def due_at_s(self) -> float:
        """Long ago, or never."""
        return 0.0 if self._count else NEVER_S


class LastEntries(AgendaClient):
    """The last tick and the last batches, at the end of the input.

    Their position is one that no clock knows: after all input, and after the last entries of the bolts that
    feed this one. So they come at the same place in every run. They are due when every source has brought all
    it has, although tracked tuples may not have been answered yet: the sources wait for those answers, which
    may come with the last tick only. Should tuples fail and be repeated then, the entries are due again.

    Args:
        depth: hops on the longest way from a source to the bolt.
        runs: what is to be done, in order.
        waits_for_end: whether no source waits for answers, or inputs may come back through a cycle. Then the
            entries are due at the end of all input only, unless the component holds tuples.
        take_new_holds: whether the component has kept tuples since this was asked last, which it may answer
            at its next tick or batch.
        published: what the task's consumers know: nothing is placed below it.
        may_end: whether the end of the input is also that of what the run is a part of; asked once they are
            due.
    """

    def __init__(
        self,
        depth: int,
        runs: Sequence[Callable[[Position | None], None]],
        *,
        waits_for_end: bool,
        take_new_holds: Callable[[], bool],
        published: Callable[[], Position],
        may_end: Callable[[], bool] = lambda: True,
    ) -> None:
        self._may_end = may_end
        self._at = Position(LAST.ts + depth, 0, 0)
        self._runs = tuple(runs)
        self._waits_for_end = waits_for_end
        self._take_new_holds = take_new_holds
        self._published = published
        self._were_due = False
        self._input_since = False
        """True if inputs have been processed since the entries were due."""

    def input_passed(self, position: Position) -> None:
        """Note processed input; after the last entries, it makes them due again at the end."""
        self._input_since = True

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The last entries, if they are due."""
        if frontier.position < self._at or not self._are_due(frontier) or not self._may_end():
            return
        self._were_due, self._input_since = True, False
        at = max(self._at, self._published())
        for run in self._runs:
            yield Entry(at, run)

    def save(self) -> dict[str, Any]:
        """The state of the last entries: were they due, and did input come after them."""
        return {"last": [self._were_due, self._input_since]}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """As in the base class: they are given no more if they were given."""
        if "last" in saved:
            self._were_due, self._input_since = saved["last"]

    def _are_due(self, frontier: Frontier) -> bool:
        holds = self._take_new_holds()
        if frontier.is_over:
            return self._input_since or not self._were_due
        return holds or not (self._were_due or self._waits_for_end)
