"""The checkpoints of one run: brought about, written, and answered for."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from framework.checkpoints import Checkpoint, CheckpointFolder
from framework.checkpoints.control import answering
from framework.checkpoints.manifest import Alike, Manifest, manifest_of
from framework.config import Settings
from framework.errors import SuspendError
from framework.planning import Plan
from framework.runtime.assembly.network import Network
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.metrics.saved import SavedTasks, Written
from framework.runtime.state import StateMemory, StateSaver

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
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        memory: StateMemory | None,
        folder: Path,
        start: Checkpoint | None,
        stop: StopSignal,
    ) -> None:
        assert network.alignment is not None
        self._plan = plan
        self._settings = settings
        self._alignment = network.alignment
        self._bells = network.bells
        self._memory = memory
        self._stop = stop
        self._folder = CheckpointFolder(folder)
        self._folder.prepare()
        before = None if start is None else Manifest.read(start.content).alike
        self._alike = Alike(uuid.uuid4().hex) if before is None else Alike(before.lineage, before.runs + 1)
        self._start_id = 0 if start is None else start.id
        self._number = max((self._start_id, *self._folder.ids)) + 1
        self._asking = threading.Lock()
        self._asked_s = 0.0
        self._over = threading.Event()
        self.written: Written | None = None
        """The last checkpoint."""

    # -- from any thread

    @contextmanager
    def commanded(self) -> Iterator[None]:
        """For as long as the block runs, other processes may find the run by its folder, and end it."""
        commands = {"suspend": lambda: asdict(self.suspend()), "drain": self._drain}
        with answering(self._folder.path, commands):
            try:
                yield
            finally:
                self._over.set()

    def _drain(self) -> Mapping[str, Any]:
        self._stop.request(StopReason.INTERRUPTED)
        return {}

    def suspend(self) -> Written:
        """As `Run.suspend`.

        Raises:
            SuspendError: the run goes on, or ends by itself; the message says what has prevented it.
        """
        with self._asking:
            self._refuse_at_end()
            self._asked_s = time.monotonic()
            self._alignment.ask(self._number)
            self._wake()
            try:
                self._wait_for_sources(self._asked_s + self._settings["viper.checkpoint.timeout.secs"])
            except SuspendError:
                self._alignment.give_up()
                raise
            ending = self._alignment.close()
            if ending:
                raise SuspendError(
                    f"not suspended: {self._named(ending)} has begun its end, as its spouts have ended, and "
                    "what it emitted with its last tick may wait for others; let the run come to its end"
                )
            self._stop.request(StopReason.SUSPENDED)
        self._over.wait()
        if self.written is None:
            raise SuspendError("the run has failed before its checkpoint was written; it says why")
        return self.written

    def _refuse_at_end(self) -> None:
        if self._stop.requested or self._over.is_set() or self._alignment.has_ended():
            raise SuspendError("not suspended: the run has come to its end, or is about to")

    def _wait_for_sources(self, deadline_s: float) -> None:
        while laggards := list(self._alignment.laggards()):
            self._refuse_at_end()
            if time.monotonic() >= deadline_s:
                raise SuspendError(
                    f"not suspended: {self._named(laggards)} has not come to the time that the others had "
                    "reached (viper.checkpoint.timeout.secs): its source may stand still, or be deactivated; "
                    "the run goes on"
                )
            time.sleep(_LOOK_S)

    def _wake(self) -> None:
        for bell in self._bells:
            bell.ring()
        self._stop.wake()

    def _named(self, tasks: Sequence[int]) -> str:
        names = {task.id: f"{task.component}:{task.id}" for task in self._plan.tasks}
        return ", ".join(names[task] for task in tasks)

    # -- by the thread that leads the run

    def write(self, saved: SavedTasks | None, lost: int, sources: Mapping[str, str]) -> int:
        """Write the checkpoint of a run that was suspended, and has processed everything; returns its id.

        Args:
            saved: what its tasks have saved; None if not all have.
            lost: untracked tuples that were lost with worker processes.
            sources: by spout the name of its data.

        Raises:
            SuspendError: something is missing, or it cannot be written.
        """
        if saved is None:
            raise SuspendError(f"{self._where} is not written: the run was ended before all was processed")
        if lost + saved.lost:
            raise SuspendError(
                f"{self._where} is not written: {lost + saved.lost:,} tuples were lost with components that "
                "raised or processes that died; go on from the one before"
            )
        saver = StateSaver(self._memory)

        def content() -> Mapping[str, Any]:
            parts = self._plan, self._settings, self._alike, sources, self._times_us(), saved.tasks
            return manifest_of(*parts, saver.states).as_object()

        keep = self._settings["viper.checkpoint.keep"]
        try:
            made = self._folder.write(content, saver.parts(), keep, above=self._start_id)
        except OSError as error:
            raise SuspendError(f"{self._where} cannot be written: {error.strerror or error}") from error
        self.written = Written(made.id, str(made.path), time.monotonic() - self._asked_s, made.size)
        return made.id

    def _times_us(self) -> Mapping[str, int]:
        agreed = {
            task.component: self._alignment.agreed(task.id)
            for group in self._plan.aligned_stops
            for task in self._plan.tasks
            if task.id in group
        }
        return {spout: time_us for spout, time_us in agreed.items() if time_us is not None}

    @property
    def _where(self) -> str:
        return f"checkpoint {self._number} in {self._folder.path}"
