"""Tuples of a spout that are a little out of order are held back until they can be put in order."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from framework.model.errors import EmitError
from framework.runtime.exchange.buffer import Taken
from framework.runtime.order.positions.event_times import AT_FRONTIER, EventTimes, shown
from framework.runtime.order.positions.slack import Lateness, Reorder
from viper.payload import Row, Rows
from viper.position import LEAST, Position


class Held(NamedTuple):
    """A tuple that is held back."""

    tag: int
    row: Row
    note: Any
    """The id that it was emitted with; None for none."""
    task: int | None
    """On a direct stream: the task that was named for it."""


class Holdback:
    """Puts what a spout emits in the order of event time, within a slack.

    A tuple is let go once one has come whose time is later by the slack, so what is held spans no more event
    time than that. The output depends on nothing but the tuples and their order: the same tuples come out in
    the same order, however many of them are taken at once.
    """

    def __init__(self, lateness: Lateness, times: EventTimes, most_tracked: int, *, tagged: bool) -> None:
        """
        Args:
            lateness: how far out of order tuples may be.
            times: returns their times.
            most_tracked: tracked tuples that are held at most. When as many are, the earliest is let go
                before its time: the spout would wait for acks of tuples that nobody has received.
            tagged: whether the spout has several streams.
        """
        self._lateness = lateness
        self._times = times
        self._most_tracked = most_tracked
        self._tagged = tagged
        self._order: Reorder[Held] = Reorder(lateness.slack_us)
        self.late = 0
        """Tuples that were earlier than the frontier, in this run."""
        self.tracked = 0
        """Tuples with an id that are held."""
        self._ready: list[tuple[int, Held]] = []
        self._dropped_ids: list[Any] = []
        self._ends = False
        self._mutable = False
        self._uncommitted = 0
        """Tuples that were emitted since the last commit."""
        self._committed_behind = LEAST
        """The position that was placed last when the last commit was asked for."""

    def __len__(self) -> int:
        """The number of tuples that are held."""
        return len(self._order)

    @property
    def frontier_us(self) -> int:
        """Nothing earlier is let go any more."""
        return self._order.frontier_us

    def end(self) -> None:
        """Hold nothing back any more after the next `sort`.

        Tuples that come after that are placed at the present time of the spout, and are not late.
        """
        self._ends = True

    def sort(self, taken: Taken) -> Taken:
        """Take in what was emitted, and release the tuples that need not be held any more.

        Returns:
            The released tuples in the order of time, with a stamp for each one.

        Raises:
            EmitError: a tuple has no event time, or is late where that is an error.
        """
        self._mutable = self._mutable or taken.payload.mutable
        for time_us, held in self._newly_held(taken):
            self._admit(time_us, held)
        if self._ends:
            self._order.end()
            self._let_go()
        ready, self._ready = self._ready, []
        return self._as_taken(ready)

    def take_dropped(self) -> list[Any]:
        """The ids of late tuples that were dropped since the last time."""
        dropped, self._dropped_ids = self._dropped_ids, []
        return dropped

    def forget_ids(self) -> int:
        """Nobody waits any more for what becomes of the tuples that are held; how many had an id."""
        self._order.replace_held(lambda held: held._replace(note=None))
        forgotten, self.tracked = self.tracked, 0
        return forgotten

    def count_from_here(self) -> None:
        """Count from here on: tuples that were late before were late in another run."""
        self.late = 0

    def is_to_commit(self, emitted: int, placed: Position, *, at_once: bool) -> bool:
        """True if the work up to the end of a turn is to be committed now.

        A commit writes all that is held back. So there is one for each half as many tuples as are held, as
        long as they come one after the other and nobody waits for it.

        Args:
            emitted: tuples that were emitted in the turn.
            placed: what was placed last.
            at_once: somebody waits for a commit.
        """
        self._uncommitted += emitted
        if not (self._uncommitted or placed > self._committed_behind):
            return False
        if emitted and not (at_once or self._uncommitted >= len(self) // 2):
            return False
        self._uncommitted, self._committed_behind = 0, placed
        return True

    def save(self) -> Any:
        """The held tuples, the time, and the count of late ones; all that was let go has been taken."""
        return self._order.save(), self.tracked, self.late, self._mutable

    def restore(self, noted: Any) -> None:
        """Resume from the noted state.

        The spout says again whether it has ended.
        """
        order, self.tracked, self.late, self._mutable = noted
        self._order.restore(order)

    def _newly_held(self, taken: Taken) -> Iterator[tuple[int, Held]]:
        rows, notes = taken.payload.rows, dict(taken.notes)
        tags = [0] * len(rows) if taken.tags is None else memoryview(taken.tags).cast("H").tolist()
        named = {tag: iter(tasks) for tag, tasks in taken.named.items()}
        times = self._times.of(taken.payload, taken.tags, taken.stamps)
        for index, (time_us, tag, row) in enumerate(zip(times, tags, rows, strict=True)):
            task = next(named[tag]) if tag in named else None
            yield time_us, Held(tag, row, notes.get(index), task)

    def _admit(self, time_us: int, held: Held) -> None:
        order = self._order
        if time_us < order.frontier_us:
            if time_us != AT_FRONTIER and not order.has_ended:
                self.late += 1
                port = self._lateness.late_port
                if port is None and not self._lateness.admits:
                    self._refuse(time_us, held)
                    return
                held = held if port is None else held._replace(tag=port, task=None)
            time_us = order.frontier_us
        self.tracked += held.note is not None
        order.add(time_us, held)
        self._let_go()
        while self.tracked >= self._most_tracked:
            order.advance(order.earliest_us)
            self._let_go()

    def _let_go(self) -> None:
        for time_us, held in self._order.ready:
            self.tracked -= held.note is not None
            self._ready.append((time_us, held))
        self._order.ready.clear()

    def _refuse(self, time_us: int, held: Held) -> None:
        if self._lateness.drops:
            if held.note is not None:
                self._dropped_ids.append(held.note)
            return
        slack_us, latest_us = self._lateness.slack_us, self._order.latest_us
        if time_us >= latest_us - slack_us:
            cause = "what came before it could not be held any longer: raise topology.max.spout.pending"
        else:
            least_ms = -(-(latest_us - time_us) // 1000)
            cause = f"viper.timestamp.slack allows for {shown(slack_us)}: raise it to {least_ms} (ms) or more"
        raise EmitError(
            f"spout {self._times.spout} emitted {held.row!r:.300} at {shown(time_us)}, "
            f"after a tuple at {shown(latest_us)}; {cause}, or say with viper.timestamp.late what "
            "becomes of late tuples (drop, admit, or the name of a stream)"
        )

    def _as_taken(self, ready: list[tuple[int, Held]]) -> Taken:
        named: dict[int, list[int]] = {}
        for _, held in ready:
            if held.task is not None:
                named.setdefault(held.tag, []).append(held.task)
        return Taken(
            Rows([held.row for _, held in ready], self._mutable),
            array("H", [held.tag for _, held in ready]).tobytes() if self._tagged else None,
            {index: time_us for index, (time_us, _) in enumerate(ready)},
            [(index, held.note) for index, (_, held) in enumerate(ready) if held.note is not None],
            named,
            len(ready),
        )
