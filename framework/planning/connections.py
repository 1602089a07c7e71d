"""The connections of a topology's components and tasks: subscriptions, cycles, channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import Grouping, GroupingKind, ObjectDef, Role, Topology
from framework.model.topology.graph import SYSTEM_PREFIX, feedback_edges, rings
from framework.planning.plan import Channel, Subscription, TaskSpec
from framework.planning.time_mode import TimeMode
from framework.planning.traits import Batching, Traits


def make_subscriptions(topology: Topology) -> tuple[Subscription, ...]:
    """The subscriptions of all components to streams of others, in order of definition."""
    feedback = feedback_edges(topology)
    ring_of = rings(topology)
    return tuple(
        Subscription(
            source=i.source,
            stream=i.stream,
            target=c.id,
            grouping=i.grouping,
            feedback=(i.source, i.stream, c.id) in feedback,
            cyclic=ring_of[i.source] == ring_of[c.id],
            copies=copies(i.grouping),
        )
        for c in topology.components
        for i in c.inputs
        if not i.source.startswith(SYSTEM_PREFIX)
    )


def cycles(subscriptions: Sequence[Subscription]) -> Mapping[str, set[str]]:
    """For each component that is part of a cycle all components that share one with it, itself included."""
    found: dict[str, set[str]] = {}
    for subscription in subscriptions:
        if subscription.cyclic:
            joined = {subscription.source, subscription.target}
            joined = joined.union(*(found.get(name, set()) for name in joined))
            found.update(dict.fromkeys(joined, joined))
    return found


def make_channels(
    topology: Topology, tasks: Sequence[TaskSpec], subscriptions: Sequence[Subscription]
) -> tuple[Channel, ...]:
    """The channels that the tasks of bolts read from, by reader."""
    channels: list[Channel] = []
    for bolt in sorted(topology.bolts, key=lambda component: component.id):
        readers = tuple(task.id for task in tasks if task.component == bolt.id)
        sources, feedback = (_sources(bolt.id, tasks, subscriptions, back) for back in (False, True))
        # A bolt that only subscribes to the system's ticks follows the spouts' time, and ends with them.
        sources = sources or tuple(task.id for task in tasks if task.role is Role.SPOUT)
        shared = not feedback and _have_one_input(bolt.id, subscriptions)
        groups = [readers] if shared else [(reader,) for reader in readers]
        read = [s for s in subscriptions if s.target == bolt.id]
        claims = any(s.claimed for s in read) and len(readers) > 1
        by_key = claims and any(s.grouping.kind is GroupingKind.FIELDS for s in read)
        channels += [Channel(group, sources, feedback, claims=claims, by_key=by_key) for group in groups]
    return tuple(channels)


def aligned_sources(
    tasks: Sequence[TaskSpec], subscriptions: Sequence[Subscription]
) -> tuple[tuple[int, ...], ...]:
    """The ids of the tasks of spouts whose tuples meet, group by group.

    They come to one event time for a checkpoint, which says where each of them is, or for a change of the
    tasks that share the keys of a bolt. A spout that nobody reads is a group of its own.
    """
    spouts = {task.component for task in tasks if task.role is Role.SPOUT}
    unread = [task for task in tasks if task.component in spouts - {s.source for s in subscriptions}]
    alone = groupby(unread, lambda task: task.component)
    groups = [part & spouts for part in _parts(subscriptions)]
    return (
        *(tuple(task.id for task in tasks if task.component in group) for group in groups if group),
        *(tuple(task.id for task in of_spout) for _, of_spout in alone),
    )


def emits_outside_input(
    topology: Topology,
    confs: Mapping[str, Mapping[str, Any]],
    traits: Mapping[str, Traits],
    time: TimeMode,
    subscriptions: Sequence[Subscription],
) -> bool:
    """True if any bolt may emit by the wall clock, or when a tuple comes back through a cycle.

    Such output lies after all input that has come, at a position that the sources have not reached yet.
    So whoever merges it with the sources waits for the sources, even if these wait for the ack of that very
    output (``topology.max.spout.pending``).
    """
    if any(subscription.cyclic for subscription in subscriptions):
        return True
    by_clock = time is not TimeMode.EVENT
    return any(
        (by_clock and confs[bolt.id]["topology.tick.tuple.freq.secs"])
        or traits[bolt.id].batching is Batching.TIMER
        for bolt in topology.bolts
    )


def _sources(
    bolt: str, tasks: Sequence[TaskSpec], subscriptions: Sequence[Subscription], feedback: bool
) -> tuple[int, ...]:
    names = {s.source for s in subscriptions if s.target == bolt and s.feedback == feedback}
    return tuple(task.id for task in tasks if task.component in names)


def _have_one_input(bolt: str, subscriptions: Sequence[Subscription]) -> bool:
    """True if each task of a bolt gets every tuple that any of them gets, or may claim it."""
    return all(s.is_shared for s in subscriptions if s.target == bolt)


def _parts(subscriptions: Sequence[Subscription]) -> Sequence[set[str]]:
    """The parts of the topology that have nothing to do with one another."""
    parts: list[set[str]] = []
    for subscription in subscriptions:
        ends = {subscription.source, subscription.target}
        touched = [part for part in parts if part & ends]
        parts = [part for part in parts if not part & ends] + [ends.union(*touched)]
    return sorted(parts, key=min)


def copies(grouping: Grouping) -> bool:
    """True if a grouping may choose more than one task for a tuple.

    If a tuple is copied, the positions of its outputs contain the replica, so that the outputs of its copies
    differ. They then differ with the parallelism of the consumer, which without copies they do not.

    A custom grouping may, unless its class says otherwise by ``copies = False``. The class must be
    importable, if the topology has only its name.
    """
    if grouping.kind is not GroupingKind.CUSTOM:
        return grouping.kind is GroupingKind.ALL
    return grouping.definition is None or _class_copies(grouping.definition)


def _class_copies(definition: ObjectDef) -> bool:
    if definition.factory is not None:  # which may return an object of any class
        return True
    try:
        cls = definition.cls or import_class(definition.class_name)
    except LoadError:  # it is told when the grouping is made
        return True
    return bool(getattr(cls, "copies", True))
