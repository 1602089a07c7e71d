"""A run from its first task to its report."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from framework.checkpoints import folder_locked, folder_of, found_at
from framework.checkpoints.going_on import check_acks_can_wait, check_can_checkpoint, going_on_from
from framework.checkpoints.renaming import renamed, with_former_ids
from framework.config import Settings
from framework.errors import CheckpointError, SuspendError, ViperError, first_of, with_notes
from framework.importing import importable
from framework.planning import Plan, WorkerKind
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import RecordingPaths, recording_paths
from framework.runtime.assembly.statistics import channel_statistics
from framework.runtime.checkpointing import Checkpointing
from framework.runtime.control.companions import accompanied, partitioned_spouts
from framework.runtime.control.signals import draining_by_signals
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.saved import Written
from framework.runtime.metrics.statistics import (
    ChannelStatistics,
    CheckpointStatistics,
    ExecutorStatistics,
    RepeatStatistics,
    RunStatistics,
)
from framework.runtime.observer import LONGEST_PAUSE_S, PERIOD_S, Observer
from framework.runtime.positions.offsets import going_on
from framework.runtime.report import Progress, RunReport, progress_of, run_report
from framework.runtime.state import StateMemory, load_states
from framework.runtime.workers.group import WorkerGroup
from framework.runtime.workers.worker import Worker


class Run:
    """One execution of a plan.

    Args:
        plan: what to run.
        settings: the configuration it was planned with.
        duration_s: seconds after which it drains; None runs until the spouts have ended.
        max_tuples: tuples after which the spouts stop, all together; a spout that emits several
            from one `next_tuple` may go a little beyond.
        stop: asks for a drain from outside.
        on_progress: called about ten times a second from a thread of its own, also while components are
            being made and closed, and once at the end from the thread of `execute`. What it raises ends the
            run.
        record: a file to write down everything in that was emitted.
        replay: such a file, to be the input instead of the spouts.
        inactive: whether the spouts are left alone until `activate`.
        start: the report of another run, as ``viper run --report`` writes it: its spouts, which must be
            partitioned, go on where they had stopped there. Or a checkpoint, or a folder of checkpoints, of
            which it is the last: then bolts go on as well.
        checkpoints: the folder for the checkpoints of this run; None for that of `start`, if that is one.
        rename: new names by old ones, of components and of states (``component.state``) in the checkpoint
            `start`.

    Raises:
        CheckpointError: no checkpoint can be made of this topology, or while it replays a recording; or acks
            are to wait for checkpoints, and there is no folder for them.
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
        checkpoints: Path | None = None,
        rename: Mapping[str, str] | None = None,
    ) -> None:
        self._plan = plan
        self._start = start
        self._rename = dict(rename or {})
        if self._rename and (start is None or not start.is_dir()):
            raise CheckpointError(
                f"{', '.join(self._rename)} cannot be renamed: only what a checkpoint holds has another name "
                "(--from CHECKPOINT --rename old=new)"
            )
        if checkpoints is None and start is not None and start.is_dir():
            checkpoints = folder_of(start)
        if checkpoints is not None:
            check_can_checkpoint(plan, replays=replay is not None)
        else:
            check_acks_can_wait(plan)
        self._folder = checkpoints
        self._checkpointing: Checkpointing | None = None
        self._settings = settings
        self._duration_s = duration_s
        self._stop = stop or StopSignal()
        self._on_progress = on_progress
        self._record = record
        self._replay = replay
        if inactive:
            self._stop.deactivate()
        self._network = Network.create(plan, settings, max_tuples, checkpoints=checkpoints is not None)
        self._memory = StateMemory.create(plan, settings, tracked=checkpoints is not None)
        self._is_limited = max_tuples is not None
        self.report: RunReport | None = None
        """The report, once the run has ended; also if it has failed after its spouts were activated."""
        self._sources: Mapping[str, str] = {}
        """The names of the data of its spouts, as they were when it began."""
        self._workers: WorkerGroup | None = None
        self._started: float | None = None
        """Monotonic time in seconds at which the spouts were activated."""

    def execute(self) -> RunReport:
        """Run to the end.

        Raises:
            ComponentError: user code raised; every other component has been closed.
            WorkerError: a worker process died, and none could take its place.
            RecordingError: nothing can be recorded there, or what shall be replayed does not fit.
            PlaceError: it cannot go on from that report.
            CheckpointError: it cannot go on from that checkpoint, or another run has its checkpoints in the
                same folder.
            SuspendError: it was suspended, but its checkpoint cannot be written.
            KeyboardInterrupt: a second Ctrl-C, or the first while a companion of the spouts is being started.
        """
        with (
            importable(self._plan.topology.import_paths),
            draining_by_signals(self._stop),
            recording_paths(self._plan, self._record, self._replay) as recording,
            folder_locked(self._folder),
            self._prepared() as self._plan,
            self._commanded(),
        ):
            return self._executed(recording)

    @contextlib.contextmanager
    def _prepared(self) -> Iterator[Plan]:
        """For as long as the block runs, what runs beside the spouts runs; gives the plan as they need it."""
        plan, start = self._plan, None
        spouts = partitioned_spouts(plan) if self._replay is None or self._start is not None else {}
        known = {name: spout.identity for name, spout in spouts.items()}
        if self._start is not None and self._start.is_dir():
            start = renamed(found_at(self._start), self._rename, plan)
            plan = going_on_from(plan, self._settings, start, spouts)
            plan = with_former_ids(plan, self._rename)
            load_states(self._memory, start)
        elif self._start is not None:
            plan = going_on(plan, self._start, known)
        if self._folder is not None:
            self._checkpointing = Checkpointing(
                plan,
                self._settings,
                self._network,
                self._memory,
                self._folder,
                start=start,
                stop=self._stop,
                sources=known,
                lost=self._lost,
            )
        if self._replay is not None:  # which stands in for the spouts
            yield plan
            return
        self._sources = known
        with accompanied(plan, self._stop) as accompanied_plan:
            yield accompanied_plan

    def _commanded(self) -> AbstractContextManager[None]:
        """For as long as the block runs, other processes may find the run by its folder, and suspend it."""
        return contextlib.nullcontext() if self._checkpointing is None else self._checkpointing.commanded()

    def _executed(self, recording: RecordingPaths) -> RunReport:
        workers = self._workers = self._make_workers(recording)
        with workers.surroundings():
            try:
                with self._observed():
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
        channels = channel_statistics(self._plan, self._network)
        elapsed_s = self._elapsed(ended)
        report = run_report(self._plan, workers.reports(), channels, reason, elapsed_s, workers.incidents)
        statistics = self._statistics(channels, report.statistics.executors)
        report = replace(report, sources=self._sources, statistics=statistics)
        made = statistics.checkpoints
        return replace(report, checkpoint=made.last, checkpoints=made.count)

    def activate(self) -> None:
        """Have the spouts asked for tuples (again); from any thread."""
        self._stop.activate()

    def deactivate(self) -> None:
        """Have the spouts asked for no more tuples until `activate`; what they have brought is processed."""
        self._stop.deactivate()

    def suspend(self) -> Written:
        """End the run at one event time, so that another one goes on from there; from any other thread.

        All rows before that time are processed, and none behind it. It is not the end of the input: nothing
        is told that it is over, and no last ticks fire.

        Returns:
            The checkpoint, once it is on the disk.

        Raises:
            SuspendError: the run has no folder for checkpoints, has come to its end, or goes on, as a source
                has not come to the time of the others (``viper.checkpoint.timeout.secs``).
        """
        if self._checkpointing is None:
            raise SuspendError("the run has no folder for checkpoints, or has not begun")
        return self._checkpointing.suspend()

    def checkpoint(self) -> Written:
        """Make a checkpoint, and go on; from any other thread.

        The sources agree on an event time ahead of them. Each task saves itself as it comes there, and writes
        what it remembers piece by piece while it goes on.

        Returns:
            The checkpoint, which is on the disk.

        Raises:
            SuspendError: none was made, as for `suspend`; or a bolt has not come to that time.
        """
        if self._checkpointing is None:
            raise SuspendError("the run has no folder for checkpoints, or has not begun")
        return self._checkpointing.take()

    def statistics(self) -> RunStatistics:
        """The statistics of channels, executors, state, checkpoints and repeats while the run goes on; from
        any thread."""
        executors = self._workers.statistics() if self._workers else ()
        return self._statistics(channel_statistics(self._plan, self._network), executors)

    def _statistics(
        self, channels: Sequence[ChannelStatistics], executors: Sequence[ExecutorStatistics]
    ) -> RunStatistics:
        memory, made = self._memory, self._checkpointing
        return RunStatistics(
            channels,
            executors,
            states=() if memory is None else memory.statistics(),
            groups=() if memory is None else memory.hottest(),
            checkpoints=CheckpointStatistics() if made is None else made.statistics,
            repeats=RepeatStatistics.of(self._workers.incidents if self._workers else ()),
        )

    def _make_workers(self, recording: RecordingPaths) -> WorkerGroup:
        made = self._checkpointing
        on_report = (lambda report: None) if made is None else made.note
        on_want = (lambda: None) if made is None else made.want
        folder = None if self._folder is None else self._folder.absolute()
        if self._plan.placement.kind is WorkerKind.PROCESS:
            from framework.runtime.workers.supervisor import Supervisor  # a run in this process needs none

            return Supervisor(
                self._plan,
                self._settings,
                self._network,
                memory=self._memory,
                stop=self._stop,
                recording=recording,
                on_look=self._look,
                on_report=on_report,
                on_want=on_want,
                on_death=(lambda: None) if made is None else made.worker_died,
                checkpoints=folder,
            )
        return Worker(
            self._plan,
            self._settings,
            self._network,
            memory=self._memory,
            stop=self._stop,
            recording=recording,
            on_look=self._look,
            on_report=on_report,
            on_want=on_want,
            checkpoints=folder,
        )

    def _lead(self, workers: WorkerGroup) -> None:
        """Take the workers through their phases.

        Where something fails, what the components' `close` raises on top of that is noted beside it.
        """
        try:
            workers.prepare()
            self._started = time.monotonic()
            workers.run()
            written = self._write_checkpoint(workers)
        except BaseException as error:
            self._stop.abort()
            with_notes(error, workers.close())
            raise
        failures = workers.close(written, is_complete=True)
        if failures:
            raise first_of(failures)

    def _write_checkpoint(self, workers: WorkerGroup) -> int | None:
        """The id of the checkpoint, if the run was suspended."""
        if self._checkpointing is None or self._stop.reason is not StopReason.SUSPENDED:
            return None
        return self._checkpointing.write(workers.saved())

    def _lost(self) -> int:
        """Untracked tuples that were lost with worker processes."""
        return sum(incident.lost for incident in self._workers.incidents) if self._workers else 0

    def _observed(self) -> AbstractContextManager[None]:
        """For as long as the block runs, another thread looks at the clock and tells of progress."""
        if self._on_progress is None and self._duration_s is None:
            return contextlib.nullcontext()
        return Observer(self._observe, self._stop.abort).observing()

    def _observe(self, now: float) -> float:
        """Called by the observer's thread, as the workers' thread may be in a callback for long.

        Returns:
            The seconds until there is something to look at again.
        """
        self._stop_in_time(now)
        if self._on_progress is not None:
            self._on_progress(self._progress(now, done=False))
            return PERIOD_S
        if self._duration_s is None or self._started is None or self._stop.requested:
            return PERIOD_S
        return min(max(self._started + self._duration_s - now, 0.0), LONGEST_PAUSE_S)

    def _look(self, now: float) -> None:
        """Called by the workers' thread whenever it has nothing else in hand."""
        if self._is_limited and self._network.quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)
        if self._duration_s is not None:
            self._stop_in_time(now)

    def _stop_in_time(self, now: float) -> None:
        if self._duration_s is None or self._started is None or now < self._started + self._duration_s:
            return
        self._stop.request(StopReason.DURATION)

    def _progress(self, now: float, *, done: bool) -> Progress:
        counters = self._workers.counters() if self._workers else ()
        executors = self._workers.statistics() if self._workers else ()
        found = progress_of(self._plan, counters, self._elapsed(now), done=done, executors=executors)
        return replace(found, draining=self._stop.requested)

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
    checkpoints: Path | None = None,
    rename: Mapping[str, str] | None = None,
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
        checkpoints=checkpoints,
        rename=rename,
    ).execute()
