"""The checkpoints of one run: brought about, written, and answered for."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from framework.model.config import Settings
from framework.model.errors import SuspendError
from framework.planning import Plan
from framework.runtime.coordination.commands import Command, answering
from framework.runtime.coordination.cut_leader import CutInterruptedError, CutLeader
from framework.runtime.coordination.cut_record import ENDED, Purpose
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.durability.checkpoints import Checkpoint, CheckpointFolder
from framework.runtime.durability.checkpoints.going_on import waits_for_nobody
from framework.runtime.durability.checkpoints.manifest import Alike, Manifest, manifest_of
from framework.runtime.durability.checkpoints.states import Saved, SavedTasks, TaskReport, joined
from framework.runtime.durability.state import StateMemory, StateSaver
from framework.runtime.execution.assembly.network import Network
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import CheckpointStatistics, Written

log = logging.getLogger("viperstorm.checkpoint")

_LOOK_S = 0.001
"""Seconds between two looks at how far the sources are."""


class Checkpointing:
    """The checkpoints of one run.

    Args:
        plan: what is run.
        settings: the configuration it was planned with.
        network: where the sources agree.
        leader: has them agree.
        memory: what bolts remember; None where none declare any.
        folder: where checkpoints are written; this run holds its lock.
        start: the checkpoint that the run resumes from, if it does.
        stop: ends the run.
        sources: by spout the name of its data.
        fingerprints: the meaning of what its components remember.
        incidents: the deaths of worker processes so far.
        on_written: called when a checkpoint exists.
        earlier: the checkpoints that the run has written before it went back.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        leader: CutLeader,
        memory: StateMemory | None,
        folder: Path,
        *,
        start: Checkpoint | None,
        stop: StopSignal,
        sources: Mapping[str, str],
        fingerprints: Mapping[str, Any],
        incidents: Callable[[], Sequence[Incident]],
        on_written: Callable[[], None],
        earlier: CheckpointStatistics,
    ) -> None:
        assert network.cut is not None
        self._plan = plan
        self._settings = settings
        self._record = network.cut
        self._leader = leader
        self._memory = memory
        self._stop = stop
        self._sources = sources
        self._fingerprints = fingerprints
        self._incidents = incidents
        self._on_written = on_written
        self._folder = CheckpointFolder(folder)
        self._folder.prepare()
        self._began = "the beginning" if start is None else str(start.path)
        before = None if start is None else Manifest.read(start.content).alike
        self.alike = Alike(uuid.uuid4().hex) if before is None else Alike(before.lineage, before.runs + 1)
        """The run's place in the chain of runs that resume one another."""
        self._number = max((0 if start is None else start.id, *self._folder.ids))
        """The id of the last attempted checkpoint."""
        self._leaves = max((0, *self._folder.ids)) if start is None else 0
        """The last checkpoint of an earlier run that this one does not resume; 0 for none."""
        self._asked_s = 0.0
        self._over = threading.Event()
        self._wanted = threading.Event()
        """Set when a checkpoint is requested before its time, or when the run is over."""
        self._reports: dict[int, TaskReport] = {}
        """The last one of each task for a checkpoint."""
        self._ended: dict[int, TaskReport] = {}
        """The states of tasks that have come to their end."""
        self._suspended: Written | None = None
        self._not_suspended: SuspendError | None = None
        """The reason for which a run that was to be suspended has ended without a checkpoint."""
        self.statistics = earlier
        """The statistics of the checkpoints that were written."""

    # -- from any thread

    @contextmanager
    def commanded(self, commands: Mapping[str, Command]) -> Iterator[None]:
        """For as long as the block runs, checkpoints are made at their interval, and other processes may find
        the run by its folder.

        Args:
            commands: what they may have it do, by name.
        """
        period_s = self._settings["viper.checkpoint.secs"]
        if warning := waits_for_nobody(self._plan, self._settings):
            log.warning("%s", warning)
        if self._leaves:
            log.warning(
                "%s has checkpoints up to %d of an earlier run; this one begins again (--from %s)",
                *(self._folder.path, self._leaves, self._folder.path),
            )
        try:
            with (
                answering(self._folder.path, commands),
                self._taking_every(period_s),
                self._suspending_when_asked(),
            ):
                try:
                    yield
                finally:
                    self._over.set()
        finally:
            with self._leader.turn:  # what another thread writes is on the disk then, or was given up
                pass

    def note(self, report: TaskReport) -> None:
        """Note that a task has been saved for a checkpoint, or has come to its end."""
        (self._ended if report.found.attempt == ENDED else self._reports)[report.task] = report

    def want(self) -> None:
        """Request a checkpoint, which is made soon if one can be made."""
        self._wanted.set()

    def suspend(self) -> Written:
        """As `Run.suspend`.

        Raises:
            SuspendError: the run continues, or ends by itself; the message says what has prevented the
                suspension.
        """
        with self._asking():
            self._close()
            self._stop.request(StopReason.SUSPENDED)
        self._over.wait()
        if self._suspended is None:
            raise SuspendError("the run has failed before its checkpoint was written; it says why")
        return self._suspended

    def take(self) -> Written:
        """As `Run.checkpoint`.

        Raises:
            SuspendError: none was made; the message says what has prevented it.
        """
        with self._asking():
            self._refuse_at_end()
            while True:
                try:
                    return self._taken()
                except CutInterruptedError:  # once more, where others have taken the place of the dead
                    log.debug("checkpoint %d is begun again, as a worker process has died", self._number)
                finally:
                    self._leader.give_up()

    def _taken(self) -> Written:
        """One attempt; a number that sinks may have put rows under is not used again."""
        self._number += 1
        self._begin_folder()
        attempt = self._leader.agree(self._number, self._wait_for)
        self._leader.wait_for_sources(self._wait_for)
        reports = self._wait_for_tasks(attempt)
        written = self._written_from(reports)
        self.statistics = self.statistics.also(written)
        self._on_written()
        self._record.complete(written.id)
        return written

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Nobody else has the sources agree while the block runs."""
        self._asked_s = time.monotonic()
        timeout_s = self._settings["viper.checkpoint.timeout.secs"]
        if not self._leader.turn.acquire(timeout=min(timeout_s, threading.TIMEOUT_MAX)):
            raise SuspendError(
                "no checkpoint: the run has not come to one that was begun before, or to a change of tasks "
                "(viper.checkpoint.timeout.secs); it goes on"
            )
        try:
            yield
        finally:
            self._leader.turn.release()

    @contextmanager
    def _taking_every(self, period_s: float | None) -> Iterator[None]:
        longest_s = min(period_s or threading.TIMEOUT_MAX, threading.TIMEOUT_MAX)

        def take() -> None:
            while self._wanted.wait(longest_s) or not self._over.is_set():
                if self._over.is_set():
                    return
                self._wanted.clear()
                try:
                    self.take()
                except SuspendError as error:
                    if not (self._stop.requested or self._over.is_set() or self._record.has_ended()):
                        log.warning("%s", error)

        thread = threading.Thread(target=take, name="viper-checkpoints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._wanted.set()
            thread.join()

    @contextmanager
    def _suspending_when_asked(self) -> Iterator[None]:
        """While the block runs, a run that is to be resumed is suspended when a signal, or whatever else
        drains other runs, asks it to end."""
        if not self._stop.suspends:
            yield
            return
        with self._stop.heeded(
            lambda: self._stop.wants_suspension, self._suspend_or_give_up, "viper-suspending"
        ):
            try:
                yield
            finally:
                self._over.set()

    def _suspend_or_give_up(self) -> None:
        """Suspend the run; if that cannot be, end it, as the next one resumes from the last checkpoint."""
        try:
            self.suspend()
        except SuspendError as error:
            if not (self._stop.requested or self._over.is_set() or self._record.has_ended()):
                self._not_suspended = error
                self._stop.abort()

    def check_suspension(self) -> None:
        """Refuse to end regularly a run that was to be suspended, and has ended without a checkpoint.

        Raises:
            SuspendError: it has.
        """
        if self._not_suspended is None:
            return
        last = self.statistics.last
        raise SuspendError(
            f"{str(self._not_suspended).removesuffix('; the run goes on')}; it was stopped without one: "
            f"--resume goes on from {self._began if last is None else last.path}"
        )

    def _close(self) -> None:
        """Have all sources come to one event time, and wait there; the run ends there."""
        self._refuse_at_end()
        self._number += 1
        try:
            while True:
                with contextlib.suppress(CutInterruptedError):  # once more, with those that follow the dead
                    self._leader.agree(self._number, self._wait_for, Purpose.SUSPENSION)
                    self._leader.wait_for_sources(self._wait_for)
                    ending = self._leader.close()
                    break
            if ending:
                raise self._is_ending(ending)
        except SuspendError:
            self._leader.give_up()
            raise

    def _wait_for_tasks(self, attempt: int) -> Sequence[TaskReport]:
        """Wait until all tasks have been saved at the cut, or have come to their end before it."""
        while missing := [task.id for task in self._plan.tasks if self._report_of(task.id, attempt) is None]:
            self._leader.check()
            self._wait_for(missing, "it may be in a callback, or wait for room")
        ending = self._record.ending()
        if ending:
            raise self._is_ending(ending)
        found = [self._report_of(task.id, attempt) for task in self._plan.tasks]
        reports = [report for report in found if report is not None]
        for report in reports:
            if report.found.error:
                raise self._cannot_be_written(report.found.error)
        return reports

    def _report_of(self, task: int, attempt: int) -> TaskReport | None:
        report = self._reports.get(task)
        if report is not None and report.found.attempt == attempt:
            return report
        return self._ended.get(task)

    def _wait_for(self, tasks: Sequence[int], hint: str) -> None:
        self._refuse_at_end()
        ending = self._record.ending()
        if ending:
            raise self._is_ending(ending)
        if time.monotonic() >= self._asked_s + self._settings["viper.checkpoint.timeout.secs"]:
            raise SuspendError(
                f"no checkpoint: {self._named(tasks)} has not come to the time that others had reached "
                f"(viper.checkpoint.timeout.secs): {hint}; the run goes on"
            )
        time.sleep(_LOOK_S)

    def _refuse_at_end(self) -> None:
        if self._stop.requested or self._over.is_set() or self._record.has_ended():
            raise SuspendError("no checkpoint: the run has come to its end, or is about to")

    def _is_ending(self, bolts: Sequence[int]) -> SuspendError:
        return SuspendError(
            f"no checkpoint: {self._named(bolts)} has begun its end, as its spouts have ended, and what it "
            "emitted with its last tick may wait for others; let the run come to its end"
        )

    def _named(self, tasks: Sequence[int]) -> str:
        names = {task.id: f"{task.component}:{task.id}" for task in self._plan.tasks}
        return ", ".join(names[task] for task in tasks)

    # -- by the thread that leads the run

    def write(self, saved: SavedTasks | None) -> int:
        """Write the checkpoint of a run that was suspended, and has processed everything; returns its id.

        Args:
            saved: what its tasks have saved; None if not all have.

        Raises:
            SuspendError: something is missing, or it cannot be written.
        """
        if saved is None:
            raise SuspendError(f"{self._where} is not written: the run was ended before all was processed")
        missing = [task.id for task in self._plan.tasks if task.id not in saved.tasks]
        if missing:
            raise SuspendError(
                f"{self._where} is not written: {self._named(missing)} had ended in a worker process that "
                "died, and with it went what it had come to; go on from the checkpoint before"
            )
        saver = StateSaver(self._memory, self._plan.tasks)
        sources = [task for part in self._plan.aligned_sources for task in part]
        times_us = {task: self._record.time_us(task) for task in sources}
        self._suspended = self._written(saved, times_us, saver)
        self.statistics = self.statistics.also(self._suspended)
        return self._suspended.id

    def _written_from(self, reports: Sequence[TaskReport]) -> Written:
        """Have what tasks have written last, and write what those remember that have ended."""
        ended = [self._plan.tasks[report.task - 1] for report in reports if report.found.attempt == ENDED]
        saved = SavedTasks(
            {report.task: report.found.saved for report in reports}, sum(report.lost for report in reports)
        )
        times_us = {task: self._leader.last_us(task) for part in self._plan.aligned_sources for task in part}
        saver, made = StateSaver(self._memory, ended), [report.found.states for report in reports]
        written = self._written(saved, times_us, saver, made)
        return replace(written, paused_s=max(report.found.held_s for report in reports))

    def _written(
        self,
        saved: SavedTasks,
        times_us: Mapping[int, int | None],
        saver: StateSaver,
        made: Sequence[Saved] = (),
    ) -> Written:
        incidents = self._incidents()
        again = sum(incident.again for incident in incidents)
        if again:
            raise SuspendError(
                f"{self._where} is not written: {again:,} tuples may have come twice, as spouts began again "
                "when a process died (viper.recovery: exact has them go on); go on from the one before"
            )
        lost = sum(incident.lost for incident in incidents) + saved.lost
        if lost:
            raise SuspendError(
                f"{self._where} is not written: {lost:,} tuples were lost with components that raised or "
                "processes that died; go on from the one before"
            )

        def content() -> Mapping[str, Any]:
            states = joined([*(state for one in made for state in one.states), *saver.states])
            tables = dict(saver.tables)
            for one in made:
                tables.update(one.tables)
            known = self._plan, self._settings, self.alike, self._sources, self._of_spouts(times_us)
            said = [asdict(state) for state in states], tables, self._fingerprints
            return manifest_of(*known, saved.tasks, *said).as_object()

        keep = self._settings["viper.checkpoint.keep"]
        parts = {name: part for one in made for name, part in one.parts.items()}
        try:
            written = self._folder.write(content, saver.parts(), keep, self._number - 1, parts)
        except OSError as error:
            raise self._cannot_be_written(error.strerror or str(error)) from error
        elapsed_s = time.monotonic() - self._asked_s
        return Written(written.id, str(written.path), elapsed_s, written.size)

    def _begin_folder(self) -> None:
        try:
            self._folder.begin(self._number)
        except OSError as error:
            raise self._cannot_be_written(error.strerror or str(error)) from error

    def _cannot_be_written(self, why: str) -> SuspendError:
        return SuspendError(f"{self._where} cannot be written: {why}")

    def _of_spouts(self, times_us: Mapping[int, int | None]) -> Mapping[str, int]:
        """By spout the event time that it has come to."""
        found = {self._plan.tasks[task - 1].component: time_us for task, time_us in times_us.items()}
        return {spout: time_us for spout, time_us in found.items() if time_us is not None}

    @property
    def _where(self) -> str:
        return f"checkpoint {self._number} in {self._folder.path}"
