"""The shape of a planned topology, for a model of its costs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from framework.model.errors import ViperError
from framework.model.topology import ComponentSpec, GroupingKind, Role
from framework.model.topology.grouping import BY_FIELDS, DIVIDING
from framework.optimizer.costs import Deployment, Flow, Machine, Node, Shape, Spread
from framework.planning import Plan
from framework.planning.plan import Subscription
from framework.planning.scaling import declares_free, may_be_free
from framework.planning.time_mode import TimeMode

_SPREADS = {
    **dict.fromkeys(DIVIDING, Spread.TURNS),
    **dict.fromkeys(BY_FIELDS, Spread.KEYS),
    GroupingKind.ALL: Spread.ALL,
    GroupingKind.GLOBAL: Spread.ONE,
}


class CannotBeModelled(ViperError, ValueError):
    """A topology for which there is no model of costs, and why."""


def shape_of(plan: Plan, most: int) -> Shape:
    """Describe a topology as far as a model has to know it.

    A bolt may get another number of tasks if its output cannot depend on it: if it declares that it is
    stateless, or state by key and nothing else. So may one that has several tasks already, as its author has
    counted on that; but all others, and spouts, keep theirs.

    Args:
        plan: of any number of tasks.
        most: tasks that a component has at most, if it may have others than planned.

    Raises:
        CannotBeModelled: it has a cycle, a grouping of which nobody knows where tuples go, or a component
            with a process of its own.
    """
    if reasons := list(_reasons(plan)):
        raise CannotBeModelled(f"{plan.topology.name}: there is no model of its costs: " + "; ".join(reasons))
    depth = {task.component: task.depth for task in plan.tasks}
    ordered = sorted(plan.topology.components, key=lambda component: depth[component.id])
    fixed = fixed_tasks(plan)
    nodes = tuple(
        Node(c.id, c.role is Role.SPOUT, fixed.get(c.id) or _at_most(most, c, plan)) for c in ordered
    )
    flows = tuple(_flow(plan, subscription) for subscription in plan.subscriptions)
    return Shape(nodes, flows, spouts_take_turns=plan.time is TimeMode.LOGICAL)


def rough_shape_of(plan: Plan, counts: Mapping[str, int]) -> Shape:
    """Describe a topology for which there need not be an exact model, with all numbers of tasks given.

    Streams of a cycle are left out, as its tasks are together. The tuples of direct and custom groupings
    count as if they took turns.

    Args:
        plan: any.
        counts: the tasks of each component, by id.
    """
    depth = {task.component: task.depth for task in plan.tasks}
    ordered = sorted(plan.topology.components, key=lambda component: depth[component.id])
    nodes = tuple(Node(c.id, c.role is Role.SPOUT, counts[c.id]) for c in ordered)
    flows = tuple(_flow(plan, one) for one in plan.subscriptions if not one.cyclic)
    return Shape(nodes, flows, spouts_take_turns=plan.time is TimeMode.LOGICAL)


def fixed_tasks(plan: Plan) -> dict[str, int]:
    """Count the tasks of the components that keep their number, by id."""
    return {c.id: len(plan.tasks_of(c.id)) for c in plan.topology.components if not _is_free(plan, c)}


def deployment_of(plan: Plan) -> Deployment:
    """List the places of tasks, as planned; places are workers, from 0. Tasks that stand by are left out."""
    worker_of = {
        task: executor.worker - 1 for executor in plan.placement.executors for task in executor.tasks
    }
    numbers = {worker: number for number, worker in enumerate(sorted(set(worker_of.values())))}
    return Deployment(
        {
            c.id: tuple(
                numbers[worker_of[task.id]]
                for task in plan.tasks_of(c.id)
                if c.id not in plan.scalable or task.index in plan.scalable[c.id].indexes
            )
            for c in plan.topology.components
        }
    )


def machine_of(workers: int, cores: int | None = None) -> Machine:
    """Workers on this machine, or on so many of its cores."""
    return Machine.of_workers(workers, cores or len(os.sched_getaffinity(0)))


def _reasons(plan: Plan) -> Iterator[str]:
    for name, traits in plan.traits.items():
        if traits.isolated:
            yield f"{name} has a process for each task, which no plan can place: set viper.isolated to false"
    for subscription in plan.subscriptions:
        way = f"{subscription.source} -> {subscription.target}"
        if subscription.cyclic:
            yield f"{way} is part of a cycle"
        elif subscription.grouping.kind not in _SPREADS:
            yield f"{way} has {subscription.grouping.kind} grouping, which may send tuples anywhere"


def _is_free(plan: Plan, component: ComponentSpec) -> bool:
    if not may_be_free(plan, component):
        return False
    return declares_free(plan, component) or len(plan.tasks_of(component.id)) > 1


def _at_most(most: int, component: ComponentSpec, plan: Plan) -> int:
    """Tasks that a component may have: with a fields grouping, no more than there are groups of keys."""
    conf = plan.confs[component.id]
    has_keys = any(given.grouping.kind is GroupingKind.FIELDS for given in component.inputs)
    return (
        min(most, conf["viper.key.groups"]) if has_keys and conf["viper.grouping.hash"] == "stable" else most
    )


def _flow(plan: Plan, subscription: Subscription) -> Flow:
    spread = _SPREADS.get(subscription.grouping.kind, Spread.TURNS)
    turn = plan.confs[subscription.target]["viper.shuffle.run"] if spread is Spread.TURNS else 1
    return Flow(subscription.source, subscription.stream, subscription.target, spread, turn)
