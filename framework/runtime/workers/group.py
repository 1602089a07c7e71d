"""The requests of a run to the workers that do its work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from framework.model.errors import ViperError
from framework.runtime.durability.checkpoints.states import SavedTasks
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.stacks import Stacks
from framework.runtime.observation.statistics import ExecutorStatistics, WorkerReport


class WorkerGroup(Protocol):
    """Does the work of a run, by the executors of this process or by worker processes.

    The phases are called in order; each ends when all have completed it.
    """

    def surroundings(self) -> AbstractContextManager[None]:
        """The context that surrounds all phases."""

    def prepare(self) -> None:
        """Make and initialize all components."""

    def run(self) -> None:
        """Run until every task has ended, or the run is stopped."""

    def saved(self) -> SavedTasks | None:
        """The states that the tasks of a suspended run have saved; None if not all of them have."""

    def close(self, written: int | None = None, *, is_complete: bool = False) -> Sequence[ViperError]:
        """Close all components that were initialized; returns what they raised.

        Args:
            written: the id of the checkpoint that was written before; None for none.
            is_complete: whether the run has come to its end without an error.
        """

    def let_go(self) -> None:
        """Let go of all that the work was done with; to be called behind `surroundings`.

        Nothing refers to it then but what looks at it at this moment, so it is freed at once: a run leaves
        nothing to Python's collector of cycles.
        """

    def reports(self) -> Sequence[WorkerReport]:
        """The report of each process."""

    @property
    def incidents(self) -> Sequence[Incident]:
        """The processes that died and were restarted."""

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """The counters of each process, by task; from any thread."""

    def stacks(self) -> Stacks:
        """Return the stacks of all tasks; any thread may call it."""

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """The statistics of the executors; from any thread."""
