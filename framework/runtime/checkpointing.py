"""The checkpoints of one run: brought about, written, and answered for."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from framework.checkpoints import Checkpoint, CheckpointFolder
from framework.checkpoints.control import answering
from framework.checkpoints.manifest import Alike, Manifest, manifest_of
from framework.config import Settings
from framework.errors import SuspendError
from framework.planning import Plan
from framework.runtime.assembly.network import Network
from framework.runtime.control.alignment import ENDED
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.saved import SavedTasks, TaskReport, Written
from framework.runtime.state import StateMemory, StateSaver

log = logging.getLogger("viperstorm.checkpoint")

_LOOK_S = 0.001
"""Seconds between two looks at how far the sources are."""


class Checkpointing:
    """The checkpoints of one run.

    Args:
        plan: what is run.
        settings: the configuration it was planned with.
        network: where the sources agree.
        memory: what bolts remember; None where none declare any.
        folder: where checkpoints are written; this run holds its lock.
        start: the checkpoint that the run goes on from, if it does.
        stop: ends the run.
        sources: by spout the name of its data.
        lost: how many untracked tuples were lost with worker processes so far.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        memory: StateMemory | None,
        folder: Path,
        *,
        start: Checkpoint | None,
        stop: StopSignal,
        sources: Mapping[str, str],
        lost: Callable[[], int],
    ) -> None:
        assert network.alignment is not None
        self._plan = plan
        self._settings = settings
        self._alignment = network.alignment
        self._bells = network.bells
        self._memory = memory
        self._stop = stop
        self._sources = sources
        self._lost = lost
        self._folder = CheckpointFolder(folder)
        self._folder.prepare()
        before = None if start is None else Manifest.read(start.content).alike
        self._alike = Alike(uuid.uuid4().hex) if before is None else Alike(before.lineage, before.runs + 1)
        self._number = max((0 if start is None else start.id, *self._folder.ids))
        """The id of the checkpoint that was tried last."""
        self._asking = threading.Lock()
        self._asked_s = 0.0
        self._over = threading.Event()
        self._wanted = threading.Event()
        """A checkpoint is asked for before its time, or the run is over."""
        self._reports: dict[int, TaskReport] = {}
        """The last one of each task."""
        self._suspended: Written | None = None
        self.written: Written | None = None
        """The last checkpoint."""
        self.count = 0
        """How many were written."""

    # -- from any thread

    @contextmanager
    def commanded(self) -> Iterator[None]:
        """For as long as the block runs, checkpoints are made at their interval, and other processes may find
        the run by its folder."""
        commands = {
            "suspend": lambda: asdict(self.suspend()),
            "checkpoint": lambda: asdict(self.take()),
            "drain": self._drain,
        }
        period_s = self._settings["viper.checkpoint.secs"]
        with answering(self._folder.path, commands), self._taking_every(period_s):
            try:
                yield
            finally:
                self._over.set()

    def note(self, report: TaskReport) -> None:
        """A task has come to the time of a checkpoint, or to its end."""
        self._reports[report.task] = report

    def want(self) -> None:
        """Something waits for a checkpoint: make one soon, if one can be made."""
        self._wanted.set()

    def suspend(self) -> Written:
        """As `Run.suspend`.

        Raises:
            SuspendError: the run goes on, or ends by itself; the message says what has prevented it.
        """
        with self._asking:
            self._align(to_end=True)
            ending = self._alignment.close()
            if ending:
                raise self._is_ending(ending)
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
        with self._asking:
            try:
                self._align(to_end=False)
                self._alignment.let_pass()
                self._wake()
                saved = self._wait_for_tasks()
                saver = StateSaver(self._memory)
                parts = list(saver.parts())
            finally:
                paused_s = time.monotonic() - self._asked_s
                self._alignment.give_up()
                self._wake()
            written = self._written(saved, saver, parts, self._lost())
            self.written = replace(written, paused_s=paused_s)
            self._alignment.complete(written.id)
            self._wake()
            return self.written

    def _drain(self) -> Mapping[str, Any]:
        self._stop.request(StopReason.INTERRUPTED)
        return {}

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
                    if not (self._stop.requested or self._over.is_set() or self._alignment.has_ended()):
                        log.warning("%s", error)

        thread = threading.Thread(target=take, name="viper-checkpoints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._wanted.set()
            thread.join()

    def _align(self, *, to_end: bool) -> None:
        """Have all sources come to one event time, and wait there."""
        self._refuse_at_end()
        self._asked_s = time.monotonic()
        self._number += 1
        self._alignment.ask(self._number, to_end=to_end)
        self._wake()
        try:
            while laggards := list(self._alignment.laggards()):
                self._wait_for(laggards, "its source may stand still, or be deactivated")
        except SuspendError:
            self._alignment.give_up()
            raise

    def _wait_for_tasks(self) -> SavedTasks:
        """Wait until all tasks have come to that time too, and have reported."""
        attempt = self._alignment.attempt
        while missing := [task.id for task in self._plan.tasks if not self._has_reported(task.id, attempt)]:
            self._wait_for(missing, "it may be in a callback, or wait for room")
        ending = self._alignment.ending()
        if ending:
            raise self._is_ending(ending)
        reports = dict(self._reports)
        saved = {task: report.saved for task, report in reports.items()}
        return SavedTasks(saved, sum(report.lost for report in reports.values()))

    def _has_reported(self, task: int, attempt: int) -> bool:
        report = self._reports.get(task)
        return report is not None and report.attempt in (attempt, ENDED)

    def _wait_for(self, tasks: Sequence[int], hint: str) -> None:
        self._refuse_at_end()
        ending = self._alignment.ending()
        if ending:
            raise self._is_ending(ending)
        if time.monotonic() >= self._asked_s + self._settings["viper.checkpoint.timeout.secs"]:
            raise SuspendError(
                f"no checkpoint: {self._named(tasks)} has not come to the time that others had reached "
                f"(viper.checkpoint.timeout.secs): {hint}; the run goes on"
            )
        time.sleep(_LOOK_S)

    def _refuse_at_end(self) -> None:
        if self._stop.requested or self._over.is_set() or self._alignment.has_ended():
            raise SuspendError("no checkpoint: the run has come to its end, or is about to")

    def _is_ending(self, bolts: Sequence[int]) -> SuspendError:
        return SuspendError(
            f"no checkpoint: {self._named(bolts)} has begun its end, as its spouts have ended, and what it "
            "emitted with its last tick may wait for others; let the run come to its end"
        )

    def _wake(self) -> None:
        for bell in self._bells:
            bell.ring()
        self._stop.wake()

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
        saver = StateSaver(self._memory)
        self._suspended = self.written = self._written(saved, saver, saver.parts(), self._lost())
        return self._suspended.id

    def _written(
        self, saved: SavedTasks, saver: StateSaver, parts: Iterable[tuple[str, bytes]], lost: int
    ) -> Written:
        lost += saved.lost
        if lost:
            raise SuspendError(
                f"{self._where} is not written: {lost:,} tuples were lost with components that raised or "
                "processes that died; go on from the one before"
            )

        def content() -> Mapping[str, Any]:
            known = self._plan, self._settings, self._alike, self._sources, self._times_us(), saved.tasks
            return manifest_of(*known, saver.states).as_object()

        keep = self._settings["viper.checkpoint.keep"]
        try:
            made = self._folder.write(content, parts, keep, above=self._number - 1)
        except OSError as error:
            raise SuspendError(f"{self._where} cannot be written: {error.strerror or error}") from error
        self.count += 1
        return Written(made.id, str(made.path), time.monotonic() - self._asked_s, made.size)

    def _times_us(self) -> Mapping[str, int]:
        agreed = {
            task.component: self._alignment.agreed(task.id)
            for group in self._plan.aligned_sources
            for task in self._plan.tasks
            if task.id in group
        }
        return {spout: time_us for spout, time_us in agreed.items() if time_us is not None}

    @property
    def _where(self) -> str:
        return f"checkpoint {self._number} in {self._folder.path}"
