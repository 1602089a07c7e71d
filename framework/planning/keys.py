"""The keys of declared state: which fields of an input name them, and what leaves a key without one owner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.model.config import Settings
from framework.model.topology import (
    ComponentSpec,
    GroupingKind,
    Input,
    Problem,
    Role,
    Topology,
    about,
    unknown,
)
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.model.topology.grouping import BY_FIELDS
from framework.planning.plan import Subscription
from framework.planning.traits import Traits

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""

_WITH_OWNERS = (GroupingKind.FIELDS, GroupingKind.ALL)
"""The groupings that bring a tuple to the task that owns its key."""
_PER_TASK = 'per="task" for state of the task'


def with_keys(
    topology: Topology, subscriptions: Sequence[Subscription], traits: Mapping[str, Traits]
) -> tuple[Subscription, ...]:
    """Subscriptions with the fields that name the key of their consumer's state.

    Args:
        topology: without `state_problems`.
        subscriptions: of the topology.
        traits: by id.
    """
    return tuple(_with_key(topology, subscription, traits) for subscription in subscriptions)


def _with_key(topology: Topology, subscription: Subscription, traits: Mapping[str, Traits]) -> Subscription:
    found = traits[subscription.target]
    stream = topology.component(subscription.source).stream(subscription.stream)
    if not found.keyed or stream is None:
        return subscription
    if found.derives_keys:
        return subscription
    names = _key_fields(subscription.grouping.kind, subscription.grouping.names, found)
    if not all(name in stream.fields for name in names):
        return subscription
    return replace(subscription, key=tuple(map(stream.fields.index, names)))


def _key_fields(kind: GroupingKind, names: Sequence[str], traits: Traits) -> tuple[str, ...]:
    return tuple(names) if kind in BY_FIELDS else traits.state_key


def group_problems(topology: Topology, settings: Settings, counts: Mapping[str, int]) -> Iterator[Problem]:
    """Bolts that a fields grouping divides among more tasks than there are key groups.

    Args:
        topology: a valid topology.
        settings: its configuration.
        counts: the number of tasks of each component, by id.
    """
    groups = settings["viper.key.groups"]
    for bolt in topology.bolts if settings["viper.grouping.hash"] == "stable" else ():
        if counts[bolt.id] > groups and any(i.grouping.kind is GroupingKind.FIELDS for i in bolt.inputs):
            message = (
                f"has {counts[bolt.id]} tasks and a fields grouping, which divides {groups} key groups among "
                "them: expected no more tasks than groups, or a larger viper.key.groups"
            )
            yield about(topology, bolt, message, part="parallelism")


def state_problems(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    traits: Mapping[str, Traits],
    counts: Mapping[str, int],
) -> Iterator[Problem]:
    """Components that declare state which they cannot have.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
        counts: the number of tasks of each component, by id.
    """
    for component in topology.components:
        found = traits[component.id]
        if found.states:
            names = ", ".join(state.name for state in found.states)
            for complaint in _complaints(component, confs[component.id], found):
                yield about(topology, component, f"declares state ({names}), {complaint}")
        if found.keyed and component.role is Role.BOLT:
            yield from _key_problems(topology, settings, component, found, counts[component.id])


def _complaints(component: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if component.role is Role.SPOUT:
        yield "which bolts can: a spout keeps its place in what it reads by other means"
    elif traits.ported:
        yield "which streamparse's components cannot: derive it from viperstorm.Bolt"
    if conf["viper.stateless"]:
        yield "and viper.stateless is true: remove one of them"


def _key_problems(
    topology: Topology, settings: Settings, bolt: ComponentSpec, traits: Traits, tasks: int
) -> Iterator[Problem]:
    inputs = [(n, i) for n, i in enumerate(bolt.inputs) if not i.source.startswith(SYSTEM_PREFIX)]
    if settings["viper.grouping.hash"] != "stable":
        message = (
            "declares state by key, and viper.grouping.hash is storm: expected stable, as key groups "
            "follow the stable hash"
        )
        yield about(topology, bolt, message)
        return
    for number, found in inputs:
        if traits.derives_keys:
            complaint = _without_all(found, tasks)
        else:
            complaint = _without_owner(found, tasks) or _without_key(topology, found, traits)
        if complaint is not None:
            place = topology.sources.at("components", bolt.id, "inputs", number, "grouping")
            yield Problem(place, f"bolt {bolt.id!r}, input from {found.source!r}: {complaint}")
    if not traits.derives_keys:
        yield from _disagreement(topology, bolt, traits, [found for _, found in inputs])


def _without_all(found: Input, tasks: int) -> str | None:
    if tasks == 1 or found.grouping.kind is GroupingKind.ALL:
        return None
    return (
        f"{found.grouping.kind} grouping over {tasks} tasks, and the bolt makes the keys of tuples itself, "
        "which several tasks may own: expected an all grouping, of which each task takes the keys that it "
        "owns, or parallelism 1"
    )


def _without_owner(found: Input, tasks: int) -> str | None:
    if tasks == 1 or found.grouping.kind in _WITH_OWNERS:
        return None
    return (
        f"{found.grouping.kind} grouping over {tasks} tasks brings the tuples of a key to several of them "
        "or to one that does not own it, and the bolt declares state by key: expected a fields grouping, "
        f"parallelism 1, or {_PER_TASK}"
    )


def _without_key(topology: Topology, found: Input, traits: Traits) -> str | None:
    names = _key_fields(found.grouping.kind, found.grouping.names, traits)
    if not names:
        return (
            f"{found.grouping.kind} grouping names no key, and the bolt declares state by key: expected a "
            f"fields grouping, state_key in the bolt's class, viper.state.key, or {_PER_TASK}"
        )
    source = next((c for c in topology.components if c.id == found.source), None)
    stream = source.stream(found.stream) if source is not None else None
    for name in names:
        if stream is not None and name not in stream.fields:
            return f"the key of its state: {unknown('field', name, stream.fields)}"
    return None


def _disagreement(
    topology: Topology, bolt: ComponentSpec, traits: Traits, inputs: Sequence[Input]
) -> Iterator[Problem]:
    keys = {
        f"{found.source}.{found.stream}": _key_fields(found.grouping.kind, found.grouping.names, traits)
        for found in inputs
    }
    if len({len(names) for names in keys.values() if names}) > 1:
        told = ", ".join(f"{stream} by ({', '.join(names)})" for stream, names in keys.items())
        message = f"declares state by key, and its inputs have keys of different lengths: {told}"
        yield about(topology, bolt, message, part="inputs")
    if traits.state_key and all(found.grouping.kind in BY_FIELDS for found in inputs):
        grouped = {names for names in keys.values() if names != traits.state_key}
        if grouped:
            message = (
                f"has the state key ({', '.join(traits.state_key)}), but its groupings name the key already, "
                f"({', '.join(next(iter(sorted(grouped))))}): remove state_key, or group by its fields"
            )
            yield about(topology, bolt, message, part="inputs")
