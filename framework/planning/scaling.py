"""Bolts whose number of tasks may change during the run: how many they may have, and which may not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from framework.model.config import Settings
from framework.model.errors import LoadError
from framework.model.topology import ComponentSpec, GroupingKind, Problem, Role, Topology, about
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.model.topology.grouping import DIVIDING
from framework.operators.controllers import make_controller
from framework.planning.connections import cycles, make_subscriptions
from framework.planning.plan import Plan
from framework.planning.routing import TaskSet
from framework.planning.traits import Batching, Traits

MOST = "viper.parallelism.max"
"""The key that says up to how many tasks a bolt can be scaled."""

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def most_tasks(topology: Topology, confs: Confs, counts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the number of tasks of each component, standby tasks included, by id.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        counts: the number of tasks that each begins with, by id.
    """
    return {c.id: confs[c.id][MOST] or counts[c.id] for c in topology.components}


def scalable(confs: Confs, counts: Mapping[str, int]) -> Mapping[str, TaskSet]:
    """The tasks that each component begins with whose tasks may change; arguments as above."""
    return {name: TaskSet.first(count) for name, count in counts.items() if (confs[name][MOST] or 1) > 1}


def scaling_problems(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    traits: Mapping[str, Traits],
    counts: Mapping[str, int],
) -> Iterator[Problem]:
    """Components that are to be scaled while they run, and cannot be.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
        counts: the number of tasks that each begins with, by id.
    """
    for component in topology.components:
        most = confs[component.id][MOST]
        if most is None:
            continue
        reasons = [
            *_too_few(most, counts[component.id]),
            *obstacles(topology, settings, confs, traits, component),
        ]
        if reasons:
            told = "; ".join(reasons)
            message = f"cannot be scaled while it runs, as {MOST}={most} asks for: {told}"
            yield about(topology, component, message)


def obstacles(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    traits: Mapping[str, Traits],
    component: ComponentSpec,
) -> list[str]:
    """Why the tasks of a component cannot change while it runs; arguments as above."""
    reasons = [
        *_unfit(component, confs[component.id], traits[component.id]),
        *_unfit_groupings(component, traits[component.id]),
    ]
    cyclic = cycles(make_subscriptions(topology))
    if traits[component.id].keyed:
        reasons += _unfit_run(topology, confs, is_cyclic=bool(cyclic))
    elif component.id in cyclic:
        reasons.append("it is part of a cycle, which runs on one thread")
    if settings["viper.grouping.hash"] != "stable":
        reasons.append("viper.grouping.hash is storm, which knows no key groups")
    return reasons


def _too_few(most: int, count: int) -> Iterator[str]:
    if most < count:
        yield f"it begins with {count} tasks, expected {MOST} to be no less"


def _unfit(component: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if component.role is Role.SPOUT:
        yield "it is a spout, whose tasks have parts of the input of their own"
        return
    of_tasks = [state.name for state in traits.states if state.per != "key"]
    if of_tasks:
        names = ", ".join(of_tasks)
        yield f"it declares state of its tasks ({names}), which stays with them: expected state by key"
    elif not (traits.states or traits.stateless):
        yield (
            "it declares no state by key, nor that it is stateless: set viper.stateless to true if it "
            "remembers nothing"
        )
    if traits.windowed and not traits.key_windows:
        yield "it has windows of its tasks: expected windows by key (OPlus, APlus)"
    if traits.batching is not Batching.NONE:
        yield "it gathers batches, which are its task's"
    if conf["topology.tick.tuple.freq.secs"]:
        yield "it gets ticks, and each of its tasks would answer them (topology.tick.tuple.freq.secs)"


def _unfit_groupings(component: ComponentSpec, traits: Traits) -> Iterator[str]:
    if traits.derives_keys:
        fit: tuple[GroupingKind, ...] = (GroupingKind.ALL,)
        expected = "all grouping, as its tasks derive the keys"
    elif traits.keyed:
        fit, expected = (GroupingKind.FIELDS,), "fields grouping, as its state is by key"
    else:
        fit, expected = DIVIDING, "shuffle, local-or-shuffle, none or fields grouping"
    for found in component.inputs:
        if found.grouping.kind not in fit and not found.source.startswith(SYSTEM_PREFIX):
            yield f"its input from {found.source!r} has {found.grouping.kind} grouping: expected {expected}"


def _unfit_run(topology: Topology, confs: Confs, *, is_cyclic: bool) -> Iterator[str]:
    """Find the reasons for which the sources cannot agree on a time at which keys change their tasks."""
    if is_cyclic:
        yield "what goes round in a cycle has no place in event time, at which tasks could take over its keys"
    for spout in topology.spouts:
        if confs[spout.id]["viper.blocking"]:
            yield (
                f"its state is handed over at a time, and spout {spout.id!r} says not how far it is while it "
                "blocks: set viper.blocking to false"
            )


CONTROLLER = "viper.controller"
"""The key that names a bolt's controller."""


def controlled(confs: Confs, scalable: Iterable[str]) -> Mapping[str, Any]:
    """Return the configuration of the controller of each bolt that has one.

    Args:
        confs: each component's resolved configuration, by id.
        scalable: the bolts whose number of tasks may change. The configuration of the topology applies to all
            of these.
    """
    return {name: given for name in scalable if (given := confs[name][CONTROLLER]) is not None}


def controller_problems(topology: Topology, confs: Confs, scalable: Collection[str]) -> Iterator[Problem]:
    """Controllers that cannot be made, or would have nothing to do; arguments as above.

    Each is made once here, so that what its class complains of is known before anything starts.
    """
    for component in topology.components:
        is_asked = component.config.get(CONTROLLER) is not None
        if is_asked and component.id not in scalable:
            message = f"has a controller ({CONTROLLER}), but keeps its tasks: set {MOST} to 2 or more"
            yield about(topology, component, message)
    for name, given in controlled(confs, scalable).items():
        try:
            make_controller(given)
        except LoadError as error:
            component = next(each for each in topology.components if each.id == name)
            yield about(topology, component, f"has no controller: {CONTROLLER}: {error}")


def may_be_free(plan: Plan, component: ComponentSpec) -> bool:
    """True if the author of a component may say that its output does not depend on its number of tasks."""
    traits = plan.traits[component.id]
    if component.role is Role.SPOUT or traits.tables or (traits.windowed and not traits.key_windows):
        return False
    return not _groupings_to(plan, component) & {GroupingKind.GLOBAL, GroupingKind.ALL}


def declares_free(plan: Plan, component: ComponentSpec) -> bool:
    """True if a bolt declares that its output cannot depend on its number of tasks: it is stateless, or has
    state by key and nothing else."""
    traits = plan.traits[component.id]
    if not may_be_free(plan, component):
        return False
    of_tasks = any(state.per != "key" for state in traits.states)
    by_key = traits.keyed and not of_tasks and _groupings_to(plan, component) == {GroupingKind.FIELDS}
    return traits.stateless or by_key


def _groupings_to(plan: Plan, component: ComponentSpec) -> set[GroupingKind]:
    return {s.grouping.kind for s in plan.subscriptions if s.target == component.id}
