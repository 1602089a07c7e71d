"""A bound that knows that a producer takes room from its consumer where both are at one place.

The shares of a producer by place are divided into boxes. In a box, a consumer fetches at least what it would
from the nearest shares that the box allows, and has at most the room that the least shares leave. A box in
which the consumer does not get done is closed; others are halved. A period is too short if all are closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framework.costs import Machine
from framework.optimizing.bounds import least_work
from framework.optimizing.fetching import bound_with_fetches, least
from framework.optimizing.problem import Problem
from framework.optimizing.shares import Inflow, Shares

NARROWEST = 1 / 256
"""A box that is no wider than this part of a component is not halved."""


@dataclass(frozen=True, slots=True)
class _Box:
    low: tuple[float, ...]
    high: tuple[float, ...]


def bound_by_boxes(problem: Problem, reached: float, boxes: int = 4_000, steps: int = 5) -> float:
    """Tuples of spouts a second that no deployment exceeds, by the model.

    Args:
        problem: what deployments are of.
        reached: a rate that a deployment has, or nearly; there is no bound below it.
        boxes: how many are looked at for each rate; with more of them the bound is lower.
        steps: rates that are tried.
    """
    highest = bound_with_fetches(problem)
    shares = Shares(problem, least_work(problem))
    flows = [(name, flow) for name, of in shares.inflows.items() for flow in of if flow.source != name]
    if not flows or reached >= highest:
        return highest
    name, flow = max(flows, key=lambda each: each[1].number * max(map(max, each[1].crossing)))
    pair = _Pair(shares, name, flow)
    lowest = reached
    for _ in range(steps):
        middle = (lowest + highest) / 2
        if pair.may_fit(1e9 / middle, boxes):
            lowest = middle
        else:
            highest = middle
    return highest


class _Pair:
    """The producer and the consumer of the flow that costs most to fetch."""

    def __init__(self, shares: Shares, name: str, flow: Inflow) -> None:
        self._shares = shares
        self._name = name
        self._flow = flow
        self._machine = shares.problem.machine
        places = range(len(self._machine.places))
        self._near = [sorted(places, key=[row[to] for row in flow.crossing].__getitem__) for to in places]
        self._is_alike = _looks_alike_from_everywhere(self._machine, flow)

    def may_fit(self, period: float, boxes: int) -> bool:
        """Whether not all boxes could be closed."""
        others = sum(least(self._shares, each, period) for each in self._shares.work if each != self._name)
        budget = period * self._machine.cores - others
        producer = self._shares.work[self._flow.source]
        high = tuple(
            min(1.0, period * of.cores / producer) if producer else 1.0 for of in self._machine.places
        )
        live = [_Box((0.0,) * len(high), high)]
        for _ in range(boxes):
            if not live:
                return False
            box = self._tightened(live.pop())
            if box is None or self._done(box, period, budget) < 1:
                continue
            widths = [high - low for low, high in zip(box.low, box.high, strict=True)]
            widest = widths.index(max(widths))
            if widths[widest] <= NARROWEST:
                return True
            live += _halves(box, widest)
        return bool(live)

    def _tightened(self, box: _Box) -> _Box | None:
        """What of a box adds up to one component; where places are alike, the first has the largest share."""
        low, high = list(box.low), list(box.high)
        if self._is_alike:
            low[0] = max(low)
            high = [min(each, high[0]) for each in high]
        spare, lacking = sum(high) - 1, 1 - sum(low)
        if spare < 0 or lacking < 0 or low[0] > high[0]:
            return None
        pairs = list(zip(low, high, strict=True))
        return _Box(
            tuple(max(one, other - spare) for one, other in pairs),
            tuple(min(other, one + lacking) for one, other in pairs),
        )

    def _done(self, box: _Box, period: float, budget: float) -> float:
        """The part of the consumer that gets done at most."""
        producer = self._shares.work[self._flow.source]
        offers = []
        for place, of in enumerate(self._machine.places):
            cost = self._shares.work[self._name] + self._flow.number * self._nearest(box, place)
            offers.append((cost, period * of.cores - producer * box.low[place]))
        done = 0.0
        for cost, room in sorted(offers):
            taken = min(max(room, 0.0), budget)
            if taken > 0:
                done += taken / cost if cost else 1.0
                budget -= taken
        return done

    def _nearest(self, box: _Box, place: int) -> float:
        """Nanoseconds for a tuple from a producer that is as near as the box allows, on average."""
        left = 1.0 - sum(box.low)
        ns = 0.0
        for at in self._near[place]:
            share = min(left, box.high[at] - box.low[at])
            left -= share
            ns += (box.low[at] + share) * self._flow.crossing[at][place]
        return ns


def _halves(box: _Box, place: int) -> tuple[_Box, _Box]:
    middle = (box.low[place] + box.high[place]) / 2
    return (
        _Box(box.low, _with(box.high, place, middle)),
        _Box(_with(box.low, place, middle), box.high),
    )


def _with(values: Sequence[float], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _looks_alike_from_everywhere(machine: Machine, flow: Inflow) -> bool:
    """Whether each place can take the part of the first one, the others changing theirs, by a known way."""
    count = len(machine.places)
    if len(set(machine.places)) > 1:
        return False
    for shift in range(1, count):
        ways = [
            [place ^ shift for place in range(count)],
            [(place + shift) % count for place in range(count)],
        ]
        if not any(_is_the_same(flow, way) for way in ways):
            return False
    return True


def _is_the_same(flow: Inflow, way: Sequence[int]) -> bool:
    places = range(len(way))
    return max(way) < len(way) and all(
        flow.crossing[way[i]][way[j]] == flow.crossing[i][j] for i in places for j in places
    )
