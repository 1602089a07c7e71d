"""The agenda of a bolt's task, by its configuration and its class: ticks, ends of windows, timers by key."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

from framework.operators.windows import OpenWindows
from framework.operators.windows.due import Due, DueByGroup
from framework.planning.layout import BEHIND_TUPLES, ComponentLevel
from framework.recording import ReplayTicks
from framework.runtime.coordination.cut_record import InputEnd, before_us, last_us_before
from framework.runtime.exchange.inputs import BoltInput
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.order.positions.ticks import EventTicks, WallTimer
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.agenda import (
    Agenda,
    AgendaClient,
    Entry,
    EventTimeTicks,
    Frontier,
    LastEntries,
    RecordedTicks,
    Timed,
)
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.sink_commits import SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Position


@dataclass(frozen=True, slots=True)
class DueBy:
    """The facts of a run that determine which entries of a bolt are due, and when."""

    event_time: bool
    """True if ticks follow event time, and not the wall clock."""
    recorded: ReplayTicks | None
    """The entries that were due by the wall clock in a run that this one repeats; None if it repeats none."""
    sources_wait: bool
    """True if sources may wait for answers when they have brought all, so that the last entries cannot wait
    for the end of the sources in turn."""
    tick_path: int
    """The upper word of the path of ticks by event time."""
    level: ComponentLevel
    """The bits of the path that the component writes."""


def make_agenda(
    due: DueBy,
    context: TaskContext,
    slot: ComponentSlot,
    received: BoltInput,
    emitter: Emitter,
    interludes: Interludes,
    acker: Acker | None,
    end: InputEnd,
    commits: SinkCommits | None,
) -> Agenda:
    """The agenda of a bolt's task; to be made when its component has been initialized.

    Args:
        due: what makes things due in this run.
        context: the task's.
        slot: holds the component.
        received: its input.
        emitter: knows what its consumers were promised.
        interludes: do what is due.
        acker: knows which tuples the component holds; None where nothing is tracked.
        end: asked when the last entries are due: whether the end of the input is not only that of a run that
            another one resumes.
        commits: says when a transactional sink applies its rows; None for other components.
    """
    clients: list[AgendaClient] = []
    tick_s, host = context.tick_seconds, slot.host
    if host.has_dues:  # before ticks, as they end below all that is at their time
        level, place = (None, _behind_tuples) if host.is_windowed else (due.level.in_place, due.level.place)
        client = WindowEnds if host.is_windowed else GroupDues
        clients.append(client(lambda: slot.host.dues, partial(interludes.fire_due, level), place, end))
    if due.recorded is not None:
        clients.append(RecordedTicks(due.recorded, interludes.tick, interludes.fire_batches))
    if tick_s and due.event_time:
        ticks = EventTicks(tick_s, host.noticeable_ticks)
        clients.append(
            EventTimeTicks(
                ticks,
                interludes.tick,
                has_producers=received.has_producers,
                last_time_us=received.last_ts,
                path=due.tick_path,
            )
        )
    if due.recorded is None:
        clients += _timed(tick_s if not due.event_time else None, host.batch_seconds, interludes)
    last: list[Callable[[Position | None], None]] = []
    last += [interludes.tick] if tick_s else []
    last += [interludes.fire_batches] if host.is_batching else []
    last += [interludes.fire_rest] if host.is_windowed else []
    last += [partial(interludes.fire_last_due, due.level)] if host.fires_by_group else []
    if last:
        clients.append(
            LastEntries(
                context.spec.depth,
                last,
                waits_for_end=not due.sources_wait,
                take_new_holds=acker.take_new_holds if acker is not None else lambda: False,
                published=lambda: emitter.published,
                may_end=end.may_end,
            )
        )
    clients += [commits] if commits is not None else []
    return Agenda(clients)


def _timed(tick_s: float | None, batch_s: float | None, interludes: Interludes) -> Iterator[AgendaClient]:
    """The entries that are due by the wall clock, from now on."""
    now_s = time.monotonic()
    if tick_s:
        yield Timed(WallTimer(tick_s, now_s), interludes.tick, catches_up=True)
    if batch_s is not None:
        yield Timed(WallTimer(batch_s, now_s), interludes.fire_batches, catches_up=False)


class GroupDues(AgendaClient):
    """The work of a component that is due at times by key group; its parts are called windows here.

    They are ends of windows by key, and of the times in which a tuple of an outer join may find a partner.
    Windows are [start, end): all their tuples have been processed when anything comes at their end or later.
    Their output lies at their end before all else of that time, divided by key groups. So its position is the
    same however many tasks share the groups.

    Args:
        windows: the component's, which may be another one after an exception.
        fire: has the component put out what is due, and places what it emits at a position.
        place: the position of a key group at a time.
        end: knows whether the end of the input is also that of what the run is a part of; asked once
            windows would fire for it.
    """

    lag_us = 0
    """The time from the end of a window until it is due."""

    def __init__(
        self,
        windows: Callable[[], DueByGroup],
        fire: Callable[[Due, Position], None],
        place: Callable[[int, int], Position],
        end: InputEnd,
    ) -> None:
        self._windows = windows
        self._fire = fire
        self._place = place
        self._end = end
        self._bound_us: int | None = None
        """No window ends at or before an input below this time; None where that is not known."""

    def is_due_before(self, position: Position) -> bool:
        """True if a window may end before an input at a position."""
        return self._bound_us is None or position.ts >= self._bound_us

    def take_before(self, position: Position) -> Iterator[Entry]:
        """The windows that have ended, as an input at a position comes next."""
        time_us = None if position >= LAST else position.ts
        yield from self._entries(time_us)
        if time_us is None:
            self._bound_us = position.ts + 1
            return
        windows = self._windows()
        end_us, bound_us = windows.next_end(), windows.first_end_behind(time_us)
        self._bound_us = bound_us if end_us is None else min(end_us, bound_us)

    def take_until(self, frontier: Frontier) -> Iterator[Entry]:
        """The windows that have ended, as no input comes below a frontier."""
        until_us = self._until(frontier.position) if frontier.position < LAST else None
        if until_us is not None:
            yield from self._entries(self._come_to(frontier))
            if frontier.time_us + self.lag_us >= until_us:
                return
        # Event time has ended below the position: what is left up to there is due as at the end of all.
        if self._windows().next_due(until_us) is not None:
            if not self._end.may_end():
                closed_us = self._until(self._end.closed_at())
                until_us = closed_us if until_us is None else min(until_us, closed_us)
            yield from self._entries(until_us)

    def _until(self, position: Position) -> int:
        """The time by which all windows are due that have their place below a position."""
        return last_us_before(position)

    def _come_to(self, frontier: Frontier) -> int:
        """The time before which no tuple comes at a frontier."""
        return min(frontier.position.ts, frontier.time_us)

    @property
    def ends_at_us(self) -> int | None:
        """As in the base class."""
        due = self._windows().next_due(None)
        return None if due is None else due.end_us + self.lag_us

    def taken_over(self) -> None:
        """As in the base class: with others come their windows."""
        self._bound_us = None

    def _entries(self, time_us: int | None) -> Iterator[Entry]:
        while (due := self._windows().next_due(time_us)) is not None:
            yield Entry(self._place(*due), partial(self._run, due))

    def _run(self, due: Due, at: Position | None) -> None:
        assert at is not None
        self._fire(due, at)


class WindowEnds(GroupDues):
    """The windows of tuples that end at times; arguments are as of the base class.

    A window holds the tuples at its end. It fires when no further one can come, and its output is placed at
    its end after all tuples of that time. Windows of other tasks are placed there, too, and may have been
    processed before: so the task promises its consumers nothing beyond the end of a window that may still
    fire. It holds back no tuple of that time, as there may be any number.
    """

    lag_us = 1

    def held(self, position: Position) -> Position:
        """The end of the first window that may still fire, if it lies below a position."""
        if position >= LAST:
            return position
        end_us = cast(OpenWindows, self._windows()).first_end_from(position.ts)
        return position if end_us is None else min(position, self._place(end_us, 0))

    def _until(self, position: Position) -> int:
        return before_us(position)

    def _come_to(self, frontier: Frontier) -> int:
        return min(before_us(frontier.position), frontier.time_us + 1)


def _behind_tuples(end_us: int, group: int) -> Position:
    """The place of a window of tuples, which belongs to no key group."""
    return Position(end_us, BEHIND_TUPLES, 0)
