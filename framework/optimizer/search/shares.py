"""The model by shares: what part of a component runs at each place, rather than where each task does.

All tasks of a component get equal parts, so those of one place cost the same. A plan of any number of tasks
is evaluated in the time that its components and places take. `filled` makes shares for a period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framework.optimizer.costs.model import tuples
from framework.optimizer.costs.shape import Spread
from framework.optimizer.search.problem import Problem

Share = Sequence[float]
"""Of one component, by place; together 1."""


@dataclass(frozen=True, slots=True)
class Inflow:
    """The stream that a component receives from another one, for each tuple of a spout."""

    source: str
    number: float
    """Tuples."""
    crossing: tuple[tuple[float, ...], ...]
    """Nanoseconds of the consumer for each tuple, by place of the producer and by its own."""
    encode_ns: float
    """Of the producer, for each tuple that goes to another place."""
    is_shared: bool = True
    """True if tasks get as much of it as they have of the consumer's work; else the first one gets all."""


@dataclass(frozen=True, slots=True)
class Loads:
    """The loads of a plan."""

    places: tuple[float, ...]
    """Nanoseconds for each tuple of a spout."""
    costs: Mapping[str, tuple[float, ...]]
    """The same of each component if all of it were at a place, by place, given where the others are."""


class Shares:
    """The model.

    Args:
        problem: a topology, its costs and a machine.
        work: nanoseconds of each component for each tuple of a spout, all of its tasks together, without what
            it costs to cross from place to place.
    """

    def __init__(self, problem: Problem, work: Mapping[str, float]) -> None:
        self.problem = problem
        self.work = work
        self.inflows = {name: tuple(_inflows(problem, name)) for name in problem.shape.names}

    def cost(self, name: str, shares: Mapping[str, Share]) -> list[float]:
        """Compute the cost of all of a component at each place, without the costs of its own output.

        Args:
            name: the component's.
            shares: of those that it receives from.
        """
        costs = [self.work[name]] * len(self.problem.machine.places)
        for flow in self.inflows[name]:
            for place, share in enumerate(shares[flow.source]):
                if share:
                    number = share * flow.number
                    for other, ns in enumerate(flow.crossing[place]):
                        costs[other] += number * ns
        return costs

    def loads(self, shares: Mapping[str, Share]) -> Loads:
        """Compute the loads of a plan.

        Args:
            shares: of all components.
        """
        costs = {name: self.cost(name, shares) for name in self.work}
        for name, flows in self.inflows.items():
            for flow in flows:
                if flow.encode_ns:
                    for place, share in enumerate(shares[name]):
                        costs[flow.source][place] += flow.number * flow.encode_ns * (1 - share)
        places = [0.0] * len(self.problem.machine.places)
        for name, of in costs.items():
            for place, share in enumerate(shares[name]):
                places[place] += share * of[place]
        return Loads(tuple(places), {name: tuple(of) for name, of in costs.items()})


def _inflows(problem: Problem, name: str) -> list[Inflow]:
    _, emitted = tuples(problem.shape, problem.profile)
    places = range(len(problem.machine.places))
    found = []
    for flow in problem.shape.into[name]:
        cost = problem.profile.components[flow.source].streams[flow.stream]
        crossing = tuple(
            tuple(0.0 if i == j else problem.machine.fetch(i, j, cost.size) + cost.decode_ns for j in places)
            for i in places
        )
        is_shared = flow.spread is not Spread.ONE or problem.most(flow.target) == 1
        number = emitted[flow.source, flow.stream]
        found.append(Inflow(flow.source, number, crossing, cost.encode_ns, is_shared))
    return found


ROUND = 1e-12


def filled(model: Shares, period: float, first: int, order: tuple[str, ...]) -> dict[str, Share] | None:
    """Shares with which no place has more than its cores can do in a period, or None where it finds none.

    Args:
        model: of the topology.
        period: nanoseconds for each tuple of a spout.
        first: index of the place that is filled first.
        order: of the components, each after those that it receives from.
    """
    machine = model.problem.machine
    room = [place.cores * period for place in machine.places]
    shares: dict[str, Share] = {}
    homes: dict[frozenset[str], int] = {}
    for name in order:
        costs = model.cost(name, shares)
        together = next((names for names in model.problem.together if name in names), None)
        near = sorted(range(len(room)), key=lambda place: (costs[place], (place - first) % len(room)))
        if together is not None:
            near = [homes.setdefault(together, near[0])]
        share = _into(costs, near, room)
        if share is None:
            return None
        shares[name] = share
    return shares


def _into(costs: list[float], near: list[int], room: list[float]) -> list[float] | None:
    share = [0.0] * len(room)
    left = 1.0
    for place in near:
        part = left if costs[place] <= 0 else min(left, max(room[place], 0.0) / costs[place])
        share[place] = part
        room[place] -= part * costs[place]
        left -= part
        if left <= ROUND:
            return share
    return None


def rounded(shares: Mapping[str, Share], counts: Mapping[str, int]) -> dict[str, list[int]]:
    """Round the shares of each component to whole numbers of tasks by place, as near as can be.

    Args:
        shares: of each component.
        counts: how many tasks each has.
    """
    found = {}
    for name, share in shares.items():
        exact = [part * counts[name] for part in share]
        whole = [int(part + ROUND) for part in exact]
        order = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])
        for place in order[: counts[name] - sum(whole)]:
            whole[place] += 1
        found[name] = whole
    return found
