"""From tasks and configuration to a placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.config import Settings
from framework.planning.placement import Executor, Group, Placement, WorkerKind, make_placer
from framework.planning.plan import Subscription, Task
from framework.topology import ComponentSpec, Problem, PythonImplementation, Role, Topology, unknown
from framework.traits import class_of, is_ported

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def make_placement(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    tasks: Sequence[Task],
    subscriptions: Sequence[Subscription],
) -> Placement:
    """Place tasks on workers as the configuration says.

    Raises:
        LoadError: a component's class that cannot be imported.
    """
    kind = worker_kind(topology, settings, confs)
    groups = _groups(topology, confs, tasks, subscriptions, apart=kind is WorkerKind.PROCESS)
    workers = _workers(kind, settings, groups)
    blocking = {task.id for task in tasks if confs[task.component]["viper.blocking"]}
    executors: list[Executor] = []
    for worker in sorted(set(workers)):
        mine = sorted(
            t for g, chosen in zip(groups, workers, strict=True) if chosen == worker for t in g.tasks
        )
        turns = tuple(task for task in mine if task not in blocking)
        executors += [Executor(worker, turns)] if turns or kind is WorkerKind.INLINE else []
        executors += [Executor(worker, (task,), blocking=True) for task in mine if task in blocking]
    return Placement(kind, tuple(executors))


def worker_kind(topology: Topology, settings: Settings, confs: Confs) -> WorkerKind:
    """The kind of worker: the one that was chosen, else processes where one thread will not do.

    That is where there shall be several workers, or where a component needs a process of its own.
    """
    chosen = settings["viper.worker"]
    if chosen is not None:
        return WorkerKind(chosen)
    several = settings["topology.workers"] > 1
    apart = any(is_isolated(component, confs[component.id]) for component in topology.components)
    return WorkerKind.PROCESS if several or apart else WorkerKind.INLINE


def is_isolated(component: ComponentSpec, conf: Mapping[str, Any]) -> bool:
    """Whether each task of a component gets a process of its own, as it has on Storm.

    Components of streamparse's count on that, unless they say otherwise; ours do not.
    """
    said = conf["viper.isolated"]
    if said is not None:
        return bool(said)
    return isinstance(component.implementation, PythonImplementation) and is_ported(class_of(component))


def is_blocking(topology: Topology, settings: Settings, confs: Confs, component: ComponentSpec) -> bool:
    """Whether a component's tasks have threads of their own, so that what they emit flows while they wait.

    A spout of streamparse's may wait within `next_tuple`, or never return from it, where Storm takes
    what it emits from a process of its own. Where it has one here it needs no telling.
    """
    said = confs[component.id]["viper.blocking"]
    if said is not None or component.role is not Role.SPOUT:
        return bool(said)
    if worker_kind(topology, settings, confs) is not WorkerKind.PROCESS:
        return False
    held = isinstance(component.implementation, PythonImplementation) and is_ported(class_of(component))
    return held and is_isolated(component, confs[component.id])


def placement_problems(
    topology: Topology, settings: Settings, confs: Confs, cyclic: set[str]
) -> list[Problem]:
    """What is wrong with the placement that the configuration asks for.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's, by id.
        cyclic: ids of the components that are part of a cycle.
    """
    found = [
        Problem(topology.sources.at("components", name), f"component {name!r}: {_CYCLE_BLOCKS}")
        for name in sorted(cyclic)
        if confs[name]["viper.blocking"]
    ]
    said, workers = settings["viper.placement"], settings["topology.workers"]
    if isinstance(said, Mapping):
        place = settings.entries["viper.placement"][-1].place
        for name, numbers in said.items():
            for message in _complaints(name, numbers, workers, confs):
                found.append(Problem(place, f"viper.placement: {message}"))
    return found


_CYCLE_BLOCKS = (
    "viper.blocking is true, but it is part of a cycle: expected false, as a cycle runs on one thread"
)


def _complaints(name: str, numbers: int | Sequence[int], workers: int, confs: Confs) -> list[str]:
    if name not in confs:
        return [unknown("component", name, confs)]
    wrong = [n for n in ([numbers] if isinstance(numbers, int) else numbers) if n > workers]
    return [f"{name} is on worker {n}: expected 1 to {workers} (topology.workers)" for n in wrong]


def _workers(kind: WorkerKind, settings: Settings, groups: Sequence[Group]) -> list[int]:
    """For each group the number of its worker."""
    if kind is WorkerKind.INLINE:
        return [1] * len(groups)
    sharing = [group for group in groups if not group.alone]
    count = min(settings["topology.workers"], len(sharing))
    if isinstance(settings["viper.placement"], Mapping):
        count = settings["topology.workers"]
    shared = iter(make_placer(settings["viper.placement"]).place(sharing, count))
    own = iter(range(count + 1, count + 1 + len(groups)))
    return [next(own) if group.alone else next(shared) for group in groups]


def _groups(
    topology: Topology,
    confs: Confs,
    tasks: Sequence[Task],
    subscriptions: Sequence[Subscription],
    *,
    apart: bool,
) -> list[Group]:
    """The groups of tasks in the direction of the stream, components at one depth as they were defined."""
    order = {component.id: number for number, component in enumerate(topology.components)}
    isolated = {c.id for c in topology.components if apart and is_isolated(c, confs[c.id])}
    rings = _cycles(subscriptions)
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


def _cycles(subscriptions: Sequence[Subscription]) -> dict[str, set[str]]:
    """For each component that is part of a cycle all components that share one with it."""
    rings: dict[str, set[str]] = {}
    for subscription in subscriptions:
        if subscription.cyclic:
            joined = {subscription.source, subscription.target}
            joined = joined.union(*(rings.get(name, set()) for name in joined))
            rings.update(dict.fromkeys(joined, joined))
    return rings
