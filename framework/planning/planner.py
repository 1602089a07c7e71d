"""From the logical topology to the physical plan."""

from __future__ import annotations

from collections.abc import Mapping

from framework.config import Settings, component_conf, task_count
from framework.errors import TopologyError
from framework.importing import importable
from framework.planning.layout import make_layout
from framework.planning.plan import Channel, Plan, Subscription, Task
from framework.planning.time_mode import choose_time, time_problems
from framework.topology import Role, Topology
from framework.topology.graph import SYSTEM_PREFIX, edges, feedback_edges


def make_plan(topology: Topology, settings: Settings) -> Plan:
    """Plan a valid topology.

    Raises:
        TopologyError: what only shows when the parts are put together, e.g. spouts of which
            only some declare a timestamp field.
        LoadError: a spout's class that cannot be imported.
    """
    confs = {c.id: component_conf(settings, topology, c) for c in topology.components}
    problems = time_problems(topology, confs)
    if problems:
        raise TopologyError(problems)
    layout = make_layout(topology)
    counts = {c.id: task_count(c, confs[c.id]) for c in topology.components}
    tasks: list[Task] = []
    for component in sorted(topology.components, key=lambda c: c.id):
        depth = layout.components[component.id].depth
        for index in range(counts[component.id]):
            tasks.append(Task(len(tasks) + 1, component.id, index, component.role, depth))
    subscriptions = _subscriptions(topology)
    with importable(topology.import_paths):
        time = choose_time(topology, confs, sum(counts[spout.id] for spout in topology.spouts))
    return Plan(topology, time, tuple(tasks), subscriptions, _channels(tasks, subscriptions), layout, confs)


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


def _channels(tasks: list[Task], subscriptions: tuple[Subscription, ...]) -> tuple[Channel, ...]:
    return tuple(_channel(task, tasks, subscriptions) for task in tasks if task.role is Role.BOLT)


def _channel(reader: Task, tasks: list[Task], subscriptions: tuple[Subscription, ...]) -> Channel:
    def sources(feedback: bool) -> tuple[int, ...]:
        names = {s.source for s in subscriptions if s.target == reader.component and s.feedback == feedback}
        return tuple(task.id for task in tasks if task.component in names)

    # A bolt that only subscribes to the system's ticks follows the time of the spouts, and ends with them.
    spouts = tuple(task.id for task in tasks if task.role is Role.SPOUT)
    return Channel(reader.id, sources(False) or spouts, sources(True))
