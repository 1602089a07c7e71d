"""A run goes back to its last checkpoint when a process dies, and nobody else has what was in it.

Values with ``durable="checkpoint"`` live in their process, and are gone with it. Unless the run recovers
exactly, so are tuples in flight: a run that is to be resumed gives up none of them. So all tasks go back to
where everything is known, within the same run: all is made again, as for a run that resumes from that
checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from framework.model.config import Settings
from framework.model.errors import WorkerError
from framework.planning import Plan
from framework.runtime.execution.assembly.network import Network
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import CheckpointStatistics
from framework.runtime.tasks.hosts.faults import RestartBudget

TRIES = 3
"""Restarts within the window, and how often a run goes back to one checkpoint, where the configuration leaves
that open."""


class GoneBackError(WorkerError):
    """A worker process has died, and the run goes back to its last checkpoint; it never leaves the run."""

    def __init__(self, message: str, pause_s: float) -> None:
        super().__init__(message)
        self.pause_s = pause_s
        """Seconds until the run begins again."""


class Attempts:
    """The attempts of a run that goes back to its last checkpoint when a worker process dies.

    Args:
        settings: limit the number of attempts (``viper.worker.restart.tries``).
        gives_up_nothing: whether it goes back for every process whose death loses anything, as a run does
            that is to be resumed; otherwise for those in which values live.
    """

    def __init__(self, settings: Settings, *, gives_up_nothing: bool = False) -> None:
        self.gives_up_nothing = gives_up_nothing
        tries: int | None = settings["viper.worker.restart.tries"]
        self._tries = TRIES if tries is None else tries
        self._window_s: float = settings["viper.worker.restart.window.secs"]
        self._budget = RestartBudget(self._tries, self._window_s)
        self.restarts = RestartBudget(self._tries, self._window_s)
        """For the restarts of single processes, in all attempts together."""
        self.went_back = 0
        """The number of times it has gone back."""
        self.began_s: float | None = None
        """Monotonic time in seconds at which its processes began to run for the first time; None before."""
        self.incidents: list[Incident] = []
        """The deaths of all attempts that are over."""
        self.checkpoints = CheckpointStatistics()
        """Of all attempts that are over."""

    def begin(self, now_s: float) -> None:
        """Note that the processes of an attempt begin to run.

        Args:
            now_s: monotonic time in seconds.
        """
        if self.began_s is None:
            self.began_s = now_s

    def go_back(self) -> float | None:
        """Take one more attempt; return the pause before it in seconds, or None if none is left."""
        return self._budget.take(time.monotonic())

    def written(self) -> None:
        """Note that a checkpoint exists: from now on deaths bring the run no further back."""
        self._budget = RestartBudget(self._tries, self._window_s)

    def end(self, incidents: Iterable[Incident], checkpoints: CheckpointStatistics) -> None:
        """Note that an attempt is over, and that another one begins at a checkpoint.

        Args:
            incidents: its deaths; tuples that were lost with them are processed again.
            checkpoints: those of all attempts so far.
        """
        self.went_back += 1
        self.incidents += [replace(incident, lost=0, again=0, state_lost=()) for incident in incidents]
        self.checkpoints = checkpoints


def living_processes(plan: Plan) -> Iterator[int]:
    """Yield the index of each worker process that holds values of state which last at checkpoints only."""
    components = {
        name
        for name, traits in plan.traits.items()
        if any(spec.durable == "checkpoint" for spec in traits.states)
    }
    tasks = {task.id for task in plan.tasks if task.component in components}
    for index, executors in enumerate(plan.placement.processes):
        if any(task in tasks for number in executors for task in plan.placement.executors[number].tasks):
            yield index


def quota_left(plan: Plan, network: Network) -> int | None:
    """Return the number of tuples that the spouts may still emit after an attempt; None for any number."""
    for process in range(len(plan.placement.processes)):
        network.quota_of(process).bury()
    return network.quota.left
