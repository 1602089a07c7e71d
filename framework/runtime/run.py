"""A run from its first task to its report."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from framework.config import Settings
from framework.errors import ViperError, first_of, with_notes
from framework.importing import importable
from framework.planning import Plan, WorkerKind
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import Tape, taped
from framework.runtime.control.companions import accompanied, identities
from framework.runtime.control.signals import draining_by_signals
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.statistics import ExecutorStatistics, RunStatistics, channel_statistics
from framework.runtime.positions.offsets import going_on
from framework.runtime.report import Progress, RunReport, WorkerReport, progress_of, run_report
from framework.runtime.workers.worker import Worker

PROGRESS_PERIOD_S = 0.1


class WorkerGroup(Protocol):
    """What does the work of a run: the executors of this process, or worker processes.

    The phases are called in order; each ends when all have completed it.
    """

    def surroundings(self) -> AbstractContextManager[None]:
        """What is around all phases."""

    def prepare(self) -> None:
        """Make and initialize all components."""

    def run(self) -> None:
        """Run until every task has ended, or the run is stopped."""

    def close(self) -> Sequence[ViperError]:
        """Close all components that were initialized; returns what they raised."""

    def reports(self) -> Sequence[WorkerReport]:
        """What each process did."""

    @property
    def incidents(self) -> Sequence[Incident]:
        """The processes that died and were restarted."""

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """How far each process has come, by task."""

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """How the executors are doing."""


class Run:
    """One execution of a plan.

    Args:
        plan: what to run.
        settings: the configuration it was planned with.
        duration_s: seconds after which it drains; None runs until the spouts have ended.
        max_tuples: tuples after which the spouts stop, all together; a spout that emits several
            from one `next_tuple` may go a little beyond.
        stop: asks for a drain from outside.
        on_progress: called about ten times a second, and once at the end.
        record: a file to write down everything in that was emitted.
        replay: such a file, to be the input instead of the spouts.
        inactive: whether the spouts are left alone until `activate`.
        start: the report of another run, as ``viper run --report`` writes it: its spouts, which must be
            partitioned, go on where they had stopped there.
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
        record: Path | None = None,
        replay: Path | None = None,
        inactive: bool = False,
        start: Path | None = None,
    ) -> None:
        self._plan = plan
        self._start = start
        self._settings = settings
        self._duration_s = duration_s
        self._stop = stop or StopSignal()
        self._on_progress = on_progress
        self._record = record
        self._replay = replay
        if inactive:
            self._stop.deactivate()
        self._network = Network.create(plan, settings, max_tuples)
        self.report: RunReport | None = None
        """What it did, once it has ended; also where it has failed after its spouts were activated."""
        self._sources: Mapping[str, str] = {}
        """The names of the data of its spouts, as they were when it began."""
        self._workers: WorkerGroup | None = None
        self._next_look = 0.0
        self._started: float | None = None
        """Monotonic time in seconds at which the spouts were activated."""

    def execute(self) -> RunReport:
        """Run to the end.

        Raises:
            ComponentError: user code raised; every other component has been closed.
            WorkerError: a worker process died, and none could take its place.
            RecordingError: nothing can be recorded there, or what shall be replayed does not fit.
            PlaceError: it cannot go on from that report.
            KeyboardInterrupt: a second Ctrl-C, or the first while a companion of the spouts is being started.
        """
        with (
            importable(self._plan.topology.import_paths),
            draining_by_signals(self._stop),
            taped(self._plan, self._record, self._replay) as tape,
            self._prepared() as self._plan,
        ):
            return self._executed(tape)

    @contextlib.contextmanager
    def _prepared(self) -> Iterator[Plan]:
        """For as long as the block runs, what runs beside the spouts runs; gives the plan as they need it."""
        plan = self._plan
        known = identities(plan) if self._replay is None or self._start is not None else {}
        if self._start is not None:
            plan = going_on(plan, self._start, known)
        if self._replay is not None:  # which stands in for the spouts
            yield plan
            return
        self._sources = known
        with accompanied(plan, self._stop) as accompanied_plan:
            yield accompanied_plan

    def _executed(self, tape: Tape) -> RunReport:
        workers = self._workers = self._make_workers(tape)
        with workers.surroundings():
            try:
                self._lead(workers)
            except ViperError:
                if self._started is not None:
                    with contextlib.suppress(ViperError):
                        self.report = self._made_report(workers, time.monotonic())
                raise
            ended = time.monotonic()
            if self._on_progress is not None:
                self._on_progress(self._progress(ended, done=True))
            self.report = self._made_report(workers, ended)
            return self.report

    def _made_report(self, workers: WorkerGroup, ended: float) -> RunReport:
        reason = self._stop.reason or StopReason.EXHAUSTED
        channels = channel_statistics(self._plan, self._network.statistics())
        elapsed_s = self._elapsed(ended)
        report = run_report(self._plan, workers.reports(), channels, reason, elapsed_s, workers.incidents)
        return replace(report, sources=self._sources)

    def activate(self) -> None:
        """Have the spouts asked for tuples (again); from any thread."""
        self._stop.activate()

    def deactivate(self) -> None:
        """Have the spouts asked for no more tuples until `activate`; what they have brought is processed."""
        self._stop.deactivate()

    def statistics(self) -> RunStatistics:
        """How the channels and executors are doing, while it runs; from `on_progress` or any other thread."""
        executors = self._workers.statistics() if self._workers else ()
        return RunStatistics(channel_statistics(self._plan, self._network.statistics()), executors)

    def _make_workers(self, tape: Tape) -> WorkerGroup:
        if self._plan.placement.kind is WorkerKind.PROCESS:
            from framework.runtime.workers.supervisor import Supervisor  # a run in this process needs none

            return Supervisor(
                self._plan, self._settings, self._network, stop=self._stop, tape=tape, on_look=self._look
            )
        return Worker(
            self._plan,
            self._settings,
            self._network,
            stop=self._stop,
            tape=tape,
            duration_s=self._duration_s,
            on_look=self._look,
        )

    def _lead(self, workers: WorkerGroup) -> None:
        """Take the workers through their phases.

        Where something fails, what the components' `close` raises on top of that is noted beside it.
        """
        try:
            workers.prepare()
            self._started = time.monotonic()
            workers.run()
        except BaseException as error:
            self._stop.abort()
            with_notes(error, workers.close())
            raise
        failures = workers.close()
        if failures:
            raise first_of(failures)

    def _look(self, now: float) -> None:
        if self._network.quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)
        if now < self._next_look or self._started is None:
            return
        self._next_look = now + PROGRESS_PERIOD_S
        if self._duration_s is not None:
            left = self._started + self._duration_s - now
            self._next_look = min(self._next_look, now + max(left, 0.0))
            if left <= 0:
                self._stop.request(StopReason.DURATION)
        if self._on_progress is not None:
            self._on_progress(self._progress(now, done=False))

    def _progress(self, now: float, *, done: bool) -> Progress:
        counters = self._workers.counters() if self._workers else ()
        return progress_of(self._plan, counters, self._elapsed(now), done=done)

    def _elapsed(self, now: float) -> float:
        return now - self._started if self._started is not None else 0.0


def run(
    plan: Plan,
    settings: Settings,
    *,
    duration_s: float | None = None,
    max_tuples: int | None = None,
    stop: StopSignal | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    record: Path | None = None,
    replay: Path | None = None,
    inactive: bool = False,
    start: Path | None = None,
) -> RunReport:
    """Run a plan to its end; arguments and errors as in `Run`."""
    return Run(
        plan,
        settings,
        duration_s=duration_s,
        max_tuples=max_tuples,
        stop=stop,
        on_progress=on_progress,
        record=record,
        replay=replay,
        inactive=inactive,
        start=start,
    ).execute()
