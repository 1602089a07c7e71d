"""From the logical topology to the physical plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.config import Settings, component_conf, task_count
from framework.errors import TopologyError
from framework.importing import importable
from framework.planning.copying import copies
from framework.planning.cuts import tasks_of_cuts
from framework.planning.layout import make_layout
from framework.planning.placing import is_blocking, make_placement, placement_problems
from framework.planning.plan import Channel, Plan, Subscription, Task
from framework.planning.standstill import standstill_problems
from framework.planning.time_mode import choose_time, time_problems
from framework.topology import GroupingKind, Role, ShellImplementation, Topology
from framework.topology.graph import SYSTEM_PREFIX, edges, feedback_edges


def make_plan(topology: Topology, settings: Settings) -> Plan:
    """Plan a valid topology.

    Raises:
        TopologyError: what only shows when the parts are put together, e.g. spouts of which
            only some declare a timestamp field.
        LoadError: a component's class that cannot be imported.
    """
    confs = {c.id: component_conf(settings, topology, c) for c in topology.components}
    with importable(topology.import_paths):
        for component in topology.components:
            confs[component.id]["viper.blocking"] = is_blocking(topology, settings, confs, component)
        subscriptions = _subscriptions(topology)
    cyclic = {name for s in subscriptions if s.cyclic for name in (s.source, s.target)}
    confs.update(_waiting_for_programs(topology, settings, confs, cyclic))
    problems = time_problems(topology, confs) + placement_problems(topology, settings, confs, cyclic)
    if problems:
        raise TopologyError(problems)
    layout = make_layout(topology)
    counts = {c.id: task_count(c, confs[c.id]) for c in topology.components}
    tasks: list[Task] = []
    for component in sorted(topology.components, key=lambda c: c.id):
        depth = layout.components[component.id].depth
        for index in range(counts[component.id]):
            tasks.append(Task(len(tasks) + 1, component.id, index, component.role, depth))
    with importable(topology.import_paths):
        time = choose_time(topology, confs, sum(counts[spout.id] for spout in topology.spouts))
        if problems := standstill_problems(topology, confs, time):
            raise TopologyError(problems)
        placement = make_placement(topology, settings, confs, tasks, subscriptions)
        cuts = tasks_of_cuts(topology, tasks, subscriptions)
    return Plan(
        topology=topology,
        time=time,
        tasks=tuple(tasks),
        subscriptions=subscriptions,
        channels=_channels(topology, tasks, subscriptions),
        placement=placement,
        layout=layout,
        confs=confs,
        cuts=cuts,
    )


def _waiting_for_programs(
    topology: Topology, settings: Settings, confs: Mapping[str, dict[str, Any]], cyclic: set[str]
) -> dict[str, dict[str, Any]]:
    """The configurations of components that are programs, whose tasks wait for these on threads of their own.

    Where somebody has said otherwise they do not, nor in a cycle, which runs on one thread.
    """
    programs = [c for c in topology.components if isinstance(c.implementation, ShellImplementation)]
    return {
        program.id: {**confs[program.id], "viper.blocking": True}
        for program in programs
        if program.id not in cyclic
        and program.config.get("viper.blocking", settings["viper.blocking"]) is None
    }


def _subscriptions(topology: Topology) -> tuple[Subscription, ...]:
    feedback = feedback_edges(topology)
    targets = _targets(topology)
    return tuple(
        Subscription(
            source=i.source,
            stream=i.stream,
            target=c.id,
            grouping=i.grouping,
            feedback=(i.source, i.stream, c.id) in feedback,
            cyclic=i.source in _downstream(c.id, targets),
            copies=copies(i.grouping),
        )
        for c in topology.components
        for i in c.inputs
        if not i.source.startswith(SYSTEM_PREFIX)
    )


def _targets(topology: Topology) -> Mapping[str, set[str]]:
    targets: dict[str, set[str]] = {component.id: set() for component in topology.components}
    for source, _, target in edges(topology):
        targets[source].add(target)
    return targets


def _downstream(component_id: str, targets: Mapping[str, set[str]]) -> set[str]:
    """The component and all that its tuples can lead to."""
    found = {component_id}
    waiting = [component_id]
    while waiting:
        new = targets[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _channels(
    topology: Topology, tasks: list[Task], subscriptions: tuple[Subscription, ...]
) -> tuple[Channel, ...]:
    channels: list[Channel] = []
    for bolt in sorted(topology.bolts, key=lambda component: component.id):
        readers = tuple(task.id for task in tasks if task.component == bolt.id)
        sources, feedback = (_sources(bolt.id, tasks, subscriptions, back) for back in (False, True))
        # A bolt that only subscribes to the system's ticks follows the spouts' time, and ends with them.
        sources = sources or tuple(task.id for task in tasks if task.role is Role.SPOUT)
        shared = not feedback and _gets_everything(bolt.id, subscriptions)
        groups = [readers] if shared else [(reader,) for reader in readers]
        channels += [Channel(group, sources, feedback) for group in groups]
    return tuple(channels)


def _sources(
    bolt: str, tasks: list[Task], subscriptions: tuple[Subscription, ...], feedback: bool
) -> tuple[int, ...]:
    names = {s.source for s in subscriptions if s.target == bolt and s.feedback == feedback}
    return tuple(task.id for task in tasks if task.component in names)


def _gets_everything(bolt: str, subscriptions: tuple[Subscription, ...]) -> bool:
    """Whether each task of a bolt gets every tuple that any of them gets."""
    return all(s.grouping.kind is GroupingKind.ALL for s in subscriptions if s.target == bolt)
