"""Strategies decide what a topology leaves open: how many tasks there are, and where each of them runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from framework.model.config import Settings, task_count
from framework.model.topology import ComponentSpec, Problem, Role, Topology, unknown
from framework.planning.connections import cycles
from framework.planning.placement import (
    Executor,
    Group,
    OneOnEach,
    Placement,
    RoundRobin,
    WorkerKind,
    is_auto,
    make_placer,
    workers_of,
)
from framework.planning.plan import Subscription, TaskSpec
from framework.planning.traits import Traits

THREADS: Final = "viper.worker.threads"
"""The key that says how many threads of a worker share its tasks."""


@dataclass(frozen=True, slots=True)
class Draft:
    """All that is known of a plan before there are tasks."""

    topology: Topology
    settings: Settings
    confs: Mapping[str, dict[str, Any]]
    """Each component's resolved configuration, by id; ``viper.blocking`` is decided."""
    traits: Mapping[str, Traits]
    """By id of the component."""
    subscriptions: tuple[Subscription, ...]
    movable: frozenset[str] = frozenset()
    """The ids of the bolts that the run moves from worker to worker by itself."""


class Strategy(Protocol):
    """Decides what a topology leaves open. The output of a run does not depend on it.

    The two decisions are stages: tasks are made between them, as the first one says.
    """

    def task_counts(self, draft: Draft) -> Mapping[str, int]:
        """The number of tasks of each component, at least 1, by id."""

    def placement(self, draft: Draft, tasks: Sequence[TaskSpec]) -> Placement:
        """The executors of a run, which have each task once.

        Args:
            draft: the same as before.
            tasks: all tasks, by id.
        """


class AsConfigured:
    """Follows the parallelism, ``topology.workers``, ``viper.worker`` and ``viper.placement`` of the user."""

    def task_counts(self, draft: Draft) -> Mapping[str, int]:
        """The number of tasks of each component, as the user has configured it."""
        return {c.id: task_count(c, draft.confs[c.id]) for c in draft.topology.components}

    def places(self, draft: Draft) -> str | Mapping[str, int | Sequence[int]]:
        """The way to place tasks, as of ``viper.placement``."""
        configured: str | Mapping[str, int | Sequence[int]] = draft.settings["viper.placement"]
        return configured

    def placement(self, draft: Draft, tasks: Sequence[TaskSpec]) -> Placement:
        """Tasks on workers as the user has configured it; those that block have an executor each."""
        kind = worker_kind(draft.settings, draft.traits)
        groups = _groups(draft, tasks, apart=kind is WorkerKind.PROCESS)
        workers = _workers(kind, draft, groups, self.places(draft))
        blocking = {task.id for task in tasks if draft.confs[task.component]["viper.blocking"]}
        executors: list[Executor] = []
        for worker in sorted(set(workers)):
            placed = (g.tasks for g, chosen in zip(groups, workers, strict=True) if chosen == worker)
            mine = sorted(task for group in placed for task in group)
            turns = tuple(task for task in mine if task not in blocking)
            threads = 1 if kind is WorkerKind.INLINE else max(min(draft.settings[THREADS], len(turns)), 1)
            if turns or kind is WorkerKind.INLINE:
                executors.append(Executor(worker, turns, threads=threads))
            executors += [Executor(worker, (task,), blocking=True) for task in mine if task in blocking]
        standbys = draft.settings["viper.standby.workers"] if kind is WorkerKind.PROCESS else 0
        return Placement(kind, tuple(executors), standbys)


class AsDecided(AsConfigured):
    """Follows the configuration, but for what somebody has decided.

    Args:
        counts: numbers of tasks, for any components by id.
        places: the workers that the tasks of each component take in turn; empty to follow the configuration.
    """

    def __init__(self, counts: Mapping[str, int], places: Mapping[str, Sequence[int]]) -> None:
        self._counts, self._places = counts, places

    def task_counts(self, draft: Draft) -> Mapping[str, int]:
        """The number of tasks of each component."""
        return {**super().task_counts(draft), **self._counts}

    def places(self, draft: Draft) -> str | Mapping[str, int | Sequence[int]]:
        """The way to place tasks, as of ``viper.placement``."""
        return self._places or super().places(draft)


def worker_kind(settings: Settings, traits: Mapping[str, Traits]) -> WorkerKind:
    """The kind of worker that was configured, else processes where one thread will not do.

    That is where there shall be several workers, or where a component needs a process of its own. One worker
    whose threads share its tasks has them in this process.
    """
    chosen = settings["viper.worker"]
    if chosen is not None:
        return WorkerKind(chosen)
    several = workers_of(settings) > 1
    if several or any(found.isolated for found in traits.values()):
        return WorkerKind.PROCESS
    return WorkerKind.THREAD if settings[THREADS] > 1 else WorkerKind.INLINE


def configured_blocking(
    component: ComponentSpec, settings: Settings, conf: Mapping[str, Any], traits: Mapping[str, Traits]
) -> bool:
    """True if a component's tasks have threads of their own, so that their output flows while they wait.

    A spout of streamparse's may wait within `next_tuple`, or never return from it, as Storm reads its output
    from a process of its own. If it has a process here, it gets a thread without being asked.
    """
    configured = conf["viper.blocking"]
    if configured is not None or component.role is not Role.SPOUT:
        return bool(configured)
    own = traits[component.id]
    return worker_kind(settings, traits) is WorkerKind.PROCESS and own.ported and own.isolated


def placement_problems(draft: Draft) -> list[Problem]:
    """The problems of the placement that the configuration asks for."""
    topology, settings = draft.topology, draft.settings
    found = [
        Problem(topology.sources.at("components", name), f"component {name!r}: {_CYCLE_BLOCKS}")
        for name in sorted(cycles(draft.subscriptions))
        if draft.confs[name]["viper.blocking"]
    ]
    found += [
        Problem(settings.entries[THREADS][-1].place, f"{THREADS} is {settings[THREADS]}, but {message}")
        for message in _against_threads(draft)
    ]
    for name in settings["viper.tasks"]:
        if name not in draft.confs:
            message = unknown("component", name, draft.confs)
            found.append(Problem(settings.entries["viper.tasks"][-1].place, f"viper.tasks: {message}"))
    configured, workers = settings["viper.placement"], workers_of(settings)
    if isinstance(configured, Mapping):
        place = settings.entries["viper.placement"][-1].place
        for name, numbers in configured.items():
            for message in _complaints(name, numbers, workers, draft.confs):
                found.append(Problem(place, f"viper.placement: {message}"))
    return found


def _against_threads(draft: Draft) -> Iterator[str]:
    """Why the threads of a worker cannot share its tasks; nothing where it has one thread."""
    settings = draft.settings
    if settings[THREADS] == 1 or worker_kind(settings, draft.traits) is WorkerKind.INLINE:
        return
    if is_auto(settings):
        yield (
            "topology.workers is auto, which measures what one thread of each worker does: expected 1, or a "
            "number of workers"
        )
    for name in sorted(cycles(draft.subscriptions)):
        yield f"component {name!r} is part of a cycle, which runs on one thread: expected 1"
    for name, traits in sorted(draft.traits.items()):
        if traits.tables:
            yield (
                f"component {name!r} names shared tables, whose transactions each worker gathers and "
                "evaluates in one thread: expected 1; viper.transactions.threads says how many evaluate"
            )


_CYCLE_BLOCKS = (
    "viper.blocking is true, but it is part of a cycle: expected false, as a cycle runs on one thread"
)


def _complaints(
    name: str, numbers: int | Sequence[int], workers: int, known: Mapping[str, object]
) -> list[str]:
    if name not in known:
        return [unknown("component", name, known)]
    wrong = [n for n in ([numbers] if isinstance(numbers, int) else numbers) if n > workers]
    return [f"{name} is on worker {n}: expected 1 to {workers} (topology.workers)" for n in wrong]


def _workers(
    kind: WorkerKind,
    draft: Draft,
    groups: Sequence[Group],
    places: str | Mapping[str, int | Sequence[int]],
) -> list[int]:
    """For each group the number of its worker."""
    settings = draft.settings
    if kind is WorkerKind.INLINE:
        return [1] * len(groups)
    sharing = [group for group in groups if not group.alone]
    count = min(workers_of(settings), len(sharing))
    if isinstance(places, Mapping):
        count = workers_of(settings)
    placer = make_placer(places)
    if draft.movable and isinstance(placer, RoundRobin):
        placer = OneOnEach(draft.movable)
    shared = iter(placer.place(sharing, count))
    own = iter(range(count + 1, count + 1 + len(groups)))
    return [next(own) if group.alone else next(shared) for group in groups]


def _groups(draft: Draft, tasks: Sequence[TaskSpec], *, apart: bool) -> list[Group]:
    """The groups of tasks in the direction of the stream, components at one depth as they were defined."""
    order = {component.id: number for number, component in enumerate(draft.topology.components)}
    isolated = {name for name, found in draft.traits.items() if apart and found.isolated}
    rings = cycles(draft.subscriptions)
    groups: list[Group] = []
    done: set[str] = set()
    for task in sorted(tasks, key=lambda task: (task.depth, order[task.component], task.index)):
        ring = rings.get(task.component)
        if ring is None:
            groups.append(Group((task.id,), (task.component,), task.index, task.component in isolated))
        elif task.component not in done:
            done |= ring
            members = tuple(other.id for other in tasks if other.component in ring)
            names = tuple(sorted(ring, key=order.__getitem__))
            groups.append(Group(members, names, 0, bool(ring & isolated)))
    return groups
