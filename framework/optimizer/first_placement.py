"""The first placement of a run on worker processes: the best plan by the costs that are built in.

It keeps all numbers of tasks. A run that moves bolts by itself begins with it, and so with less to undo than
where tasks are dealt out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from framework.model.topology import DEFAULT_STREAM, PythonImplementation, Role
from framework.optimizer.costs import ComponentCost, Profile
from framework.optimizer.costs.builtin import BOLT, PROGRAM, SPOUT, builtin_cost, step_cost
from framework.optimizer.profiling.shapes import deployment_of, machine_of, rough_shape_of
from framework.optimizer.search import Exact, Local, Problem, TooLarge
from framework.planning import Plan
from framework.planning.connections import cycles

MOST_NODES = 10_000
"""Parts of plans that the exact search may examine before the local one: some tenths of a second."""


def first_placement(plan: Plan, workers: int) -> tuple[Mapping[str, Sequence[int]], int]:
    """Find the workers of all tasks.

    Each worker counts as a core, so the placement is the same on every machine.

    Args:
        plan: with the numbers of tasks, wherever they are.
        workers: how many may be used.

    Returns:
        For each component the workers of its tasks, from 1, by index; and how many workers have any task.
    """
    problem = problem_of(plan, workers)
    names = problem.shape.names
    try:
        found = Exact(MOST_NODES).best(problem)
    except TooLarge:
        found = Local(starts=1).best(problem)
    along = dict.fromkeys(place for name in names for place in found.deployment.tasks[name])
    numbers = {place: number for number, place in enumerate(along, 1)}
    first = {name: [numbers[place] for place in found.deployment.tasks[name]] for name in names}
    places = {name: _with_spare(plan, name, some, workers) for name, some in first.items()}
    return places, len({worker for some in places.values() for worker in some})


def problem_of(plan: Plan, workers: int) -> Problem:
    """The problem of the first placement: the tasks of a plan, built-in costs, and workers of a core each."""
    counts = {name: len(places) for name, places in deployment_of(plan).tasks.items()}
    profile = Profile({component.id: _cost(plan, component.id) for component in plan.topology.components})
    rings = {frozenset(ring) for ring in cycles(plan.subscriptions).values()}
    return Problem(rough_shape_of(plan, counts), profile, machine_of(workers, workers), counts, tuple(rings))


def _with_spare(plan: Plan, name: str, first: Sequence[int], workers: int) -> Sequence[int]:
    """The workers of all tasks of a component, from 1. Tasks that stand by take first those without any."""
    left = [worker for worker in range(1, workers + 1) if worker not in first]
    spare = len(plan.tasks_of(name)) - len(first)
    return (*first, *(left + list(first) * spare)[:spare])


def _cost(plan: Plan, name: str) -> ComponentCost:
    """The built-in costs of a component."""
    component = next(one for one in plan.topology.components if one.id == name)
    streams = {one.stream for one in plan.subscriptions if one.source == name and not one.cyclic}
    typed = [stream.schema is not None for stream in component.outputs or ()]
    if not isinstance(component.implementation, PythonImplementation):
        step = PROGRAM
    elif component.role is Role.SPOUT:
        step = SPOUT
    else:
        step = step_cost(plan.traits[name].kind) if plan.traits[name].is_class_known else BOLT
    is_typed = bool(typed) and all(typed)
    if not typed:  # a sink takes tuples as they come
        inputs = {(one.source, one.stream) for one in plan.subscriptions if one.target == name}
        is_typed = bool(inputs) and all(_is_typed(plan, *one) for one in inputs)
    return builtin_cost(step, sorted(streams), DEFAULT_STREAM, typed=is_typed)


def _is_typed(plan: Plan, source: str, stream: str) -> bool:
    component = next(one for one in plan.topology.components if one.id == source)
    return any(one.name == stream and one.schema is not None for one in component.outputs or ())
