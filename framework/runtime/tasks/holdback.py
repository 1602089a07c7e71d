"""Tuples of a spout that are a little out of order are held back until they can be put in order."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from framework.errors import EmitError
from framework.runtime.edges.buffer import Taken
from framework.runtime.positions.event_times import AT_FRONTIER, EventTimes, shown
from viper.payload import Row, Rows

_LONGEST_US = 1 << 63
"""A slack that no two times exceed."""
ERROR = "error"
"""A late tuple ends the run."""
DROP = "drop"
"""A late tuple is dropped, and counted."""
ADMIT = "admit"
"""A late tuple is placed where the spout has got to, and counted."""


@dataclass(frozen=True, slots=True)
class Lateness:
    """How far out of order a spout's tuples may be, and what becomes of those that are further."""

    slack_us: int
    """Microseconds of event time by which a tuple may be earlier than the latest before it."""
    drops: bool = False
    """Whether late tuples are dropped."""
    late_port: int | None = None
    """The port of the stream that late tuples go to; None for none: unless they are dropped or admitted, they
    are an error."""
    admits: bool = False
    """Whether late tuples go where the spout has got to, as if they were of that time."""

    @classmethod
    def configured(cls, conf: Mapping[str, Any], streams: Sequence[str]) -> Lateness:
        """What a spout's configuration says of it; `streams` are the names of its streams."""
        slack_us = round(min(conf["viper.timestamp.slack"] * 1000, _LONGEST_US))
        late = conf["viper.timestamp.late"]
        port = None if late in (ERROR, DROP, ADMIT) else streams.index(late)
        return cls(slack_us, late == DROP, port, late == ADMIT)


class Held(NamedTuple):
    """A tuple that is held back; those of equal time stay in the order of their emits."""

    time_us: int
    number: int
    """How many were held before it; it decides before the rest is compared."""
    tag: int
    row: Row
    note: Any
    """The id that it was emitted with; None for none."""
    task: int | None
    """On a direct stream: the task that was named for it."""


class Holdback:
    """Puts what a spout emits in the order of event time, within a slack.

    A tuple is let go once one has come whose time is later by the slack, so what is held spans no more event
    time than that. What is let go depends on nothing but the tuples and their order: the same tuples come
    out in the same order, however many of them are taken at once.
    """

    def __init__(self, lateness: Lateness, times: EventTimes, most_tracked: int, *, tagged: bool) -> None:
        """
        Args:
            lateness: how far out of order tuples may be.
            times: tells their time.
            most_tracked: tracked tuples that are held at most. When as many are, the earliest is let go
                before its time: the spout would wait for acks of tuples that nobody has received.
            tagged: whether the spout has several streams.
        """
        self._lateness = lateness
        self._times = times
        self._most_tracked = most_tracked
        self._tagged = tagged
        self._held: list[Held] = []
        self._count = 0
        self._latest_us = AT_FRONTIER
        self.frontier_us = AT_FRONTIER
        """Nothing earlier is let go any more."""
        self.late = 0
        """Tuples that were earlier than the frontier."""
        self.tracked = 0
        """Tuples with an id that are held."""
        self._ready: list[Held] = []
        self._dropped_ids: list[Any] = []
        self._ends = self._has_ended = False
        self._mutable = False

    def end(self) -> None:
        """Hold nothing back any more after the next `sort`.

        What still comes then goes where the spout has got to, and is not late.
        """
        self._ends = True

    def sort(self, taken: Taken) -> Taken:
        """Take in what was emitted, and let go whatever need not be held any more.

        Returns:
            What is let go, in the order of time, with a stamp for each tuple.

        Raises:
            EmitError: a tuple has no event time, or is late where that is an error.
        """
        self._mutable = self._mutable or taken.payload.mutable
        for held in self._newly_held(taken):
            self._admit(held)
        if self._ends:
            self._has_ended = True
            self._advance(self._latest_us)
        ready, self._ready = self._ready, []
        return self._as_taken(ready)

    def take_dropped(self) -> list[Any]:
        """The ids of late tuples that were dropped since the last time."""
        dropped, self._dropped_ids = self._dropped_ids, []
        return dropped

    def forget_ids(self) -> int:
        """Nobody waits any more for what becomes of the tuples that are held; how many had an id."""
        self._held = [held._replace(note=None) for held in self._held]
        forgotten, self.tracked = self.tracked, 0
        return forgotten

    def _newly_held(self, taken: Taken) -> Iterator[Held]:
        rows, notes = taken.payload.rows, dict(taken.notes)
        tags = [0] * len(rows) if taken.tags is None else memoryview(taken.tags).cast("H").tolist()
        named = {tag: iter(tasks) for tag, tasks in taken.named.items()}
        times = self._times.of(taken.payload, taken.tags, taken.stamps)
        for index, (time_us, tag, row) in enumerate(zip(times, tags, rows, strict=True)):
            task = next(named[tag]) if tag in named else None
            self._count += 1
            yield Held(time_us, self._count, tag, row, notes.get(index), task)

    def _admit(self, held: Held) -> None:
        if held.time_us < self.frontier_us:
            if held.time_us == AT_FRONTIER or self._has_ended:
                held = held._replace(time_us=self.frontier_us)
            else:
                self.late += 1
                port = self._lateness.late_port
                if port is None and not self._lateness.admits:
                    self._refuse(held)
                    return
                held = held._replace(time_us=self.frontier_us)
                held = held if port is None else held._replace(tag=port, task=None)
        heapq.heappush(self._held, held)
        self.tracked += held.note is not None
        self._latest_us = max(self._latest_us, held.time_us)
        self._advance(self._latest_us if self._has_ended else self._latest_us - self._lateness.slack_us)
        while self.tracked >= self._most_tracked:
            self._advance(self._held[0].time_us)

    def _advance(self, frontier_us: int) -> None:
        self.frontier_us = max(self.frontier_us, frontier_us)
        while self._held and self._held[0].time_us <= self.frontier_us:
            held = heapq.heappop(self._held)
            self.tracked -= held.note is not None
            self._ready.append(held)

    def _refuse(self, held: Held) -> None:
        if self._lateness.drops:
            if held.note is not None:
                self._dropped_ids.append(held.note)
            return
        slack_us = self._lateness.slack_us
        if held.time_us >= self._latest_us - slack_us:
            cause = "what came before it could not be held any longer: raise topology.max.spout.pending"
        else:
            cause = f"viper.timestamp.slack allows for {shown(slack_us)}: raise it"
        raise EmitError(
            f"spout {self._times.spout} emitted {held.row!r:.300} at {shown(held.time_us)}, "
            f"after a tuple at {shown(self._latest_us)}; {cause}, or say with viper.timestamp.late what "
            "becomes of late tuples (drop, admit, or the name of a stream)"
        )

    def _as_taken(self, ready: list[Held]) -> Taken:
        named: dict[int, list[int]] = {}
        for held in ready:
            if held.task is not None:
                named.setdefault(held.tag, []).append(held.task)
        return Taken(
            Rows([held.row for held in ready], self._mutable),
            array("H", [held.tag for held in ready]).tobytes() if self._tagged else None,
            {index: held.time_us for index, held in enumerate(ready)},
            [(index, held.note) for index, held in enumerate(ready) if held.note is not None],
            named,
            len(ready),
        )
