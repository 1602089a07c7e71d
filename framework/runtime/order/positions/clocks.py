"""The positions of what a spout's task emits: one clock per kind of time."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from array import array
from collections.abc import Mapping
from typing import Any

from framework.model.errors import EmitError
from framework.planning import TimeMode
from framework.runtime.order.positions.event_times import AT_FRONTIER, EventTimes, shown
from framework.runtime.order.positions.lineage import REPEATS
from viper.payload import Payload
from viper.position import LEAST, Level, Position, Positions, SourceClock
from viper.source import raise_to


class Clock(ABC):
    """Gives positions to the tuples of one source partition, in order."""

    is_live = False
    """True if its time passes while nothing is emitted."""

    def __init__(self, level: Level) -> None:
        self.level = level
        """The level of the path that the partition writes."""
        self.raised = 0
        """Tuples whose time lay before what the task that died had promised."""

    @property
    def saturated(self) -> int:
        """Tuples that had no room left for their place among those of the same time."""
        return 0

    @abstractmethod
    def resume(self, floor: Position) -> None:
        """Continue where the task that died had come to: nothing is placed before the floor."""

    @abstractmethod
    def save(self) -> Any:
        """Return the progress of the clock, for `restore`."""

    @abstractmethod
    def restore(self, noted: Any) -> None:
        """Continue from the progress that `save` has returned."""

    @abstractmethod
    def place(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], out: Positions) -> None:
        """Append one position per row.

        Args:
            payload: what was emitted, in order.
            tags: the port of each row as native uint16, None for a single port.
            stamps: event times in microseconds that the emits gave, by index of the row.
            out: the positions are appended here.

        Raises:
            EmitError: event time is missing or goes back.
        """

    @abstractmethod
    def frontier(self) -> Position:
        """Nothing that is emitted later will have a smaller position."""

    @abstractmethod
    def within(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], until_us: int) -> int:
        """Return the number of leading rows that `place` would place at a time or before it.

        Args:
            payload: as for `place`, like the next two.
            tags: likewise.
            stamps: likewise.
            until_us: event time in microseconds.

        Raises:
            EmitError: event time is missing.
        """

    def advance(self, time_us: int) -> None:  # noqa: B027
        """Place nothing before this event time, in microseconds, from now on.

        Other kinds of time pass by themselves.
        """

    def skip(self) -> None:  # noqa: B027
        """Leave a place out: tuples that others have placed at the frontier lie before those that come
        here next."""


class LogicalClock(Clock):
    """Time is the count of emits, so that a run can be repeated."""

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        self._next = 1

    def resume(self, floor: Position) -> None:
        """Count on from where the task that died had come to."""
        self._next = max(self._next, _next_time(floor))

    def save(self) -> Any:
        """The next time."""
        return self._next

    def restore(self, noted: Any) -> None:
        """Count on from there."""
        self._next = noted

    def place(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], out: Positions) -> None:
        """Append one position per row."""
        count = len(payload)
        out.extend_logical(self._next, count, self.level)
        self._next += count

    def within(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], until_us: int) -> int:
        """As many as there are times left."""
        return min(max(until_us + 1 - self._next, 0), len(payload))

    def skip(self) -> None:
        """Leave a time out."""
        self._next += 1

    def frontier(self) -> Position:
        """Nothing that is emitted later will have a smaller position."""
        return Position(self._next, 0, 0)


class IngestClock(Clock):
    """Time is the wall clock, so that no live source waits for another."""

    is_live = True

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        self._clock = SourceClock()
        self._now = 0
        self._looked_us: int | None = None
        """The time at which rows that are placed next were said to be within another."""

    @property
    def saturated(self) -> int:
        """Tuples that had no room left for their place among those of the same time."""
        return self._clock.overflowed

    def resume(self, floor: Position) -> None:
        """Continue after the position that the task that died had come to."""
        self._now = max(self._now, _next_time(floor))

    def save(self) -> Any:
        """The latest time, and how many tuples it has."""
        return self._now, self._clock.save()

    def restore(self, noted: Any) -> None:
        """Continue from there, or from what is promised already."""
        now, clock = noted
        self._now = max(self._now, now)
        self._clock.restore(clock)

    def place(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], out: Positions) -> None:
        """Append one position per row."""
        now_us, self._looked_us = self._looked_us, None
        if now_us is None:
            now_us = self._read()
        out.extend_timed(array("q", [now_us]) * len(payload), self._clock, self.level)

    def within(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], until_us: int) -> int:
        """All or none; those that are get the time of now, however long it takes until they are placed."""
        now_us = self._read()
        if now_us > until_us:
            return 0
        self._looked_us = now_us
        return len(payload)

    def frontier(self) -> Position:
        """Nothing that is emitted later will have a smaller position."""
        return Position(self._read(), 0, 0)

    def _read(self) -> int:
        # The wall clock may be set back; a position may not.
        self._now = max(self._now, time.time_ns() // 1_000)
        return self._now


class EventClock(Clock):
    """Time is what the tuples say."""

    def __init__(self, level: Level, times: EventTimes) -> None:
        """
        Args:
            level: where the partition marks the path.
            times: returns the times of emitted rows.
        """
        super().__init__(level)
        self._times = times
        self._clock = SourceClock()
        self._next: Position | None = None
        """The least position that a further tuple can get; None before the first."""
        self._floor = LEAST

    def resume(self, floor: Position) -> None:
        """Raise times that lie before those of the task that died to these, from now on."""
        self._floor = floor

    def save(self) -> Any:
        """The latest time, how many tuples it has, and the least position of the next one."""
        return self._clock.save(), None if self._next is None else tuple(self._next)

    def restore(self, noted: Any) -> None:
        """Continue from the saved state."""
        clock, following = noted
        self._clock.restore(clock)
        self._next = None if following is None else Position(*following)

    @property
    def saturated(self) -> int:
        """Tuples that had no room left for their place among those of the same time."""
        return self._clock.overflowed

    def place(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], out: Positions) -> None:
        """Append one position per row."""
        times = self._times.of(payload, tags, stamps)
        if AT_FRONTIER in stamps.values():
            self._place_at_frontier(times)
        if self._floor > LEAST:
            self._raise(times)
        placed = out.extend_timed(times, self._clock, self.level)
        if placed < len(payload):
            (row,) = payload.slice(placed, 1).rows
            raise EmitError(
                f"spout {self._times.spout} emitted {row!r:.300} at {shown(times[placed])}, "
                f"after a tuple at {shown(self._clock.ts)}: event time must not go back within a spout's "
                "task; viper.timestamp.slack allows for tuples that are a little out of order"
            )
        raise_to(self._floor, out)
        if len(out):
            self._next = max(out.last(), self._clock.next_position(self.level))

    def within(self, payload: Payload, tags: bytes | None, stamps: Mapping[int, int], until_us: int) -> int:
        """Return the number of rows before the first later one; a row placed at the frontier is not later."""
        times = self._times.of(payload, tags, stamps)
        return next((index for index, time_us in enumerate(times) if time_us > until_us), len(payload))

    def frontier(self) -> Position:
        """Nothing that is emitted later will have a smaller position.

        It lies behind all that descends from what was emitted, so that this can be merged with that.
        """
        return self._next or self._floor

    def advance(self, time_us: int) -> None:
        """Place nothing before this event time, in microseconds, from now on."""
        if time_us > self._clock.ts:
            self._clock.advance(time_us)
            self._next = max(self._floor, self._clock.next_position(self.level))

    def skip(self) -> None:
        """Leave a place out among those of the same time."""
        if self._next is not None:
            self._clock.leave_out()
            self._next = max(self._next, self._clock.next_position(self.level))

    def _place_at_frontier(self, times: array[int]) -> None:
        latest = max(self._clock.ts, self._floor.ts)
        if latest == AT_FRONTIER:  # nothing has come before
            latest = next((time_us for time_us in times if time_us != AT_FRONTIER), 0)
        for index, time_us in enumerate(times):
            latest = times[index] = latest if time_us == AT_FRONTIER else time_us

    def _raise(self, times: array[int]) -> None:
        least = self._floor.ts
        for index, time_us in enumerate(times):
            if time_us < least:
                times[index] = least
                self.raised += 1


def _next_time(floor: Position) -> int:
    """The first time at which every position lies at the floor or above it."""
    return floor.ts + bool(floor.hi or floor.lo)


def make_clock(mode: TimeMode, level: Level, times: EventTimes) -> Clock:
    """The clock of one source partition; `times` is needed where it runs by event time."""
    if mode is TimeMode.EVENT:
        return EventClock(level, times)
    return LogicalClock(level) if mode is TimeMode.LOGICAL else IngestClock(level)


class RepeatClock(IngestClock):
    """Time behind all that has a time of its own, for tuples that are repeated there.

    It passes with the monotonic clock, which all processes share: rows that one source repeats must not wait
    for another, which may have nothing to repeat at all.
    """

    def __init__(self, before: Clock, floor: Position) -> None:
        """
        Args:
            before: the clock that the partition had until now.
            floor: nothing is placed before this, and time continues from there.
        """
        super().__init__(before.level)
        self.raised = before.raised
        self._saturated = before.saturated
        self.resume(max(floor, before.frontier()))

    @property
    def saturated(self) -> int:
        """Tuples that had no room left for their place among those of the same time."""
        return self._saturated + self._clock.overflowed

    def _read(self) -> int:
        self._now = max(self._now, repeat_time_us())
        return self._now


def repeat_time_us() -> int:
    """Time in microseconds behind all that has a time of its own."""
    return REPEATS.ts + int(time.monotonic() * 1_000_000)
