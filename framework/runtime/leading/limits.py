"""The limits that end a run before its spouts do, a duration or a number of tuples, and who checks them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from framework.planning import Plan
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.leading.observer import LONGEST_PAUSE_S, PERIOD_S, Observer
from framework.runtime.report import Progress, expected_of, progress_of
from framework.runtime.workers.group import WorkerGroup
from viper.quota import Quota

_ALMOST = 0.99
"""The largest share by a number of tuples that is not exact: more may come."""


class Limits:
    """The limits of one run, and when it began.

    Args:
        stop: asks for a drain when one of them is reached.
        duration_s: seconds after which the run drains; None for no limit.
        max_tuples: tuples after which the spouts stop, all together; None for no limit.
    """

    def __init__(self, stop: StopSignal, duration_s: float | None, max_tuples: int | None) -> None:
        self._stop = stop
        self._duration_s = duration_s
        self.max_tuples = max_tuples
        """The limit of the present attempt, which has the rest that an earlier one has left."""
        self._began_s: float | None = None
        """Monotonic time in seconds at which the spouts were activated."""

    def go_on_with(self, max_tuples: int | None) -> None:
        """Begin another attempt, which has so many tuples left."""
        self.max_tuples = max_tuples

    @property
    def has_duration(self) -> bool:
        """True if the run drains after a time."""
        return self._duration_s is not None

    @property
    def has_begun(self) -> bool:
        """True if the spouts were activated."""
        return self._began_s is not None

    def begin(self, now_s: float) -> None:
        """Note that the spouts are activated; only the first call counts."""
        if self._began_s is None:
            self._began_s = now_s

    def elapsed_s(self, now_s: float) -> float:
        """Seconds since the spouts were activated; 0 before."""
        return now_s - self._began_s if self._began_s is not None else 0.0

    def check(self, now_s: float, quota: Quota) -> None:
        """Have the run drain if a limit is reached.

        Args:
            now_s: monotonic time in seconds.
            quota: counts tuples.
        """
        if self.max_tuples is not None and quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)
        self.check_time(now_s)

    def check_time(self, now_s: float) -> None:
        """Have the run drain if it has lasted as long as it was meant to."""
        if self._duration_s is not None and self._began_s is not None and self._left_s(now_s) <= 0:
            self._stop.request(StopReason.DURATION)

    def share(self, elapsed_s: float, emitted: int, expected: int) -> float | None:
        """The share of the run that is over, from 0 to 1; None if nobody knows.

        Args:
            elapsed_s: seconds since the spouts were activated.
            emitted: tuples that the spouts have emitted.
            expected: about how many they will emit if nothing ends the run before; 0 if nobody knows.
        """
        shares = [min(emitted / expected, _ALMOST)] if expected else []
        shares += [emitted / self.max_tuples] if self.max_tuples else []
        shares += [elapsed_s / self._duration_s] if self._duration_s else []
        return min(1.0, max(shares)) if shares else None

    def pause_s(self, now_s: float) -> float:
        """Seconds until there is something to look at again."""
        is_ending = self._stop.requested or self._stop.wants_suspension
        if self._duration_s is None or self._began_s is None or is_ending:
            return PERIOD_S
        return min(max(self._left_s(now_s), 0.0), LONGEST_PAUSE_S)

    def _left_s(self, now_s: float) -> float:
        assert self._duration_s is not None and self._began_s is not None
        return self._began_s + self._duration_s - now_s


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
