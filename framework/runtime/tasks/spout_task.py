"""The task of a spout: asks for tuples and gives them their first positions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice
from typing import Any

from framework.planning import Task
from framework.runtime.edges.destination import Row
from framework.runtime.edges.limits import SPILL_AT
from framework.runtime.edges.output import Output
from framework.runtime.edges.spout_collector import SpoutCollector
from framework.runtime.hosts.faults import OnError, Recovery
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.hosts.user_errors import user_errors
from framework.runtime.positions.clocks import Clock, RepeatClock
from framework.runtime.positions.lineage import LAST
from framework.runtime.tasks.pause import GrowingPause
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tracking.pending import Pending
from framework.runtime.tracking.replays import Repeats
from viper.position import Position
from viper.quota import Quota

FIRST_PAUSE_S = 0.00002
"""How long an idle polled spout rests at first; twice as long each time, up to a bound.

So a tuple waits no longer than there had been none before it, and at any rate at most for the bound.
"""
LAST_WORDS = 1000
"""Tuples that one callback may still emit when the run is to stop."""
LAST_WORDS_S = 1.0
"""Seconds that it has for it."""
MOST_OUTCOMES = 1024
"""Outcomes of tracked tuples that a spout is told of in one turn."""


class SpoutTask(SourceTask):
    """Runs one task of a spout."""

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: SpoutCollector,
        output: Output,
        identity: Identity,
        recovery: Recovery,
        *,
        clock: Clock,
        quota: Quota,
        linger_s: float,
        max_pause_s: float,
        pending: Pending | None = None,
        skips: bool = False,
    ) -> None:
        """
        Args:
            task: as in the base class, like all before the star.
            host: the component.
            collector: takes what it emits.
            output: routes that.
            identity: what the component is told about itself.
            recovery: what happens when it raises.
            clock: gives positions.
            quota: bounds how much all spouts emit together.
            linger_s: seconds for which tuples are asked for before they are handed on.
            max_pause_s: longest pause in seconds before it is asked again after it had nothing.
            pending: its tracked tuples; None where none are tracked.
            skips: whether bolts may place what they emit where this has got to, beside their input.
        """
        super().__init__(task, host, collector, output, identity, recovery)
        self.collector: SpoutCollector = collector
        collector.done_at_emit = self._done_at_emit
        collector.tracks = pending is not None
        self._clock = clock
        self._quota = quota
        self._pending = pending
        self._skips = skips
        self._repeats = Repeats()
        self._components: Mapping[str, str] = dict(identity.context["task->component"])
        self._granted = 0
        """Tuples of the quota that are this task's and have not been emitted yet."""
        self._linger_s = linger_s
        self._pause = GrowingPause(FIRST_PAUSE_S, max_pause_s)
        self._slice_end = 0.0
        self._generator: Iterator[Any] | None = None
        self._exhausted = False
        self._behind_all = False
        """Whether it has told its consumers that it brings nothing more, but for repeats."""
        self._asking = False
        """Whether tuples are being asked for; only then may others run on top of the callback."""
        self._emitted_before_call = 0

    def _begin(self) -> None:
        super()._begin()
        self._generator = self.host.tuples()

    def resume(self, floor: Position) -> None:
        """As in the base class.

        A spout that had brought everything begins again if it had tracked tuples in flight, of which it
        will not hear: only the component knows where to find out what has become of them.
        """
        super().resume(floor)
        self._clock.resume(floor)
        unheard = self._pending.abandon() if self._pending is not None else 0
        self.collector.counters.unanswered += unheard
        self._exhausted = floor >= LAST and not unheard

    def activate(self) -> None:
        """Tell the spout that tuples will be asked for."""
        super().activate()
        self._call("activate", self.host.component.activate)

    def deactivate(self) -> None:
        """Tell the spout that no more tuples will be asked for."""
        super().deactivate()
        self._call("deactivate", self.host.component.deactivate)
        self._place_outputs()

    # -- state

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self._exhausted and not self._pending

    @property
    def brings_nothing(self) -> bool:
        """Whether it has ended, or only waits to hear what has become of what it has brought."""
        return self.finished or self._behind_all

    def _wants_turn(self, now_s: float) -> bool:
        if self._pending is not None and self._pending.has_news(now_s):
            return True
        if self._exhausted:
            return not self._pending
        return self.active and now_s >= self.polled_again_at and self._room > 0

    @property
    def _room(self) -> int:
        """How many more tuples it may be asked for."""
        return self._pending.room if self._pending is not None else sys.maxsize

    @property
    def looks_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        if self._pending is None:
            return super().looks_at_s
        asked_at_s = super().looks_at_s if self._room > 0 and not self._exhausted else float("inf")
        return min(asked_at_s, self._pending.looks_at_s)

    def leaves_now(self, stopped_at_s: float) -> bool:
        """Whether a callback that goes on emitting although the run is to stop has had its chance.

        A call that emits a few tuples is left alone; one that never returns has to be unwound.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        emitted = self.collector.counters.emitted - self._emitted_before_call
        return emitted >= LAST_WORDS or time.monotonic() >= stopped_at_s + LAST_WORDS_S

    def pass_time(self) -> None:
        """Let the time of a live source go on while it has nothing to say; also of one that waits for
        answers to what others may have placed where it has got to."""
        if self._skips and not self._exhausted and self._room <= 0:
            self._clock.skip()
        elif not self._clock.is_live:
            return
        self.publish(self._clock.frontier())

    # -- work

    def run(self, limit: int) -> int:
        """Ask for about so many tuples at most, or for as many as come within the linger time."""
        if self.restart_at_s is not None:
            self._restart()
        before = self.collector.counters.emitted
        self._tell_outcomes()
        self._slice_end = time.monotonic() + self._linger_s
        if self.active and not self._exhausted and self.restart_at_s is None:
            self._granted = self._quota.take(min(limit, max(self._room, 0)))
            if self._granted:
                self._asked(self._granted)
        self._place_outputs()
        self._quota.settle(self._granted, 0)
        self._granted = 0
        emitted = self.collector.counters.emitted - before
        self._rest(emitted)
        self.unblock()
        if self._exhausted and self._pending:
            self._get_behind_all()
        self.publish(self._clock.frontier())
        return emitted

    def _asked(self, count: int) -> None:
        self._asking = True
        try:
            if self._generator is not None:
                self._draw(self._generator, count)
            else:
                self._poll(count)
        except user_errors() as error:
            self._raised_when_asked(error)
        finally:
            self._asking = False

    def _raised_when_asked(self, error: BaseException) -> None:
        if self._generator is None:
            self._raised("next_tuple", error)
        elif self._choice(error) is OnError.SKIP:  # which would end its stream without a word
            self._failed("tuples", error, tried="a generator cannot go on after an exception: catch it there")
        else:
            self._raised("tuples", error)

    def _draw(self, generator: Iterator[Any], count: int) -> None:
        emit, monotonic = self.host.component.emit, time.monotonic
        self._emitted_before_call = self.collector.counters.emitted
        drawn = 0
        for values in islice(generator, count):
            if values is None:
                return
            emit(values)
            drawn += 1
            if monotonic() >= self._slice_end:
                return
        self._exhausted = drawn < count

    def _poll(self, count: int) -> None:
        next_tuple, outbox, counters = self._next_tuple, self.collector.outbox, self.collector.counters
        emitted = counters.emitted
        try:
            while True:
                before = len(outbox) + counters.emitted
                self._emitted_before_call = counters.emitted
                next_tuple()
                total = len(outbox) + counters.emitted
                if total == before or total - emitted >= count or time.monotonic() >= self._slice_end:
                    return
        except StopIteration:
            self._exhausted = True

    @property
    def _next_tuple(self) -> Callable[[], None]:
        next_tuple: Callable[[], None] = self.host.component.next_tuple
        return next_tuple

    def _rest(self, emitted: int) -> None:
        if emitted:
            self._pause.end()
            self.polled_again_at = 0.0
        else:
            self.polled_again_at = time.monotonic() + self._pause.next_s()

    def _spill(self) -> None:
        # Called at every emit of a polled spout, which may never return from next_tuple.
        now = time.monotonic()
        if not self._asking:
            self._flows()
        elif len(self.collector.outbox) >= SPILL_AT or now >= self._slice_end:
            self._slice_end = now + self._linger_s
            self._flows()
            self.publish(self._clock.frontier())
            self._let_others_run()

    def _let_others_run(self) -> None:
        """Run others, whom what this task was granted and has not used may keep from going on."""
        held = self._granted
        self._quota.settle(held, 0)
        self._granted = 0
        self.let_others_run(self)
        self._granted = self._quota.take(held)
        if self._granted < max(held, 1):
            self._slice_end = 0.0  # there is no more to ask for

    def _call(self, during: str, callback: Any, *args: Any) -> None:
        try:
            callback(*args)
        except user_errors() as error:
            self._raised(during, error)

    # -- positions and trees

    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        counters = self.collector.counters
        before = counters.emitted
        taken = self.collector.take()
        rows = taken.rows
        self._use_quota(counters.emitted - before)
        self._out.clear()
        self._repeats.mark(taken.notes, taken.stamps)
        self._clock.place(rows, taken.tags, taken.stamps, self._out)
        counters.saturated, counters.raised = self._clock.saturated, self._clock.raised
        if self._pending is not None and taken.notes:
            indexes, ids = zip(*taken.notes, strict=True)
            self._out.set_trees(indexes, self._pending.begin(ids))
            counters.tracked += len(ids)
        return rows, taken.tags, taken.mutable

    def _placed(self) -> None:
        if self._pending is not None:
            self._pending.release()

    def _use_quota(self, count: int) -> None:
        granted = min(count, self._granted)  # less, where one call has emitted more than it was asked for
        self._granted -= granted
        self._quota.settle(granted, count)

    def _get_behind_all(self) -> None:
        """Tell the consumers that all has been brought, but for repeats, which come after it."""
        if not self._behind_all:
            self._behind_all = True
            self.last_us = self._clock.frontier().ts
            self._clock = RepeatClock(self._clock, LAST)
            self.output.tell_last_ts(self.last_us)

    # -- outcomes

    def _done_at_emit(self, tup_id: Any) -> None:
        if self._pending is not None:
            self._pending.acked_at_once(tup_id)
        else:
            self.collector.counters.acked += 1
            self.host.component.ack(tup_id)

    def _tell_outcomes(self) -> None:
        """Tell the spout what has become of its tracked tuples."""
        pending = self._pending
        if pending is None:
            return
        pending.look(time.monotonic())
        counters, component = self.collector.counters, self.host.component
        for _ in range(MOST_OUTCOMES):
            outcome = pending.next_outcome() if self.restart_at_s is None else None
            if outcome is None:
                return
            tup_id, reason = outcome
            if reason is None:
                counters.acked += 1
                self._repeats.acked(tup_id)
                self._call("ack", component.ack, tup_id)
            else:
                text = reason.text(self._components)
                counters.failed_for(text)
                self.identity.logger.debug("tuple with id %r failed: %s", tup_id, text)
                self._repeats.failed(tup_id)
                self.host.failed_because(text)
                self._call("fail", component.fail, tup_id)
                # It may be repeated by `next_tuple`.
                self._exhausted = self._exhausted and self.ending

    # -- the end

    def end(self) -> None:
        """Ask for no more tuples, and tell the spout so."""
        self._exhausted = True
        if isinstance(self._generator, Generator):
            self._call("tuples", self._generator.close)
        if self.active:
            self.deactivate()
        self._place_outputs()
        if not self._behind_all:
            self.last_us = self._clock.frontier().ts

    def tell_end(self) -> bool:
        """As in the base class, once the spout has heard what has become of all its tracked tuples."""
        self._tell_outcomes()
        if self.restart_at_s is not None:  # it has raised; nothing comes that it would be needed for
            self.restart_at_s = None
            self._abandon()
            self.host.abandon()
        self._place_outputs()
        if self._pending:
            self.unblock()
            self._get_behind_all()
            self.publish(self._clock.frontier())
            return False
        return super().tell_end()

    def close(self) -> None:
        """As in the base class."""
        self.collector.counters.unanswered += len(self._pending or ())
        super().close()

    def _abandon(self) -> None:
        """Nobody is left to hear of the tracked tuples."""
        if self._pending is not None:
            self.collector.counters.unanswered += self._pending.abandon()

    def _restart(self) -> None:
        self._abandon()
        self._exhausted = False
        super()._restart()
        if self.active:
            self.activate()
