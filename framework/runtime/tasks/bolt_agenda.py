"""What is due in a bolt's task, by its configuration and its class."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from framework.planning.layout import ComponentLevel
from framework.recording import ReplayTicks
from framework.runtime.coordination.cut_record import InputEnd
from framework.runtime.exchange.inputs import BoltInput
from framework.runtime.order.positions.ticks import EventTicks, WallTimer
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.agenda import (
    Agenda,
    AgendaClient,
    EventTimeTicks,
    LastEntries,
    RecordedTicks,
    Timed,
)
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.group_dues import GroupDues
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.sink_commits import SinkCommits
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.window_ends import WindowEnds
from viper.position import Position


@dataclass(frozen=True, slots=True)
class DueBy:
    """What makes things due in a run."""

    event_time: bool
    """Whether ticks follow event time, and not the wall clock."""
    recorded: ReplayTicks | None
    """What was due by the wall clock in a run that this one repeats; None in a run that repeats none."""
    sources_wait: bool
    """Whether sources may wait for answers when they have brought all, so that the last entries cannot wait
    for the end of the sources in turn."""
    tick_path: int
    """The upper word of the path at which ticks by event time stand."""
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
        end: asked when the last entries are due: whether the end of the input is not only that of a run
            that another one goes on with.
        commits: tells a transactional sink when to apply what it has taken; None for other components.
    """
    clients: list[AgendaClient] = []
    tick_s, host = context.tick_seconds, slot.host
    if host.has_timed_windows:  # before ticks, as they end below all that is at their time
        clients.append(WindowEnds(lambda: slot.host.windows, interludes.fire_window, end))
    if host.has_dues:
        fire = partial(interludes.fire_due, due.level)
        clients.append(GroupDues(lambda: slot.host.dues, fire, due.level.place, end))
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
    last += [partial(interludes.fire_last_due, due.level)] if host.has_dues or host.has_key_windows else []
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
    """What is due by the wall clock, from now on."""
    now_s = time.monotonic()
    if tick_s:
        yield Timed(WallTimer(tick_s, now_s), interludes.tick, catches_up=True)
    if batch_s is not None:
        yield Timed(WallTimer(batch_s, now_s), interludes.fire_batches, catches_up=False)
