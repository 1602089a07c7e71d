"""A run from its first task to its report."""

from __future__ import annotations

import contextlib
import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence

from framework.components.component import LOGGER_PREFIX
from framework.config import Settings
from framework.errors import ComponentError
from framework.importing import importable
from framework.planning import Plan, TimeMode
from framework.runtime.alarm import looked_after
from framework.runtime.bolt_task import BoltTask
from framework.runtime.counters import TaskCounters
from framework.runtime.quota import Quota
from framework.runtime.report import Progress, RunReport
from framework.runtime.scheduling import DownstreamFirst, Policy, SeededRandom
from framework.runtime.spout_task import SpoutTask
from framework.runtime.stdout import printing_to_log
from framework.runtime.stop import StopReason, StopSignal
from framework.runtime.task import RunningTask
from framework.runtime.ticks import WallTimer
from framework.runtime.timers import Timers
from framework.runtime.wiring import Wiring
from framework.runtime.worker import InlineWorker
from framework.sinks import Sink

PROGRESS_PERIOD_S = 0.1


class Run:
    """One execution of a plan in this thread.

    Args:
        plan: what to run.
        settings: the configuration it was planned with.
        duration_s: seconds after which it drains; None runs until the spouts have ended.
        max_tuples: tuples after which the spouts stop, all together; a spout that emits several
            from one `next_tuple` may go a little beyond.
        stop: asks for a drain from outside.
        on_progress: called about ten times a second, and once at the end.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        *,
        duration_s: float | None = None,
        max_tuples: int | None = None,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._plan = plan
        self._settings = settings
        self._duration_s = duration_s
        self._quota = Quota(max_tuples)
        self._stop = stop or StopSignal()
        self._on_progress = on_progress
        self._next_look = 0.0
        self._started = 0.0
        self._spouts: Sequence[SpoutTask] = ()
        self._bolts: Sequence[BoltTask] = ()
        self._timers = Timers()
        self._worker: InlineWorker | None = None

    @property
    def _tasks(self) -> list[RunningTask]:
        return [*self._bolts, *self._spouts]

    def execute(self) -> RunReport:
        """Run to the end.

        Raises:
            ComponentError: user code raised; every other component has been closed.
            KeyboardInterrupt: a second Ctrl-C.
        """
        with importable(self._plan.topology.import_paths), self._stop.on_signals(), _calm_collector():
            with printing_to_log(self._current_logger):
                self._spouts, self._bolts = Wiring(self._plan, self._settings, self._quota).tasks()
                worker = self._worker = self._make_worker()
                self._run_tasks(worker)
            return self._report(worker)

    def _current_logger(self) -> logging.Logger:
        current = self._worker.current if self._worker else None
        return current.identity.logger if current else logging.getLogger(LOGGER_PREFIX)

    def _make_worker(self) -> InlineWorker:
        return InlineWorker(
            self._spouts,
            self._bolts,
            policy=self._policy(),
            stop=self._stop,
            timers=self._timers,
            max_slice=self._settings["viper.slice.tuples"],
            drain_timeout_s=self._settings["viper.drain.timeout.secs"],
            on_turn=self._look,
        )

    def _policy(self) -> Policy:
        if self._settings["viper.scheduling"] == "random":
            return SeededRandom(self._settings["viper.seed"])
        return DownstreamFirst()

    def _set_timers(self) -> None:
        """What components have said about their timers, which may be as late as in `initialize`."""
        now = time.monotonic()
        for bolt in self._bolts:
            period = bolt.identity.conf.get("topology.tick.tuple.freq.secs")
            if period and self._plan.time is not TimeMode.EVENT:
                self._timers.add(WallTimer(period, now), bolt, bolt.tick)
            seconds = bolt.host.batch_seconds
            if seconds is not None:
                self._timers.add(WallTimer(seconds, now), bolt, bolt.fire_batches)

    def _run_tasks(self, worker: InlineWorker) -> None:
        begun: list[RunningTask] = []
        drain_timeout_s = self._settings["viper.drain.timeout.secs"]
        try:
            for running in self._tasks:
                begun.append(running)
                worker.call(running, running.start)
            self._set_timers()
            self._started = time.monotonic()
            with looked_after(self._stop, self._duration_s, drain_timeout_s, worker.in_callback):
                worker.run()
        except BaseException:
            self._close(worker, begun)
            raise
        failures = self._close(worker, begun)
        if failures:
            raise failures[0]

    @staticmethod
    def _close(worker: InlineWorker, begun: Sequence[RunningTask]) -> list[ComponentError]:
        """Close every task, whatever happens to the others; what went wrong is logged and returned."""
        failures = []
        for running in begun:
            try:
                worker.call(running, running.close)
            except ComponentError as error:
                running.identity.logger.error("%s", error)
                failures.append(error)
        return failures

    def _look(self, now: float) -> None:
        if self._quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)
        if now < self._next_look:
            return
        self._next_look = now + PROGRESS_PERIOD_S
        if self._duration_s is not None:
            left = self._started + self._duration_s - now
            self._next_look = min(self._next_look, now + max(left, 0.0))
            if left <= 0:
                self._stop.request(StopReason.DURATION)
        if self._on_progress is not None:
            self._on_progress(self._progress(now, done=False))

    def _progress(self, now: float, done: bool) -> Progress:
        emitted = sum(spout.collector.counters.emitted for spout in self._spouts)
        processed = sum(bolt.collector.counters.processed for bolt in self._bolts)
        return Progress(now - self._started, emitted, processed, done)

    def _report(self, worker: InlineWorker) -> RunReport:
        now = time.monotonic()
        if self._on_progress is not None:
            self._on_progress(self._progress(now, done=True))
        components = {component.id: TaskCounters() for component in self._plan.topology.components}
        results: dict[str, list[object]] = {}
        for running in sorted(self._tasks, key=lambda r: r.task.id):
            components[running.task.component].add(running.collector.counters)
            sink = running.host.component
            if isinstance(sink, Sink) and (result := sink.result()) is not None:
                results.setdefault(running.task.component, []).append(result)
        return RunReport(
            topology=self._plan.topology.name,
            time=str(self._plan.time),
            reason=self._stop.reason or StopReason.EXHAUSTED,
            elapsed_s=now - self._started,
            emitted=sum(spout.collector.counters.emitted for spout in self._spouts),
            components=components,
            results={component: tuple(values) for component, values in results.items()},
            drained=not worker.undrained,
        )


@contextlib.contextmanager
def _calm_collector() -> Iterator[None]:
    """Fewer young collections while tuples, which are no garbage in cycles, come and go by the million."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], YOUNG_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


YOUNG_OBJECTS = 50_000
"""New objects between two young collections."""


def run(
    plan: Plan,
    settings: Settings,
    *,
    duration_s: float | None = None,
    max_tuples: int | None = None,
    stop: StopSignal | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunReport:
    """Run a plan to its end in this thread; arguments and errors as in `Run`."""
    return Run(
        plan, settings, duration_s=duration_s, max_tuples=max_tuples, stop=stop, on_progress=on_progress
    ).execute()
