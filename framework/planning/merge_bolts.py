"""The operator layer: merge-sort bolts come before the tasks whose input gates would merge.

Streams were put into one order that way before communication layers did it. A compiler adds dedicated
operators, as in StreamCloud (Gulisano et al., IEEE TPDS 2012), each of which is a task with an input and an
output of its own. Here they are what the gates are measured against. A bolt with several producing tasks gets
a merge bolt before each of its tasks, which passes the tuples on as they are, at the positions that they
have. So the output is the same with every layer.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from framework.model.config import Settings, component_conf
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    Problem,
    PythonImplementation,
    Role,
    Topology,
    about,
)
from framework.planning.placement import Executor, Placement
from framework.planning.plan import Channel, Plan, TaskSpec
from framework.planning.traits import Traits

KEY = "viper.merge.layer"
"""The key that says which layer puts streams into one order."""
_TICKS = "topology.tick.tuple.freq.secs"
"""Merge bolts get none, whatever the topology says of all its bolts."""


class MergeLayer(enum.StrEnum):
    """The layer that puts the tuples of several tasks into one order (``viper.merge.layer``)."""

    COMMUNICATION = "communication"
    """The gates."""
    OPERATOR = "operator"
    """Merge bolts that call the merge of the gates, which is C."""
    OPERATOR_PYTHON = "operator-python"
    """Merge bolts in plain Python, to which tuples come as they arrive."""


def merge_layer_problems(
    topology: Topology, settings: Settings, scalable: Iterable[str]
) -> Iterator[Problem]:
    """Find the features that merge bolts exclude, as they hold tuples that nobody else has.

    Args:
        topology: a valid topology.
        settings: its configuration.
        scalable: the bolts whose tasks may change.
    """
    layer = settings[KEY]
    if layer == MergeLayer.COMMUNICATION:
        return
    instead = f"expected {KEY}: {MergeLayer.COMMUNICATION}"
    if settings["viper.recovery"] == "exact":
        message = f"viper.recovery is exact, but merge bolts ({KEY}: {layer}) lose what they hold: {instead}"
        yield Problem(settings.entries["viper.recovery"][-1].place, message)
    for name in sorted(scalable):
        message = f"can be scaled while it runs, but its merge bolts ({KEY}: {layer}) cannot: {instead}"
        yield about(topology, topology.component(name), message)


def with_merge_bolts(plan: Plan, settings: Settings) -> Plan:
    """The plan with the merge bolts of the operator layer, if that is configured.

    Bolts in cycles have none: there, no task may wait for room.

    Args:
        plan: without `merge_layer_problems`, and before any task is chained.
        settings: its configuration.
    """
    layer = MergeLayer(settings[KEY])
    if layer is MergeLayer.COMMUNICATION:
        return plan
    for bolt in plan.topology.bolts:
        if _is_merged(plan, bolt):
            plan = _with_merges_of(plan, bolt, settings, arriving=layer is MergeLayer.OPERATOR_PYTHON)
    return replace(plan, tasks=tuple(_deepened(plan)))


def _is_merged(plan: Plan, bolt: ComponentSpec) -> bool:
    subscriptions = [s for s in plan.subscriptions if s.target == bolt.id]
    sources = plan.channel_of(plan.tasks_of(bolt.id)[0].id).sources
    return len(sources) > 1 and bool(subscriptions) and not any(s.cyclic for s in subscriptions)


def _with_merges_of(plan: Plan, bolt: ComponentSpec, settings: Settings, *, arriving: bool) -> Plan:
    merge = _component(plan.topology, bolt.id)
    first = len(plan.tasks) + 1
    merges = {reader.id: first + n for n, reader in enumerate(plan.tasks_of(bolt.id))}
    added = tuple(
        replace(reader, id=merges[reader.id], component=merge.id) for reader in plan.tasks_of(bolt.id)
    )
    return replace(
        plan,
        topology=replace(plan.topology, components=(*plan.topology.components, merge)),
        tasks=plan.tasks + added,
        channels=tuple(_through(plan.channels, merges, arriving=arriving)),
        placement=_beside(plan.placement, merges),
        layout=replace(
            plan.layout,
            components={**plan.layout.components, merge.id: plan.layout.components[bolt.id]},
        ),
        confs={**plan.confs, merge.id: {**component_conf(settings, plan.topology, merge), _TICKS: None}},
        traits={**plan.traits, merge.id: Traits(stateless=True, is_class_known=True)},
        merges={**plan.merges, **merges},
    )


def _component(topology: Topology, bolt: str) -> ComponentSpec:
    known, name = {component.id for component in topology.components}, f"{bolt}.merge"
    while name in known:
        name += "_"
    made = PythonImplementation(ObjectDef("framework.operators.components.merge_bolt.MergeBolt"))
    config = {"viper.stateless": True, "viper.blocking": False}
    return ComponentSpec(name, Role.BOLT, made, config=config)


def _through(channels: Sequence[Channel], merges: Mapping[int, int], *, arriving: bool) -> Iterator[Channel]:
    """The channels, of which those to some readers lead through their merge bolts."""
    for channel in channels:
        if not merges.keys() >= set(channel.readers):
            yield channel
            continue
        between = tuple(merges[reader] for reader in channel.readers)
        yield replace(channel, readers=between, feedback=(), arriving=arriving)
        for reader in channel.readers:
            yield Channel((reader,), (merges[reader],), channel.feedback)


def _beside(placement: Placement, merges: Mapping[int, int]) -> Placement:
    """Each merge bolt on the worker of its reader, and on the same thread unless that one may block."""
    executors = list(placement.executors)
    for reader, merge in merges.items():
        worker = executors[placement.executor_of(reader)].worker
        mine = [number for number, executor in enumerate(executors) if executor.worker == worker]
        turns = next((number for number in mine if not executors[number].blocking), None)
        if turns is None:
            executors.insert(mine[0], Executor(worker, (merge,)))
        else:
            executors[turns] = replace(executors[turns], tasks=(*executors[turns].tasks, merge))
        placement = replace(placement, executors=tuple(executors))
    return placement


def _deepened(plan: Plan) -> Iterator[TaskSpec]:
    """The tasks, with merge bolts between their readers and the tasks before these."""
    merges = set(plan.merges.values())
    for task in plan.tasks:
        yield replace(task, depth=2 * task.depth - (task.id in merges))
