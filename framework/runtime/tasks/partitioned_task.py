"""The task of a partitioned spout: brings its partitions' rows, merged by time and paced."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from framework.operators.components.partitioned import Pace
from framework.runtime.coordination.cut_record import Purpose
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.coordination.stop import StopReason
from framework.runtime.order.positions.lineage import LAST
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.hosts.faults import OnError
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.partition_merger import PartitionMerger
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import PollTimer, SourceTask
from framework.runtime.tasks.task import TaskState
from viper.errors import OrderError
from viper.position import END, LEAST, Position
from viper.quota import Quota


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The share of the partitions that a task brings, and its pace."""

    tasks: int
    """The number n of tasks of the spout; each brings every n-th partition."""
    longest_pause_s: float
    """Longest pause in seconds before a source is asked again that had nothing."""
    quota: Quota
    """The most tuples that all spouts may emit together."""
    largest_slice: int | None = None
    """As `Task.largest_slice`."""
    cut: SourceCut = field(default_factory=SourceCut)
    """The part of the task in cuts: of checkpoints, of reconfigurations, of a suspension and of a drain."""


class PartitionedTask(SourceTask):
    """Runs one task of a partitioned spout."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        partitioning: Partitioning,
        merger: PartitionMerger,
    ) -> None:
        """
        Args:
            context: what is fixed about the task.
            slot: holds the spout.
            emitter: sends off what it brings.
            partitioning: which partitions that are.
            merger: reads them.
        """
        super().__init__(context, slot, emitter, PollTimer(partitioning.longest_pause_s))
        self._partitioning = partitioning
        self._merger = merger
        self._floor = LEAST
        self._pacer: Pacer | None = None
        self._exhausted = False

    # -- what an executor sees

    @property
    def largest_slice(self) -> int | None:
        """As in the base class."""
        return self._partitioning.largest_slice

    @property
    def has_ended(self) -> bool:
        """True if nothing more will come from it."""
        return self._exhausted

    @property
    def passes_time(self) -> bool:
        """True if this is a paced replay, whose time makes ticks due although no row is."""
        is_paced = self._pacer is not None and self.active and self._merger.has_partitions
        return is_paced and not self.is_finished

    def pass_time(self) -> None:
        """Let the time of a paced replay pass while no row is due."""
        if self.passes_time:
            self._publish(time.monotonic())

    def _ends_now(self, now_s: float) -> bool:
        if self._partitioning.cut.must_hear_decision:
            return False
        goes_on = self.state is TaskState.RUNNING and not self._is_draining
        if goes_on and self._partitioning.cut.suspends:
            return False  # whoever waits behind its last row has not ended
        return super()._ends_now(now_s)

    def _has_work(self, now_s: float) -> bool:
        return super()._has_work(now_s) or (self.active and self._partitioning.cut.has_news)

    def _stops(self, now_s: float) -> bool:
        return not self.active or self._partitioning.cut.ends_drain

    # -- lifecycle

    def resume(self, floor: Position, *, has_run: bool = True) -> None:
        """As in the base class: what lies below the floor has been brought by the process before."""
        super().resume(floor, has_run=has_run)
        if floor < LAST:
            self._partitioning.cut.go_on_behind(floor)
        if self.commits is None:
            self._floor = floor
            self._exhausted = floor >= LAST

    def _begin(self) -> None:
        self.slot.begin()
        try:
            self._open()
        except user_errors() as error:
            self.context.fail("partitions", error)

    def _open(self) -> None:
        spout, spec = self.slot.host.component, self.context.spec
        numbers = range(spout.partitions)[spec.index :: self._partitioning.tasks]
        if self.commits is not None:
            self.commits.keep("offsets", self._merger)
        self._merger.open(spout, numbers, self.emitter.output.ports, self._floor)
        if not spec.index and self._merger.begins_anew:
            self.context.counters.expected = spout.rows_total or 0
        pace = spout.pace()
        self._pacer = None if pace is None else self._made_pacer(pace)
        if not numbers and spec.index:
            self.context.logger.warning(
                "%s has nothing to do: the spout has %d partitions for %d tasks",
                self.name,
                spout.partitions,
                self._partitioning.tasks,
            )

    def _made_pacer(self, pace: Pace) -> Pacer:
        """Return a pacer whose time starts at the first new row, not at rows that were brought before."""
        reached = self._merger.latest_offset_us
        origin_us = max(pace.origin_us, self._floor.ts, *([] if reached is None else [reached]))
        return Pacer(replace(pace, origin_us=origin_us))

    def _restart(self) -> None:
        """Make the spout again; it resumes after the rows that the old one has brought."""
        self._note_offsets()
        self._close_partitions()
        self._merger.reopen_behind(self.context.counters.places)
        self.slot.remake()
        self._begin()
        if self.active:
            self.activate()

    def save(self) -> dict[str, Any]:
        """As in the base class, with the offset in each partition."""
        return {**super().save(), "places": {str(n): place for n, place in self._merger.offsets.items()}}

    def activate(self) -> None:
        """Inform the spout that rows will be asked for; the time of a paced replay passes from now on."""
        super().activate()
        if self._pacer is not None:
            self._pacer.start(time.monotonic())
        self.slot.call("activate", self.slot.host.component.activate)

    def deactivate(self) -> None:
        """Inform the spout that no more rows will be asked for; the time of a paced replay stands still."""
        super().deactivate()
        if self._pacer is not None:
            self._pacer.stop(time.monotonic())
        self.slot.call("deactivate", self.slot.host.component.deactivate)

    def drain(self, reason: StopReason, now_s: float) -> None:
        """Bring no more than the other tasks have."""
        super().drain(reason, now_s)
        cut = self._partitioning.cut
        cut.drain(self.emitter.told_us)
        if reason is StopReason.SUSPENDED and cut.suspends and not self._exhausted:
            self._last_us = max(self._last_us, cut.until_us)
        self._poll.ask_at(0.0)

    def _stop_asking(self) -> None:
        self._partitioning.cut.end(self.emitter.told_us)
        self.context.checkpoints.finish(self.save())
        self._exhausted = True
        if self.active:
            self.deactivate()
        self._note_offsets()
        self._close_partitions()

    def _close_partitions(self) -> None:
        for error in self._merger.close():
            self.slot.report(error, "blocks")

    def _note_offsets(self) -> None:
        self.context.counters.places = self._merger.offsets

    # -- work

    def unblock(self) -> bool:
        """As in the base class. Whoever waits for room also says how far it is: others wait for that word,
        and only what they bring then may make room."""
        self._partitioning.cut.look(self.emitter.told_us)
        return super().unblock()

    def run(self, limit: int) -> int:
        """Bring so many rows at most."""
        if self._ends_now(time.monotonic()):
            self.end()
            return 0
        if self.slot.is_gone:
            self._restart()
        if not self.active:
            return 0
        quota, before = self._partitioning.quota, self.context.counters.emitted
        granted = quota.take(limit)
        try:
            self._bring(granted)
        except user_errors() as error:
            self._raised(error)
        finally:
            count = self.context.counters.emitted - before
            quota.settle(granted, count)
        now_s = time.monotonic()
        if self.commits is not None and (count or self._exhausted):
            self.commits.make_due()
        self.unblock()
        self._rest(count, now_s)
        if self.commits is None or not self.is_blocked:  # a successor that is there brings nothing once more
            self._pass(count)
        self._publish(now_s)
        return count

    def _pass(self, count: int) -> None:
        """Report the offset if all before the cut has been brought, and continue, unless the run ends there.

        A task that commits has committed all of it by then, and nothing else.
        """
        cut, last = self._partitioning.cut, self.emitter.last_placed
        behind = cut.reached(self._merger.behind)
        waits = not count if self._is_draining else self._merger.waits_for_rows
        proposal = cut.passed(last, behind, waits=waits)
        if proposal is not None and proposal.purpose is Purpose.CHECKPOINT:
            self.context.checkpoints.cut(proposal, self.save(), (), cut.stood_since_s)
            self.context.checkpoints.committed()

    def _bring(self, limit: int) -> None:
        cut = self._partitioning.cut
        cut.look(self.emitter.told_us)
        if cut.brings_nothing:
            return
        until_us = cut.until_us
        if self._pacer is not None:
            until_us = min(until_us, self._pacer.now_us(time.monotonic()))
        while limit > 0 and not self._exhausted:
            count = self._bring_next(limit, until_us)
            if not count:
                break
            limit -= count

    def _bring_next(self, limit: int, until_us: int) -> int:
        try:
            emission = self._merger.take(limit, until_us)
        except OrderError as error:
            self.context.fail("blocks", error)
        self._exhausted = self._merger.is_exhausted
        counters = self.context.counters
        counters.late = self._merger.late
        if emission is None:
            return 0
        count = len(emission.payload)
        counters.emitted += count
        counters.saturated = self._merger.saturated
        self._last_us = emission.positions.last().ts
        self.emitter.send(emission)
        return count

    def _raised(self, error: BaseException) -> None:
        if self.slot.choice(error) is OnError.SKIP:  # which would end its partition without a word
            advice = "a generator cannot go on after an exception: catch it there"
            self.context.fail("blocks", error, tried=advice)
        self.slot.raised("blocks", error)

    def _rest(self, count: int, now_s: float) -> None:
        next_us = self._merger.next_row_us
        if count or self._merger.has_read:
            self._poll.found()
        elif self._partitioning.cut.stands(now_s) or self._partitioning.cut.suspends or self._is_draining:
            self._wait_for_others(now_s)
        elif self._merger.waits_for_rows or self._pacer is None:
            self._wait_for_rows(now_s, next_us)
        elif not self._exhausted:
            self._poll.ask_at(self._pacer.due_s(next_us) if next_us is not None else 0.0)

    def _wait_for_rows(self, now_s: float, next_us: int | None) -> None:
        asks_at_s = self._merger.asks_at_s(now_s)
        if asks_at_s is None:
            self._poll.found_nothing(now_s)
            return
        if self._pacer is not None and next_us is not None:
            asks_at_s = min(asks_at_s, self._pacer.due_s(next_us))
        self._rest_until(asks_at_s, self._merger.readable)

    def _publish(self, now_s: float) -> None:
        """Promise the consumers the task's progress, and nothing beyond the point where it waits.

        One that has brought all its rows does not end while the run is to be suspended. It is where the
        others are to come then: they may wait for room, which consumers make that know of it.
        """
        cut = self._partitioning.cut
        cut.look(self.emitter.told_us)
        if not (cut.suspends or self._merger.has_partitions):
            return
        waits_at_end = self._merger.behind == END and cut.suspends
        frontier = END if waits_at_end else cut.reached(self._frontier(now_s))
        self.emitter.publish(cut.promised(frontier))
        cut.told(self.emitter.told_us)

    def _frontier(self, now_s: float) -> Position:
        """Nothing that is brought later will have a smaller position."""
        behind = self._merger.behind
        if behind == END or self._pacer is None:
            return self.emitter.last_placed if behind == END else behind
        return min(behind, Position(self._pacer.now_us(now_s) + 1, 0, 0))

    def stand_in(self) -> None:
        """Do nothing: nothing blocks here."""


class Pacer:
    """Says how far event time has come, for a replay at recorded pace.

    Args:
        pace: how fast it passes, and from where on.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._now_us: float = pace.origin_us
        self._since_s: float | None = None
        """Monotonic time in seconds from which on it passes; None while it stands still."""

    def start(self, now_s: float) -> None:
        """Let it pass from a monotonic time in seconds on."""
        if self._since_s is None:
            self._since_s = now_s

    def stop(self, now_s: float) -> None:
        """Let it stand still."""
        self._now_us = self._at(now_s)
        self._since_s = None

    def now_us(self, now_s: float) -> int:
        """Event time in microseconds at a monotonic time in seconds."""
        return round(self._at(now_s))  # not down, or what is due now would be due a moment later

    def due_s(self, time_us: int) -> float:
        """Monotonic time in seconds at which an event time comes; infinite while it stands still."""
        if self._since_s is None:
            return float("inf")
        return self._since_s + (time_us - self._now_us) / (self._pace.speed * 1e6)

    def _at(self, now_s: float) -> float:
        if self._since_s is None:
            return self._now_us
        return self._now_us + (now_s - self._since_s) * self._pace.speed * 1e6
