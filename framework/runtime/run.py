"""A run from its first task to its report."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from weakref import WeakMethod

from framework.model.config import Settings
from framework.model.errors import SuspendError, ViperError, first_of, with_notes
from framework.model.importing import importable
from framework.model.tracebacks import let_go_of_frames
from framework.planning import Plan, WorkerKind
from framework.runtime.coordination.cut_leader import CutLeader
from framework.runtime.coordination.scale_journal import ScaleJournal
from framework.runtime.coordination.scaling import Asked, Scaling, counts_of
from framework.runtime.coordination.signals import draining_by_signals
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.durability.checkpoints import folder_locked
from framework.runtime.durability.checkpoints.fingerprints import Fingerprints, fingerprints_of
from framework.runtime.durability.checkpoints.going_on import check_checkpoints
from framework.runtime.durability.checkpoints.last_run import (
    LastRun,
    note_begun,
    note_ended,
    resumption,
)
from framework.runtime.durability.checkpoints.targets import with_run
from framework.runtime.durability.state import StateMemory, load_states, save_tables
from framework.runtime.execution.assembly.network import Network, channel_statistics
from framework.runtime.execution.assembly.recording import RecordingPaths, recording_paths
from framework.runtime.leading.beginning import found_beginning
from framework.runtime.leading.checkpointing import Checkpointing
from framework.runtime.leading.commanded import commanded
from framework.runtime.leading.companions import accompanied
from framework.runtime.leading.controlling import Controlling, Counted
from framework.runtime.leading.describing import Describing
from framework.runtime.leading.draining import draining
from framework.runtime.leading.handing_over import cut_leader, handing_over
from framework.runtime.leading.limits import Limits, Watching
from framework.runtime.leading.looking import Moment, snapshot_of
from framework.runtime.leading.measured import measured_tasks
from framework.runtime.leading.rebalancing import Rebalancing
from framework.runtime.observation import RunDescription, RunSnapshot
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    CheckpointStatistics,
    ExecutorStatistics,
    RepeatStatistics,
    RunStatistics,
    Written,
)
from framework.runtime.options import RunOptions
from framework.runtime.report import Progress, RunReport, run_report
from framework.runtime.workers.context import WorkerContext
from framework.runtime.workers.going_back import Attempts, GoneBackError, quota_left
from framework.runtime.workers.group import WorkerGroup
from framework.runtime.workers.worker import Worker

log = logging.getLogger("viperstorm.checkpoint")


P = ParamSpec("P")
T = TypeVar("T")


def weakly(method: Callable[P, T]) -> Callable[P, T]:
    """A method for the parts of its object, which do not keep the object that has them."""
    found = WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = found()
        assert bound is not None, "what has this part is alive"
        return bound(*args, **kwargs)

    return call


class Run:
    """One execution of a plan.

    Args:
        plan: to be run.
        settings: the configuration it was planned with.
        options: all other options of the run.
        stop: asks for a drain from outside.
        on_progress: called about ten times a second from a thread of its own, from when components are made,
            and once at the end from the thread of `execute`. An exception in it ends the run.

    Raises:
        CheckpointError: no checkpoint can be made of this topology, or while it replays a recording. Or the
            run needs a folder for checkpoints and has none: acks wait for checkpoints, or values live in
            their process until one. Or the run cannot be resumed in this way.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        options: RunOptions | None = None,
        *,
        stop: StopSignal | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        options = (options or RunOptions()).checked()
        self._original = self._plan = plan
        """`_original` is the plan as it was passed; `_plan` may hold offsets to resume from."""
        self._options = options
        self._start, self._rename = options.start, dict(options.rename)
        self._has_begun = False
        """True if a run had begun at the same place before; its sinks may have applied rows of this one."""
        self._folder = checkpoints = options.checkpoints
        records, replays = options.record is not None, options.replay is not None
        check_checkpoints(plan, made=checkpoints is not None, records=records, replays=replays)
        self._describing = Describing(plan, settings, checkpoints)
        self._control = None if options.control == checkpoints else options.control
        self._checkpointing: Checkpointing | None = None
        self._settings = settings
        self._stop = stop or StopSignal()
        if options.resume:
            self._stop.suspend_for_ends()
        if options.inactive:
            self._stop.deactivate()
        self._limits = Limits(self._stop, options.duration_s, options.max_tuples)
        self._watching = Watching(self._limits, self._stop, on_progress)
        self._attempts = Attempts(settings, gives_up_nothing=options.resume)
        self._workers: WorkerGroup | None = None
        self._network: Network | None = None
        self._memory: StateMemory | None = None
        self._leader: CutLeader | None = None
        signal, elapsed_s = self._stop, self._limits.elapsed_s
        channels, executors = weakly(self._channels), weakly(self._executors)
        self._journal = ScaleJournal(elapsed_s, channels)
        self._scaling = Scaling(plan, self._journal.note, settings)
        counted = Counted(elapsed_s, channels, executors, lambda: signal.requested)
        self._controlling = Controlling(plan, self._scaling, counted)
        self._rebalancing = Rebalancing(plan, settings, self._scaling, counted, weakly(self.statistics))
        self._make_memory()
        self.report: RunReport | None = None
        """The report of a run that has ended, or has failed after its spouts were activated."""
        self._fingerprints: Fingerprints | None = None
        """The meaning of what its components remember, as it began; None where no checkpoint is made."""
        self._changes: Sequence[str] = ()
        """Differences from the run that has written the checkpoint that it has begun with."""
        self._is_noted = False
        """True if its folder says that it has begun; it may go back before that."""
        self._has_ended = False
        self._sources: Mapping[str, str] = {}
        """The names of the data of its spouts, as they were when it began."""

    def execute(self) -> RunReport:
        """Run to the end.

        Raises:
            ComponentError: user code raised; every other component has been closed.
            WorkerError: a worker process died, and none could take its place.
            RecordingError: nothing can be recorded there, or what shall be replayed does not fit.
            PlaceError: it cannot resume from that report.
            CheckpointError: it cannot resume from that checkpoint, or another run has its checkpoints in the
                same folder.
            SuspendError: it was suspended, but its checkpoint cannot be written.
            KeyboardInterrupt: a second Ctrl-C, or the first while a companion of the spouts is being started.
        """
        try:
            return self._execute()
        except BaseException as error:
            let_go_of_frames(error)
            raise
        finally:
            self._has_ended = True
            self._let_go()

    def _execute(self) -> RunReport:
        with (
            importable(self._plan.topology.import_paths),
            draining_by_signals(self._stop),
            recording_paths(self._plan, self._options.record, self._options.replay) as recording,
            folder_locked(self._folder),
            folder_locked(self._control),
        ):
            if self._options.resume and (ended := self._resume()) is not None:
                return self._nothing_left(ended)
            self._set_out()
            self._journal.record_to(recording.folder)
            self._controlling.repeat(recording.scale_changes)
            with self._accompanied():
                while True:
                    assert self._network is not None
                    agreeing = self._plan, self._settings, self._network, self._leader, self._stop
                    found_by = self._checkpointing, self._control, lambda: self._workers, self
                    try:
                        with (
                            commanded(self._stop, self._scaling, *found_by),
                            handing_over(*agreeing, self._scaling),
                            draining(*agreeing),
                            self._controlling.going_on(),
                            self._rebalancing.going_on(by_itself=self._options.replay is None),
                        ):
                            return self._executed(recording)
                    except GoneBackError as error:
                        pause_s = error.pause_s
                        let_go_of_frames(error)
                    del agreeing, found_by  # whose memory is as large as that of the next attempt
                    self._go_back(pause_s)

    def _make_memory(self) -> None:
        """Make all that tasks share, for an attempt."""
        checkpoints = self._folder is not None
        plan, settings = self._original, self._settings
        self._network = Network.create(plan, settings, self._limits.max_tuples, checkpoints=checkpoints)
        self._memory = StateMemory.create(plan, settings, tracked=checkpoints)
        if self._memory is not None:
            self._memory.own_by(self._network.ownership.now)
        self._scaling.begin(self._network.scales, self._network.wake_all)
        self._leader = cut_leader(plan, self._network, self._stop)

    def _resume(self) -> LastRun | None:
        """Find the checkpoint from which the run resumes; the last run, if that has come to its end."""
        assert self._folder is not None, "it is refused without"
        found = resumption(self._folder, self._plan.topology.name)
        self._start, self._has_begun = found.start, found.has_begun
        if found.start is not None:
            log.info("going on from %s", found.start)
        return found.ended

    def _nothing_left(self, ended: LastRun) -> RunReport:
        """The report of a run that has nothing to do, as an earlier one has done it."""
        log.info(
            "nothing to do: the last run in %s came to the end of its input at %s; without --resume, or in "
            "another folder, a run begins again",
            *(self._folder, ended.ended_at),
        )
        self.report = run_report(self._plan, (), (), StopReason.ENDED_BEFORE, 0.0)
        return self.report

    def _set_out(self) -> None:
        """Find where the run begins, or goes back to, and load what was remembered there."""
        asked = self._original, self._settings, self._start, self._rename
        replays, went_back = self._options.replay is not None, self._attempts.went_back > 0
        if self._fingerprints is None and self._folder is not None:
            self._fingerprints = fingerprints_of(self._original, self._settings)
        fingerprints = self._fingerprints or {}
        again = went_back or self._has_begun
        found = found_beginning(*asked, replays=replays, went_back=again, fingerprints=fingerprints)
        self._plan = found.plan
        load_states(self._memory, found.checkpoint)
        if found.checkpoint is not None:
            self._start = found.checkpoint.path  # whatever comes into its folder later
        if self._folder is not None and self._leader is not None and self._network is not None:
            saved = self._plan, self._settings, self._network, self._leader, self._memory, self._folder
            self._checkpointing = Checkpointing(
                *saved,
                start=found.checkpoint,
                stop=self._stop,
                sources=found.sources,
                fingerprints=fingerprints,
                incidents=lambda: self._workers.incidents if self._workers else (),
                on_written=self._attempts.written,
                earlier=self._attempts.checkpoints,
            )
            self._plan = with_run(self._plan, self._checkpointing.alike)
        if not went_back:
            self._changes = found.changes
        # A recording stands in for the spouts.
        self._sources = found.sources if self._options.replay is None else {}

    @contextlib.contextmanager
    def _accompanied(self) -> Iterator[None]:
        """Run the companions of the spouts during the block, and pass on their configuration."""
        if self._options.replay is not None:
            yield
            return
        with accompanied(self._plan, self._stop) as plan:
            told = {spout.id: plan.confs[spout.id] for spout in plan.topology.spouts}
            self._plan = plan
            self._original = replace(self._original, confs={**self._original.confs, **told})
            yield

    def _go_back(self, pause_s: float) -> None:
        """Begin again so many seconds later: at the last checkpoint of the run, or at its own beginning."""
        assert self._workers is not None and self._checkpointing is not None and self._network is not None
        made = self._checkpointing.statistics
        self._attempts.end(self._workers.incidents, made)
        if made.last is not None:
            self._start, self._rename = Path(made.last.path), {}
        self._limits.go_on_with(quota_left(self._plan, self._network))
        self._let_go()
        self._stop.revive()
        if pause_s and not self._stop.requested:
            self._stop.wait(pause_s)
        self._make_memory()
        self._set_out()
        log.warning("the run has gone back to %s", self._start or "its beginning")

    def _let_go(self) -> None:
        """Release all that the run, or an attempt of it, no longer needs: its threads have ended.

        Objects that refer to each other are taken apart, so that the memory is given back at once. The report
        of the run stays, and so does its description.
        """
        if self._workers is not None:
            self._workers.let_go()
        self._workers = self._checkpointing = self._network = self._memory = self._leader = None
        self._scaling.begin(None)

    def _made_workers(self, context: WorkerContext) -> WorkerGroup:
        """The workers that the plan asks for: executors of this process, or worker processes."""
        if self._plan.placement.kind is not WorkerKind.PROCESS:
            return Worker(context)
        from framework.runtime.workers.supervisor import Supervisor  # a run in this process needs none

        on_death = (lambda: None) if self._leader is None else self._leader.interrupt
        return Supervisor(context, on_death=on_death, attempts=self._attempts)

    def _executed(self, recording: RecordingPaths) -> RunReport:
        network = self._network
        assert network is not None
        checkpointing = self._checkpointing
        context = WorkerContext(
            self._plan,
            self._settings,
            network,
            memory=self._memory,
            stop=self._stop,
            recording=recording,
            on_look=partial(self._limits.check, quota=network.quota),
            on_report=(lambda report: None) if checkpointing is None else checkpointing.note,
            on_want=(lambda: None) if checkpointing is None else checkpointing.want,
            checkpoints=None if self._folder is None else self._folder.absolute(),
        )
        workers = self._workers = self._made_workers(context)
        with workers.surroundings():
            try:
                with self._watching.observing(self._plan, workers):
                    self._lead(workers)
            except ViperError as error:
                if self._limits.has_begun and not isinstance(error, GoneBackError):
                    with contextlib.suppress(ViperError):
                        self.report = self._made_report(workers, time.monotonic())
                raise
            ended = time.monotonic()
            self._watching.tell_end(self._plan, workers, ended)
            self.report = self._made_report(workers, ended)
            save_tables(self._memory)
            if self._folder is not None and self.report.has_ended:
                lost = sum(incident.lost for incident in self.report.incidents)
                note_ended(self._folder, self.report.reason, lost=lost)
            return self.report

    def _made_report(self, workers: WorkerGroup, ended: float) -> RunReport:
        channels, reason = self._channels(), self._stop.reason or StopReason.EXHAUSTED
        told = channels, reason, self._limits.elapsed_s(ended), self._incidents(workers)
        report = run_report(self._plan, workers.reports(), *told)
        statistics = self._statistics(channels, report.statistics.executors)
        return replace(report.of_all(statistics, self._sources, self._memory), changes=self._changes)

    def activate(self) -> None:
        """Have the spouts asked for tuples (again); from any thread."""
        self._stop.activate()

    def deactivate(self) -> None:
        """Have the spouts asked for no more tuples until `activate`; what they have brought is processed."""
        self._stop.deactivate()

    def suspend(self) -> Written:
        """End the run at one event time, so that another one resumes there; any other thread may call it.

        All rows before that time are processed, and none behind it. It is not the end of the input: no
        component hears that it is over, and no last ticks fire.

        Returns:
            The checkpoint, once it is on the disk.

        Raises:
            SuspendError: the run has no folder for checkpoints, has come to its end, or continues, as a
                source has not come to the time of the others (``viper.checkpoint.timeout.secs``).
        """
        return self._makes_checkpoints().suspend()

    def checkpoint(self) -> Written:
        """Make a checkpoint, and continue; any other thread may call it.

        Returns:
            The checkpoint, which is on the disk.

        Raises:
            SuspendError: none was made, as for `suspend`; or a bolt has not come to that time.
        """
        return self._makes_checkpoints().take()

    def _makes_checkpoints(self) -> Checkpointing:
        made = self._checkpointing
        if made is None:
            raise SuspendError(
                "no checkpoint: the run has come to its end"
                if self._has_ended
                else "the run has no folder for checkpoints, or has not begun"
            )
        return made

    def scale(self, tasks: Mapping[str, Asked]) -> Mapping[str, int]:
        """Have components continue with other tasks; any thread may call it, also before the run begins.

        Args:
            tasks: by component how many get tuples (``viper.parallelism.max`` at most), or their indexes.

        Returns:
            The numbers of tasks of all components that can be scaled, by id.

        Raises:
            ScaleError: one cannot be scaled, or not to these; then all stay as they were.
        """
        return counts_of(self._scaling.change(tasks))

    def look(self) -> RunSnapshot:
        """The run as it is now, until it has ended; from any thread, and without asking any task."""
        now, workers = time.monotonic(), self._workers
        counted, executors = (workers.counters(), workers.statistics()) if workers else ((), ())
        seen = counted, executors, self._channels(), self._incidents(workers)
        counts = self._attempts.went_back, self._checkpoints_made.count
        at = Moment.of(now, self._limits, self._stop, self._describing.run, *counts)
        return snapshot_of(self._plan, *seen, parallelism=counts_of(self._scaling.now), at=at)

    def describe(self) -> RunDescription:
        """The description of the run; from any thread."""
        return self._describing.description()

    def statistics(self) -> RunStatistics:
        """The statistics of channels, executors, state, checkpoints and repeats of now; from any thread."""
        if self._has_ended and self.report is not None:
            return self.report.statistics
        return self._statistics(self._channels(), self._executors())

    def _channels(self) -> Sequence[ChannelStatistics]:
        network = self._network
        return channel_statistics(self._plan, network) if network is not None else ()

    def _executors(self) -> Sequence[ExecutorStatistics]:
        workers = self._workers
        return workers.statistics() if workers is not None else ()

    def _statistics(
        self, channels: Sequence[ChannelStatistics], executors: Sequence[ExecutorStatistics]
    ) -> RunStatistics:
        memory, workers = self._memory, self._workers
        counters = workers.counters() if workers is not None else ()
        return RunStatistics(
            *(channels, executors),
            states=() if memory is None else memory.statistics(),
            groups=() if memory is None else memory.hottest(),
            transactions=() if memory is None else memory.shared.statistics(),
            checkpoints=self._checkpoints_made,
            repeats=RepeatStatistics.of(self._incidents(workers), self._attempts.went_back),
            scaled=self._journal.changes,
            tasks=measured_tasks(self._plan, counters, channels),
        )

    @property
    def _checkpoints_made(self) -> CheckpointStatistics:
        made = self._checkpointing
        return self._attempts.checkpoints if made is None else made.statistics

    def _incidents(self, workers: WorkerGroup | None) -> Sequence[Incident]:
        """The deaths so far, those of earlier attempts included."""
        return [*self._attempts.incidents, *(workers.incidents if workers is not None else ())]

    def _lead(self, workers: WorkerGroup) -> None:
        """Take the workers through their phases.

        If a phase fails, errors of the components' `close` on top of that become notes of the first error.
        """
        try:
            workers.prepare()
            if self._folder is not None and not self._is_noted:
                note_begun(self._folder, self._plan.topology.name, self._start)
                self._is_noted = True
            self._limits.begin(time.monotonic())
            workers.run()
            if self._checkpointing is not None:
                self._checkpointing.check_suspension()
            written = self._write_checkpoint(workers)
        except BaseException as error:
            self._stop.abort()
            with_notes(error, workers.close())
            raise
        if failures := workers.close(written, is_complete=True):
            raise first_of(failures)

    def _write_checkpoint(self, workers: WorkerGroup) -> int | None:
        """The id of the checkpoint, if the run was suspended."""
        if self._checkpointing is None or self._stop.reason is not StopReason.SUSPENDED:
            return None
        return self._checkpointing.write(workers.saved())


def run(
    plan: Plan,
    settings: Settings,
    *,
    stop: StopSignal | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> RunReport:
    """Run a plan to its end; `options` are the fields of `RunOptions`, all else and errors as in `Run`."""
    return Run(plan, settings, RunOptions(**options), stop=stop, on_progress=on_progress).execute()
