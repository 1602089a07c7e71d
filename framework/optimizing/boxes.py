"""A bound that knows that a producer takes room from its consumer where both are at one place.

The shares of a producer by place are divided into boxes. In a box, a consumer fetches at least what it would
from the nearest shares that the box allows, and has at most the room that the least shares leave. Where this
does not close the box, planes above what places do tell more, as they know that both go by the same shares.
A box in which the consumer does not get done is closed; others are halved. A period is too short if all are
closed.
"""

from __future__ import annotations

import math
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
        """The part of the consumer that gets done at most, by each of the ways in which a bound is taken."""
        producer = self._shares.work[self._flow.source]
        offers = []
        for place, of in enumerate(self._machine.places):
            cost = self._shares.work[self._name] + self._flow.number * self._nearest(box, place)
            offers.append((cost, period * of.cores - producer * box.low[place]))
        done, left = 0.0, budget
        price = 0.0
        for cost, room in sorted(offers):
            taken = min(max(room, 0.0), left)
            if taken > 0:
                done += taken / cost if cost else 1.0
                left -= taken
                price = 1 / cost if cost else 0.0
        return done if done < 1 or left > 0 else min(done, self._by_planes(box, period, budget, price))

    def _by_planes(self, box: _Box, period: float, budget: float, price: float) -> float:
        """The same, with what each place does bounded by a plane above it, and the shares at their best.

        A place does its room divided by its cost for each part of the consumer. Of these, the room falls with
        the place's own share of the producer, and the cost is linear in the shares of others. Both move
        together within the box, other than the least of each.

        Args:
            box: of shares.
            period: nanoseconds for each tuple of a spout.
            budget: nanoseconds that all places have for the consumer.
            price: what a nanosecond of the budget is worth; any one gives a bound.
        """
        work, producer = self._shares.work[self._name], self._shares.work[self._flow.source]
        every, slopes = price * budget, [0.0] * len(box.low)
        for place, of in enumerate(self._machine.places):
            costs = [
                work + self._flow.number * self._extreme(box, place, order)
                for order in (self._near[place], self._near[place][::-1])
            ]
            if costs[0] <= 0:
                return math.inf
            speeds = [max(0.0, 1 / cost - price) for cost in costs]
            # Speed is convex in cost, so it lies below the line between its values at both ends.
            slope = (speeds[1] - speeds[0]) / (costs[1] - costs[0]) if costs[1] > costs[0] else 0.0
            base = speeds[0] + slope * (work - costs[0])
            rooms = [period * of.cores - producer * each[place] for each in (box.high, box.low)]
            if rooms[1] <= 0:
                continue
            rooms[0] = max(rooms[0], 0.0)
            # McCormick's two planes above a product, and the mean of them.
            room, speed = sum(rooms) / 2, sum(speeds) / 2
            corner = (rooms[1] * speeds[1] + rooms[0] * speeds[0]) / 2
            every += speed * period * of.cores + room * base - corner
            slopes[place] -= speed * producer
            for other, row in enumerate(self._flow.crossing):
                slopes[other] += room * slope * self._flow.number * row[place]
        return every + _most_of(box, slopes)

    def _nearest(self, box: _Box, place: int) -> float:
        """Nanoseconds for a tuple from a producer that is as near as the box allows, on average."""
        return self._extreme(box, place, self._near[place])

    def _extreme(self, box: _Box, place: int, order: Sequence[int]) -> float:
        """The same of one whose places are taken in an order."""
        left = 1.0 - sum(box.low)
        ns = 0.0
        for at in order:
            share = min(left, box.high[at] - box.low[at])
            left -= share
            ns += (box.low[at] + share) * self._flow.crossing[at][place]
        return ns


def _most_of(box: _Box, slopes: Sequence[float]) -> float:
    """The most that a linear function of the shares of a box comes to."""
    left = 1.0 - sum(box.low)
    value = sum(slope * low for slope, low in zip(slopes, box.low, strict=True))
    for place in sorted(range(len(slopes)), key=slopes.__getitem__, reverse=True):
        share = min(left, box.high[place] - box.low[place])
        value += share * slopes[place]
        left -= share
    return value


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
