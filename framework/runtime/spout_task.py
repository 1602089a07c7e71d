"""The task of a spout: asks for tuples and gives them their first positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from framework.components.collector import EmitResult
from framework.errors import EmitError
from framework.planning import Task, TimeMode
from framework.runtime.clocks import Clock, to_micros
from framework.runtime.collector import TaskCollector
from framework.runtime.hosts import Host, Identity
from framework.runtime.output import Output
from framework.runtime.source_task import SourceTask
from framework.runtime.task import SPILL_AT, USER_ERRORS
from viper.quota import Quota

FIRST_PAUSE_S = 0.00002
"""How long an idle polled spout rests at first; twice as long each time, up to a bound.

So a tuple waits no longer than there had been none before it, and at any rate at most for the bound.
"""
LAST_WORDS = 1000
"""Tuples that one callback may still emit when the run is to stop."""
LAST_WORDS_S = 1.0
"""Seconds that it has for it."""


class SpoutCollector(TaskCollector):
    """A spout's collector: its emit takes an id and a timestamp."""

    time: TimeMode
    unit: str = "ms"
    acked_at_emit: Any
    """Calls the spout's `ack`: tuples are not tracked, so an id is done with when it is emitted."""

    def emit(  # type: ignore[override]
        self,
        tup: Sequence[Any],
        tup_id: Any = None,
        stream: str | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        timestamp: Any = None,
    ) -> EmitResult:
        """A spout's emit, in all its forms."""
        stamp = None if timestamp is None else self._micros(timestamp)
        receivers = self._put(tup, stream, direct_task, need_task_ids, stamp)
        if tup_id is not None:
            self.acked_at_emit(tup_id)
        return receivers

    def _micros(self, timestamp: Any) -> int:
        if self.time is not TimeMode.EVENT:
            raise EmitError(
                f"component {self._component!r} emits with timestamp={timestamp!r:.100}, "
                f"but the topology runs by {self.time} time: set viper.time to event"
            )
        return to_micros(timestamp, self.unit, self._component)


class SpoutTask(SourceTask):
    """Runs one task of a spout."""

    def __init__(
        self,
        task: Task,
        host: Host,
        collector: SpoutCollector,
        output: Output,
        identity: Identity,
        *,
        clock: Clock,
        quota: Quota,
        linger_s: float,
        max_pause_s: float,
    ) -> None:
        super().__init__(task, host, collector, output, identity)
        self.collector: SpoutCollector = collector
        self._clock = clock
        self._quota = quota
        self._granted = 0
        """Tuples of the quota that are this task's and have not been emitted yet."""
        self._linger_s = linger_s
        self._max_pause_s = max_pause_s
        self._pause_s = 0.0
        self._slice_end = 0.0
        self._generator: Iterator[Any] | None = None
        self._active = False
        self._exhausted = False
        self._said_untracked = False
        self._asking = False
        """Whether tuples are being asked for; only then may others run on top of the callback."""
        self._emitted_before_call = 0

    def start(self) -> None:
        """Initialize the component; what it emits there comes before everything else."""
        self.collector.acked_at_emit = self._ack_at_emit
        super().start()
        self._generator = self.host.tuples()

    def activate(self) -> None:
        """Tell the spout that tuples will be asked for."""
        self._call("activate", self.host.component.activate)
        self._active = True

    def _ack_at_emit(self, tup_id: Any) -> None:
        if not self._said_untracked and self.identity.conf["topology.acker.executors"] != 0:
            self._said_untracked = True
            self.identity.logger.warning(
                "emits with ids, but tuples are not tracked as yet: each is acked as it is emitted, and none "
                "is replayed; topology.acker.executors: 0 says that this is meant"
            )
        self.host.component.ack(tup_id)

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self._exhausted

    def end(self) -> None:
        """Ask for no more tuples, and tell the spout so."""
        self._exhausted = True
        if isinstance(self._generator, Generator):
            self._call("tuples", self._generator.close)
        if self._active:
            self._active = False
            self._call("deactivate", self.host.component.deactivate)
        self._place_outputs()
        self.last_us = self._clock.frontier().ts

    def run(self, limit: int) -> int:
        """Ask for about so many tuples at most, or for as many as come within the linger time."""
        before = self.collector.counters.emitted
        self._slice_end = time.monotonic() + self._linger_s
        self._granted = self._quota.take(limit)
        if self._granted:
            self._asked(self._granted)
        self._place_outputs()
        self._quota.settle(self._granted, 0)
        self._granted = 0
        emitted = self.collector.counters.emitted - before
        self._rest(emitted)
        self.unblock()
        self.publish(self._clock.frontier())
        return emitted

    def _asked(self, count: int) -> None:
        self._asking = True
        try:
            if self._generator is not None:
                self._draw(self._generator, count)
            else:
                self._poll(count)
        except USER_ERRORS as error:
            self._survive("tuples" if self._generator is not None else "next_tuple", error)
        finally:
            self._asking = False

    def leaves_now(self, stopped_at_s: float) -> bool:
        """Whether a callback that goes on emitting although the run is to stop has had its chance.

        A call that emits a few tuples is left alone; one that never returns has to be unwound.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        emitted = self.collector.counters.emitted - self._emitted_before_call
        return emitted >= LAST_WORDS or time.monotonic() >= stopped_at_s + LAST_WORDS_S

    def pass_time(self) -> None:
        """Let the time of a live source go on while it has nothing to say."""
        if self._clock.is_live:
            self.publish(self._clock.frontier())

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
            self._pause_s = 0.0
        else:
            self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), self._max_pause_s)
        self.polled_again_at = time.monotonic() + self._pause_s if self._pause_s else 0.0

    def _spill(self) -> None:
        # Called at every emit of a polled spout, which may never return from next_tuple.
        now = time.monotonic()
        if not self._asking:
            self._place_outputs()
        elif len(self.collector.outbox) >= SPILL_AT or now >= self._slice_end:
            self._slice_end = now + self._linger_s
            self._place_outputs()
            self.unblock()
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

    def _take_placed(self) -> tuple[list[tuple[Any, ...]], bytes | None, bool]:
        counters = self.collector.counters
        before = counters.emitted
        rows, tags, mutable, stamps = self.collector.take()
        self._use_quota(counters.emitted - before)
        self._out.clear()
        self._clock.place(rows, tags, stamps, self._out)
        counters.saturated = self._clock.saturated
        return rows, tags, mutable

    def _use_quota(self, count: int) -> None:
        granted = min(count, self._granted)  # less, where one call has emitted more than it was asked for
        self._granted -= granted
        self._quota.settle(granted, count)

    def _call(self, during: str, callback: Any) -> None:
        try:
            callback()
        except USER_ERRORS as error:
            self._failed(during, error)
