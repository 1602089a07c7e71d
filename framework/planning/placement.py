"""A placement says which worker runs which task.

A worker has one thread of execution that runs its tasks in turn, or several that share them, and one more for
each of its tasks whose component blocks. The output of a run does not depend on its placement.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from framework.model.config import AUTO_WORKERS, Settings


class WorkerKind(enum.StrEnum):
    """The kinds of workers (``viper.worker``)."""

    INLINE = "inline"
    """The calling thread; there is only one."""
    THREAD = "thread"
    """A thread of the calling process."""
    PROCESS = "process"
    """A process of its own."""


@dataclass(frozen=True, slots=True)
class Executor:
    """One or more threads of execution and the tasks that they run."""

    worker: int
    """Number of its worker, from 1."""
    tasks: tuple[int, ...]
    """Ids, ascending."""
    blocking: bool = False
    """True if the executor serves one task that may block, beside the others of its worker."""
    threads: int = 1
    """The number of its threads: whichever is free runs the next task, and one at a time runs a task."""


@dataclass(frozen=True, slots=True)
class Placement:
    """All executors of a run."""

    kind: WorkerKind
    executors: tuple[Executor, ...]
    """By worker; in each worker those that block come last."""
    standbys: int = 0
    """The number of standby processes, which take the place of processes that die."""

    @property
    def threads(self) -> int:
        """The number of threads of all executors."""
        return sum(executor.threads for executor in self.executors)

    @property
    def processes(self) -> tuple[tuple[int, ...], ...]:
        """The indexes of the executors that share a process, for each process."""
        if self.kind is not WorkerKind.PROCESS:
            return (tuple(range(len(self.executors))),)
        workers = dict.fromkeys(executor.worker for executor in self.executors)
        return tuple(
            tuple(i for i, executor in enumerate(self.executors) if executor.worker == worker)
            for worker in workers
        )

    def executor_of(self, task: int) -> int:
        """The index of the executor that runs a task.

        Raises:
            KeyError: there is no such task.
        """
        for index, executor in enumerate(self.executors):
            if task in executor.tasks:
                return index
        raise KeyError(task)


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that have to be on one worker: a single one, or all those of a cycle."""

    tasks: tuple[int, ...]
    components: tuple[str, ...]
    """Ids of their components, in order of definition."""
    index: int
    """Index of the task within its component; 0 for a cycle."""
    alone: bool
    """True if nothing else may run on its worker."""


class Placer(Protocol):
    """Chooses a worker for each group of tasks."""

    def place(self, groups: Sequence[Group], workers: int) -> Sequence[int]:
        """For each group the number of its worker, from 1 to `workers`."""


class RoundRobin:
    """Group after group to worker after worker, so that each gets its share of every component."""

    def place(self, groups: Sequence[Group], workers: int) -> Sequence[int]:
        """For each group the number of its worker."""
        return [number % workers + 1 for number in range(len(groups))]


class ByComponent:
    """All tasks of a component to one worker, so that only streams between components cross."""

    def place(self, groups: Sequence[Group], workers: int) -> Sequence[int]:
        """For each group the number of its worker."""
        chosen: dict[str, int] = {}
        for group in groups:
            chosen.setdefault(group.components[0], len(chosen) % workers + 1)
        return [chosen[group.components[0]] for group in groups]


class OneOnEach:
    """A task on each worker, for components that can go from one to another; all other groups round-robin.

    Args:
        movable: the ids of these components.
    """

    def __init__(self, movable: frozenset[str]) -> None:
        self._movable = movable

    def place(self, groups: Sequence[Group], workers: int) -> Sequence[int]:
        """For each group the number of its worker."""
        others = [group for group in groups if not self._has(group)]
        placed = iter(RoundRobin().place(others, workers))
        return [group.index % workers + 1 if self._has(group) else next(placed) for group in groups]

    def _has(self, group: Group) -> bool:
        return not self._movable.isdisjoint(group.components)


class AsListed:
    """Places the components that the user has listed as listed, and all others round-robin.

    Args:
        workers: for each component one worker, or those that its tasks take in turn.
    """

    def __init__(self, workers: Mapping[str, int | Sequence[int]]) -> None:
        self._listed = {name: [own] if isinstance(own, int) else list(own) for name, own in workers.items()}

    def place(self, groups: Sequence[Group], workers: int) -> Sequence[int]:
        """For each group the number of its worker."""
        free = iter(RoundRobin().place(groups, workers))
        return [self._worker(group) or next(free) for group in groups]

    def _worker(self, group: Group) -> int | None:
        own = next((self._listed[name] for name in group.components if name in self._listed), None)
        return own[group.index % len(own)] if own else None


BY_COSTS: Final = "costs"
"""The value of ``viper.placement`` that leaves placement to a planner that knows costs."""


def make_placer(configured: str | Mapping[str, Any]) -> Placer:
    """The placer that the value of ``viper.placement`` stands for; round-robin where that asks for costs."""
    if isinstance(configured, Mapping):
        return AsListed(configured)
    return ByComponent() if configured == "component" else RoundRobin()


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def is_auto(settings: Settings) -> bool:
    """True if a run decides by itself what runs where."""
    return bool(settings["topology.workers"] == AUTO_WORKERS)


def workers_of(settings: Settings) -> int:
    """Return the number of workers that share the tasks: as configured, or one for each core."""
    return usable_cores() if is_auto(settings) else int(settings["topology.workers"])
