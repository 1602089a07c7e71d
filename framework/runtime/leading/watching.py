"""Watches a run: the clock, and the progress of the run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from framework.planning import Plan
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.leading.limits import Limits
from framework.runtime.leading.observer import PERIOD_S, Observer
from framework.runtime.report import Progress, expected_of, progress_of
from framework.runtime.workers.group import WorkerGroup


class Watching:
    """Ends the run at its time, and reports its progress.

    Args:
        limits: of the run.
        stop: ends it where this fails.
        on_progress: called with its progress; None for nobody.
    """

    def __init__(
        self, limits: Limits, stop: StopSignal, on_progress: Callable[[Progress], None] | None
    ) -> None:
        self._limits = limits
        self._stop = stop
        self._on_progress = on_progress

    def observing(self, plan: Plan, workers: WorkerGroup) -> AbstractContextManager[None]:
        """For as long as the block runs, another thread looks, as the workers' may be in a callback for long.

        Args:
            plan: what is run.
            workers: do the work of this attempt.
        """
        if self._on_progress is None and not self._limits.has_duration:
            return contextlib.nullcontext()

        def look(now: float) -> float:
            self._limits.check_time(now)
            if self._on_progress is None:
                return self._limits.pause_s(now)
            self._on_progress(self._progress(plan, workers, now, done=False))
            return PERIOD_S

        return Observer(look, self._stop.abort).observing()

    def tell_end(self, plan: Plan, workers: WorkerGroup, ended: float) -> None:
        """Report the progress a last time, at the end.

        Args:
            plan: what was run.
            workers: those that did the work.
            ended: the monotonic time in seconds.
        """
        if self._on_progress is not None:
            self._on_progress(self._progress(plan, workers, ended, done=True))

    def _progress(self, plan: Plan, workers: WorkerGroup, now: float, *, done: bool) -> Progress:
        elapsed_s = self._limits.elapsed_s(now)
        counters, executors = workers.counters(), workers.statistics()
        found = progress_of(plan, counters, elapsed_s, done=done, executors=executors)
        share = self._limits.share(elapsed_s, found.emitted, expected_of(plan, counters))
        return replace(found, draining=self._stop.requested, share=share)
