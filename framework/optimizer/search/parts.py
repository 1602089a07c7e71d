"""A plan's replicas in parts that are placed together, and what each part costs wherever others stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from framework.optimizer.costs import Deployment, Flow
from framework.optimizer.costs.model import part_of, tuples
from framework.optimizer.search.problem import Problem

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Part:
    """Some tasks of a component, which stand at one place."""

    component: str
    tasks: tuple[int, ...]
    """Their indexes."""
    ns: float
    """For each tuple of a spout, of all of them together, next to all that they receive from."""
    heaviest: float
    """The same of the heaviest task."""
    memory: float = 0.0
    """Bytes of its place's memory, for each tuple of a spout."""


@dataclass(frozen=True, slots=True)
class Way:
    """The tuples from one part to another, for each tuple of a spout."""

    source: int
    target: int
    number: float
    size: float
    encode_ns: float
    decode_ns: float


@dataclass(frozen=True)
class Parts:
    """All parts of a plan in the order of the stream, and the units that are placed as a whole."""

    problem: Problem
    parts: tuple[Part, ...]
    ways: tuple[Way, ...]
    units: tuple[tuple[int, ...], ...]
    """Indexes of parts."""
    at: Mapping[int, tuple[Way, ...]] = field(init=False)
    """The ways from and to each part."""

    def __post_init__(self) -> None:
        at: dict[int, list[Way]] = {index: [] for index in range(len(self.parts))}
        for way in self.ways:
            at[way.source].append(way)
            at[way.target].append(way)
        object.__setattr__(self, "at", {index: tuple(ways) for index, ways in at.items()})

    def deployment(self, places: Sequence[int]) -> Deployment:
        """The plan whose parts stand at these places, by index of the part."""
        found: dict[str, dict[int, int]] = {name: {} for name in self.problem.shape.names}
        for part, place in zip(self.parts, places, strict=True):
            found[part.component].update(dict.fromkeys(part.tasks, place))
        return Deployment({name: tuple(of[i] for i in sorted(of)) for name, of in found.items()})


def parts_of(problem: Problem, counts: Mapping[str, int], ratio: int = 1) -> Parts:
    """Divides a plan's replicas.

    Args:
        problem: what they are of.
        counts: how many each component has.
        ratio: replicas of a part; the last one of a component may have fewer.
    """
    tasks = local_tasks(problem, counts)
    processed, _ = tuples(problem.shape, problem.profile)
    parts = []
    for name in problem.shape.names:
        memory = problem.profile.components[name].memory * processed[name] / counts[name]
        for first in range(0, counts[name], ratio):
            indexes = tuple(range(first, min(first + ratio, counts[name])))
            each = [tasks[name, index] for index in indexes]
            parts.append(Part(name, indexes, sum(each), max(each), memory * len(indexes)))
    return Parts(problem, tuple(parts), tuple(_ways(problem, parts, counts)), _units(problem, parts))


def local_tasks(problem: Problem, counts: Mapping[str, int]) -> Mapping[tuple[str, int], float]:
    """Nanoseconds of each task for each tuple of a spout if nothing had to be fetched from anywhere.

    Args:
        problem: what the tasks are of.
        counts: how many each component has.
    """
    return problem.predicted(Deployment({name: (0,) * counts[name] for name in problem.shape.names})).tasks


def _ways(problem: Problem, parts: Sequence[Part], counts: Mapping[str, int]) -> Iterator[Way]:
    _, emitted = tuples(problem.shape, problem.profile)
    of: dict[str, list[int]] = {name: [] for name in problem.shape.names}
    for index, part in enumerate(parts):
        of[part.component].append(index)
    for flow in problem.shape.flows:
        cost = problem.profile.components[flow.source].streams[flow.stream]
        every = emitted[flow.source, flow.stream]
        for source in of[flow.source]:
            brought = every * len(parts[source].tasks) / counts[flow.source]
            for target in of[flow.target]:
                number = brought * _got(flow, parts[target], counts)
                if number:
                    yield Way(source, target, number, cost.size, cost.encode_ns, cost.decode_ns)


def _got(flow: Flow, part: Part, counts: Mapping[str, int]) -> float:
    return sum(part_of(flow, index, counts[flow.target]) for index in part.tasks)


def _units(problem: Problem, parts: Sequence[Part]) -> tuple[tuple[int, ...], ...]:
    """Components that have to be together are one unit, also where their sets only overlap."""
    merged: list[set[str]] = []
    for names in problem.together:
        touched = [each for each in merged if each & names]
        merged = [each for each in merged if not each & names] + [set(names).union(*touched)]
    units: dict[object, list[int]] = {}
    for index, part in enumerate(parts):
        bound = next((number for number, names in enumerate(merged) if part.component in names), None)
        units.setdefault(("alone", index) if bound is None else ("together", bound), []).append(index)
    return tuple(tuple(unit) for unit in units.values())
