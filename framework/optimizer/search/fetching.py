"""A bound that knows of fetches: no plan can have all of a large component next to what it receives from.

The work that a component can do in a period, wherever its tasks are, is convex in the shares of its
producers. So it is most at a corner of the possible shares: each place that has some has as much as it can
do, but for one. From this follows the least that each component costs at a period, and all together must fit
the cores.
"""

from __future__ import annotations

import math
from itertools import combinations

from framework.optimizer.costs import Machine
from framework.optimizer.search.bounds import bound, least_work
from framework.optimizer.search.problem import Problem
from framework.optimizer.search.shares import Inflow, Share, Shares

STEPS = 40
"""Halvings of the interval in which the least period lies."""
CORNERS = 2_000
"""Combinations of corners for a component. Inputs beyond this count as if nothing of them had to be fetched,
the smallest ones first, which keeps the bound sound."""


def bound_with_fetches(problem: Problem) -> float:
    """Tuples of spouts a second that no deployment exceeds, by the model.

    Args:
        problem: what deployments are of.
    """
    highest = bound(problem)
    if math.isinf(highest):
        return highest
    shares = Shares(problem, least_work(problem))
    low = 1e9 / highest
    if _fits(shares, low):
        return highest
    high = low * 2
    while not _fits(shares, high):
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _fits(shares, middle) else (middle, high)
    return 1e9 / low


def _fits(shares: Shares, period: float) -> bool:
    """True if the least that all components cost at a period is not more than all cores have."""
    every = sum(least(shares, name, period) for name in shares.work)
    return every <= period * shares.problem.machine.cores


def least(shares: Shares, name: str, period: float) -> float:
    """Nanoseconds of one component at least, wherever it and its producers are; infinite if it does not fit.

    Args:
        shares: the model, with the least work of each component.
        name: the component's.
        period: nanoseconds for each tuple of a spout.
    """
    machine = shares.problem.machine
    kinds = {(shares.work[name],) * len(machine.places)}
    number = 1
    for flow in sorted(filter(_is_shared, shares.inflows[name]), key=_most, reverse=True):
        corners = _corners(machine, shares.work[flow.source], period)
        number *= len(corners)
        if number > CORNERS:
            break
        fetches = {_fetches(flow, corner) for corner in corners}
        kinds = {
            tuple(one + other for one, other in zip(costs, more, strict=True))
            for costs in kinds
            for more in fetches
        }
    return min((_packed(costs, period) for costs in _unlike(machine, kinds)), default=math.inf)


def _is_shared(flow: Inflow) -> bool:
    """True if what is fetched goes by shares; of what the first task gets, nothing is known to be fetched."""
    return flow.is_shared


def _most(flow: Inflow) -> float:
    return flow.number * max(map(max, flow.crossing))


def _corners(machine: Machine, work: float, period: float) -> list[Share]:
    """The shares of a producer of which all places but one have as much as they can do, or nothing."""
    most = [min(1.0, period * place.cores / work) if work else 1.0 for place in machine.places]
    found: list[Share] = []
    places = range(len(most))
    for size in range(len(most)):
        for full in combinations(places, size):
            left = 1.0 - sum(most[place] for place in full)
            if left <= 0:
                continue
            for last in places:
                if last not in full and left <= most[last]:
                    share = [most[place] if place in full else 0.0 for place in places]
                    share[last] = left
                    found.append(share)
    return found


def _fetches(flow: Inflow, share: Share) -> tuple[float, ...]:
    """Compute the time that all of a consumer would spend on fetches at each place."""
    places = range(len(share))
    return tuple(flow.number * sum(share[i] * flow.crossing[i][j] for i in places) for j in places)


def _unlike(machine: Machine, kinds: set[tuple[float, ...]]) -> set[tuple[tuple[float, int], ...]]:
    """Costs and cores of places, the cheapest first: their order among places does not matter."""
    return {
        tuple(sorted((round(ns, 6), of.cores) for ns, of in zip(costs, machine.places, strict=True)))
        for costs in kinds
    }


def _packed(costs: tuple[tuple[float, int], ...], period: float) -> float:
    """Nanoseconds of one component that has all places to itself."""
    left, every = 1.0, 0.0
    for cost, cores in costs:
        if not cost:
            return every
        part = min(left, period * cores / cost)
        every += part * cost
        left -= part
        if left <= 0:
            return every
    return math.inf
