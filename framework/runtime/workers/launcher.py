"""Starts the processes of a run: workers, those that take their places, and those that stand by for it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from framework.common.lifeline import Lifeline
from framework.model.config import Settings
from framework.model.errors import WorkerError
from framework.operators.log import active_limits
from framework.planning import Plan
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import RecordingPaths
from framework.runtime.workers import main as child
from framework.runtime.workers.handle import WorkerHandle
from framework.runtime.workers.messages import Handles, TakePlace, current_levels
from framework.runtime.workers.server import current_server, note_for_server
from framework.runtime.workers.shipping import NO_PLACE, Job, PackedPlan, pack, pack_plan
from framework.runtime.workers.standby import StandbyPool, Started
from framework.runtime.workers.starting import SCARCE, ServerEndedError, environment, make_context, start

log = logging.getLogger("viperstorm.worker")


class Launcher:
    """Starts processes, and packs the job that each of them is sent."""

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        memory: StateMemory | None,
        recording: RecordingPaths,
        checkpoints: Path | None,
    ) -> None:
        """
        Args:
            plan: the whole run.
            settings: the configuration it was planned with.
            network: its channels, in memory that processes can share.
            memory: of declared state, likewise; None where no component declares any.
            recording: the files that the run records to and replays.
            checkpoints: their folder; None where none are made.
        """
        self._plan = plan
        self._settings = settings
        self._network = network
        self._memory = memory
        # Workers may have another working directory.
        self._recording = recording.absolute()
        self._checkpoints = None if checkpoints is None else checkpoints.absolute()
        self._context = make_context()
        self._lifeline = Lifeline()
        note_for_server(checkpoints)
        self.standbys = StandbyPool(plan.placement.standbys, self._started_to_stand_by)

    def close(self) -> None:
        """End the processes that stand by; no other one may be alive any more."""
        self.standbys.close()
        self._lifeline.close()

    def workers(self) -> list[WorkerHandle]:
        """Start the process of each worker.

        Raises:
            TopologyError: a component cannot be made in another process; then none was started.
            WorkerError: a process cannot be started.
        """
        jobs = [self._packed(index) for index in range(len(self._plan.placement.processes))]
        workers: list[WorkerHandle] = []
        try:
            for index, packed in enumerate(jobs):
                workers.append(self._handle(index, self._started(index, packed)))
        except WorkerError:
            for worker in workers:
                worker.leave()
            raise
        return workers

    def successor(self, index: int, before: WorkerHandle) -> WorkerHandle:
        """Have a process take the place of one that died: one that stands by, if there is one.

        Args:
            index: of the worker in the plan's placement.
            before: the process that died.

        Raises:
            WorkerError: no process can be started.
        """
        attempt, has_run = before.attempt + 1, before.has_begun
        found = self.standbys.take(TakePlace(index, attempt, has_run, current_levels(), environment()))
        if found is None:
            found = self._started(index, self._packed(index, attempt, has_run=has_run))
        else:
            log.info("worker %d goes on in process %d, which stood by", index + 1, found[0].pid)
        return self._handle(index, found, before)

    @property
    def main(self) -> Mapping[str, Any]:
        """The parts of the main module that the processes have got from this one, by the name there."""
        return self._packed_plan.main

    @cached_property
    def _packed_plan(self) -> PackedPlan:
        return pack_plan(self._plan, self._settings)

    def _packed(self, index: int, attempt: int = 0, *, has_run: bool = False) -> bytes:
        """The job of a process."""
        job = Job(
            plan=self._plan,
            settings=self._settings,
            network=self._network.offsets,
            state=None if self._memory is None else self._memory.offsets,
            process=index,
            attempt=attempt,
            has_run=has_run,
            recording=self._recording,
            checkpoints=self._checkpoints,
            levels=current_levels(),
            limits=active_limits(),
            environment=environment(),
        )
        return pack(job, self._packed_plan)

    def _started(self, index: int, packed: bytes) -> Started:
        """A process that runs the share of a worker."""
        try:
            return self._start(f"viper-worker-{index + 1}", packed)
        except (OSError, EOFError) as error:
            raise WorkerError(
                f"worker process {index + 1} of {len(self._plan.placement.processes)} cannot be started: "
                f"{error}{_advice(error)}"
            ) from error

    def _started_to_stand_by(self) -> Started:
        try:
            return self._start("viper-standby", self._packed(NO_PLACE))
        except (OSError, EOFError) as error:
            raise WorkerError(f"no process can be started to stand by: {error}") from error

    def _start(self, name: str, packed: bytes) -> Started:
        state = None if self._memory is None else self._memory.arena.handle()
        handles = Handles(self._network.arena.handle(), state)
        needs_main = self._packed_plan.loads_main_module
        return start(self._context, name, child.main, self._lifeline, handles, packed, needs_main)

    def _handle(self, index: int, started: Started, before: WorkerHandle | None = None) -> WorkerHandle:
        box, life = self._network.black_box(index), self._network.life(index)
        server = current_server() if hasattr(os, "pidfd_open") else None  # with which its processes end
        return WorkerHandle(index + 1, self._names(index), *started, box, before, life, server)

    def _names(self, index: int) -> list[str]:
        executors = self._plan.placement.executors
        mine = {task for e in self._plan.placement.processes[index] for task in executors[e].tasks}
        return [f"{task.component}:{task.id}" for task in self._plan.tasks if task.id in mine]


def _advice(error: Exception) -> str:
    """The advice that follows the error."""
    if isinstance(error, ServerEndedError):
        return (
            ": something kills it, such as a system without memory, or it has no room for one process more "
            "(ulimit -u); stderr has its own words, if it had any"
        )
    if isinstance(error, OSError) and error.errno in SCARCE:
        return "; use fewer (topology.workers, viper.isolated)"
    return ""
