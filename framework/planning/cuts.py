"""Which tasks of spouts stop together, so that a stopped run is a whole part of the replay."""

from __future__ import annotations

from collections.abc import Sequence

from framework.planning.plan import Subscription, Task
from framework.topology import Topology
from framework.traits import is_partitioned


def tasks_of_cuts(
    topology: Topology, tasks: Sequence[Task], subscriptions: Sequence[Subscription]
) -> tuple[tuple[int, ...], ...]:
    """The ids of the tasks that stop at one event time, group by group.

    These are the tasks of partitioned spouts whose tuples meet: where a consumer waits for all of them, none
    is far ahead of the others. A spout without consumers, or in another part of the topology, may be so.
    """
    sources = [spout.id for spout in topology.spouts if is_partitioned(spout)]
    groups = [group & set(sources) for group in _connected(subscriptions)]
    return tuple(tuple(task.id for task in tasks if task.component in group) for group in groups if group)


def _connected(subscriptions: Sequence[Subscription]) -> Sequence[set[str]]:
    """The parts of the topology that have nothing to do with one another."""
    parts: list[set[str]] = []
    for subscription in subscriptions:
        ends = {subscription.source, subscription.target}
        touched = [part for part in parts if part & ends]
        parts = [part for part in parts if not part & ends] + [ends.union(*touched)]
    return sorted(parts, key=min)
