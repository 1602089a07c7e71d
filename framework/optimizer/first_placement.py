"""The first placement of a run on worker processes: the best plan by the costs that are built in.

Each kind of step has its costs. The costs of bolts, functions, batches, crossings and columns are rounded
from word counts and filters on one machine (docs/measurements.md), with user code that does little. Joins,
windows, programs and all selectivities are guessed. Only ratios of costs matter.

All numbers of tasks stay. A run that moves bolts by itself begins with this placement, and so it has less to
undo than where tasks are dealt out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from framework.model.topology import DEFAULT_STREAM, PythonImplementation, Role
from framework.optimizer.costs import ComponentCost, Deployment, Profile, StreamCost
from framework.optimizer.profiling.shapes import deployment_of, machine_of, rough_shape_of
from framework.optimizer.search import Exact, Local, Problem, TooLarge
from framework.planning import Plan
from framework.planning.connections import cycles


@dataclass(frozen=True, slots=True)
class StepCost:
    """The costs of a kind of step."""

    ns: float
    """Nanoseconds for each tuple that it processes; of a spout, that it brings."""
    emit_ns: float = 0.0
    """For each tuple that it emits."""
    selectivity: float = 1.0
    """Tuples that it emits for each one that it processes."""


BOLT: Final = StepCost(120, 60)
SPOUT: Final = StepCost(30, 15)
PROGRAM: Final = StepCost(20_000, 5_000)
SINK: Final = StepCost(15)
_FUNCTION, _BY_KEY, _WINDOW = StepCost(40, 15), StepCost(120, 30), StepCost(200, 100, 0.1)
KINDS: Final[Mapping[str, StepCost]] = {
    "BatchBolt": StepCost(80, 40),
    "BatchingBolt": StepCost(50, 40, 0.1),
    "TicklessBatchingBolt": StepCost(50, 40, 0.1),
    "MergeBolt": StepCost(20, 20),
    **dict.fromkeys(("Step", "FunctionBolt", "Map", "KeyBy", "Peek", "Branch"), _FUNCTION),
    "Filter": StepCost(40, 10, 0.5),
    "FlatMap": StepCost(100, 60, 5.0),
    "Select": StepCost(10, 10),
    **dict.fromkeys(("CountByKey", "Fold", "ReduceByKey", "AggregateByKey"), _BY_KEY),
    **dict.fromkeys(("WindowedBolt", "OPlus", "APlus"), _WINDOW),
    **dict.fromkeys(("WindowStep", "AggregateWindow", "ReduceWindow", "ProcessWindow"), _WINDOW),
    **dict.fromkeys(("JoinBolt", "JPlus"), StepCost(250, 80)),
}
"""By the name of the class of ours that makes a bolt more than a `Bolt`; see `Traits.kind`."""

CROSSING_NS: Final = 20.0
"""To encode a tuple for another process, and likewise to decode it, beside its values."""
VALUE_NS: Final = 15.0
"""For each of its values.

So a word takes 70 ns both ways, and a record of three numbers 130. Measured were 65 to 90, and 125 to 145.
"""
VALUES: Final = 3
"""The number of values in a tuple of a stream of which nobody has declared the fields."""
GAIN: Final = 1.1
"""The least gain for which tasks go to more than one worker, as predictions are no more exact.

Filters of records whose bolt has little to do took 1.3 to 1.7 times as long on two workers.
"""
COLUMNS: Final = 0.05
"""The part of all these costs that a tuple of a typed stream has, as it goes in columns."""
RARE: Final = 0.01
"""Tuples of a stream that is not the default one, for each tuple."""


def step_cost(kind: str) -> StepCost:
    """The costs of a bolt of ours.

    Args:
        kind: as of `Traits.kind`; one that is not known costs as much as a `Bolt`.
    """
    return SINK if kind.endswith("Sink") else KINDS.get(kind, BOLT)


def builtin_cost(step: StepCost, streams: Mapping[str, int], default: str, *, typed: bool) -> ComponentCost:
    """The costs of a component.

    Args:
        step: those of its kind.
        streams: by the names of those that it emits to, the number of values in a tuple.
        default: the name of the default stream. If there is no such one, all are alike.
        typed: whether its streams have types, so that tuples come in columns.
    """
    part = COLUMNS if typed else 1.0

    def stream(name: str, values: int) -> StreamCost:
        often = step.selectivity if name == default or default not in streams else RARE
        ns = (CROSSING_NS + VALUE_NS * values) * part
        return StreamCost(often, ns=step.emit_ns * part, encode_ns=ns, decode_ns=ns)

    return ComponentCost(step.ns * part, {name: stream(name, values) for name, values in streams.items()})


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
    chosen = found.deployment
    alone = Deployment({name: (0,) * len(chosen.tasks[name]) for name in names})
    if found.prediction.rate < GAIN * problem.predicted(alone).rate:
        chosen = alone
    along = dict.fromkeys(place for name in names for place in chosen.tasks[name])
    numbers = {place: number for number, place in enumerate(along, 1)}
    first = {name: [numbers[place] for place in chosen.tasks[name]] for name in names}
    places = {one.id: _with_spare(plan, one.id, first[one.id], workers) for one in plan.declared}
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
    component = plan.topology.component(name)
    streams = {one.stream for one in plan.subscriptions if one.source == name and not one.cyclic}
    typed = [stream.schema is not None for stream in component.outputs or ()]
    if not isinstance(component.implementation, PythonImplementation):
        step = PROGRAM
    elif component.role is Role.SPOUT:
        step = SPOUT
    else:
        step = step_cost(plan.traits[name].kind)
    is_typed = bool(typed) and all(typed)
    if not typed:  # a sink takes tuples as they come
        inputs = {(one.source, one.stream) for one in plan.subscriptions if one.target == name}
        is_typed = bool(inputs) and all(_is_typed(plan, *one) for one in inputs)
    values = {stream: _values(plan, name, stream) for stream in sorted(streams)}
    return builtin_cost(step, values, DEFAULT_STREAM, typed=is_typed)


def _values(plan: Plan, source: str, stream: str) -> int:
    """The number of values in a tuple of a stream."""
    found = plan.topology.component(source).stream(stream)
    return VALUES if found is None or found.fields is None else len(found.fields)


def _is_typed(plan: Plan, source: str, stream: str) -> bool:
    found = plan.topology.component(source).stream(stream)
    return found is not None and found.schema is not None
