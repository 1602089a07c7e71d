"""A producer and its consumer, of which both take room where they are at one place: what they do in a box.

In a box of the producer's shares, the consumer fetches at least what it would from the nearest shares that
the box allows. It has at most the room that the least shares leave. The producer itself fetches at least what
it would if all that feeds it were at the place that is best for that. If this is not too much, planes above
the work of places give a closer bound, as they know that room and distance both depend on the same shares.
"""

from __future__ import annotations

import math
from functools import cached_property

from framework.optimizer.search.alike import alike
from framework.optimizer.search.box import Box, cheapest
from framework.optimizer.search.fetching import least
from framework.optimizer.search.shares import Inflow, Shares


class Pair:
    """The two components of a flow.

    Args:
        shares: the model, with the least work of each component.
        name: the consumer's.
        flow: what it receives from the producer.
    """

    def __init__(self, shares: Shares, name: str, flow: Inflow) -> None:
        self._shares = shares
        self._machine = machine = shares.problem.machine
        self._own = (name, flow.source)
        self.cores = [of.cores for of in machine.places]
        """By place."""
        self.work, self.producer = shares.work[name], shares.work[flow.source]
        """Nanoseconds of the consumer, and of the producer, for each tuple of a spout, without fetches."""
        places = range(len(machine.places))
        columns = [tuple(flow.number * row[to] for row in flow.crossing) for to in places]
        self.fetches = [(column, cheapest(column)) for column in columns]
        """By place of the consumer: what all of it fetches, by place of the producer, and their order."""
        feeding = [of for of in shares.inflows[flow.source] if of.is_shared]
        scaled = [[tuple(of.number * ns for ns in row) for row in of.crossing] for of in feeding]
        self.feeding = [[(row, cheapest(row)) for row in rows] for rows in scaled]
        """By flow to the producer and by place that it comes from: what all of the producer fetches."""
        self.alike = alike([flow.crossing, *(of.crossing for of in feeding)], machine.places)
        """Places whose shares of the producer can be exchanged."""
        self._left: dict[float, tuple[float, float]] = {}

    def whole(self, period: float) -> Box:
        """The box of all shares that places have time for.

        Args:
            period: nanoseconds for each tuple of a spout.
        """
        high = [min(1.0, period * of / self.producer) if self.producer else 1.0 for of in self.cores]
        return Box((0.0,) * len(high), tuple(high))

    def within(self, box: Box) -> PairInBox:
        """The two with shares of a box."""
        return PairInBox(self, box)

    def budget(self, period: float) -> tuple[float, float]:
        """Nanoseconds that all others leave for the two, and what the producer takes of it at least.

        Args:
            period: nanoseconds for each tuple of a spout.
        """
        if period not in self._left:
            work = self._shares.work
            others = sum(least(self._shares, each, period) for each in work if each not in self._own)
            left = period * self._machine.cores - others
            self._left[period] = left, least(self._shares, self._own[1], period)
        return self._left[period]


class PairInBox:
    """The work that a pair can do with shares of a box.

    Args:
        pair: the two components.
        box: of the producer's shares.
    """

    def __init__(self, pair: Pair, box: Box) -> None:
        self._pair = pair
        self._box = box
        self._nearest = [pair.work + box.in_order(*fetches) for fetches in pair.fetches]
        self._order = cheapest(self._nearest)
        # Linear in the shares of what feeds the producer, so least where that is all at one place.
        self._fetched = sum(min(box.in_order(*fetches) for fetches in rows) for rows in pair.feeding)

    @cached_property
    def _farthest(self) -> list[float]:
        pair, box = self._pair, self._box
        return [pair.work + box.in_order(fetches, order[::-1]) for fetches, order in pair.fetches]

    def is_too_much(self, period: float) -> bool:
        """True if not all can be done in a period; False may mean that nobody knows."""
        budget, done, last = self._in_order(period)
        # With the least that the last nanosecond of the budget brings, word count on 144 cores comes within
        # 4.6 % with 4,000 boxes; with the most that it may bring, within 5.1 % with 40,000.
        price = 0.0 if last is None or not self._farthest[last] else 1 / self._farthest[last]
        return done < 1 or self.by_planes(period, budget, price) < 1

    def is_clearly_too_much(self, period: float) -> bool:
        """The same without planes, in a small part of the time."""
        return self._in_order(period)[1] < 1

    def _in_order(self, period: float) -> tuple[float, float, int | None]:
        """The budget, what the consumer gets done at most, at the cheapest places first, and the place where
        the budget comes to its end; None if it does not."""
        pair, low = self._pair, self._box.low
        left, alone = pair.budget(period)
        budget = left - max(alone, pair.producer + self._fetched)
        done, unused = 0.0, budget
        for place in self._order:
            cost = self._nearest[place]
            taken = min(max(period * pair.cores[place] - pair.producer * low[place], 0.0), unused)
            done += taken / cost if cost else 1.0
            unused -= taken
            if unused <= 0:
                return budget, done, place
        return budget, done, None

    def by_planes(self, period: float, budget: float, price: float) -> float:
        """The part of the consumer that gets done at most, by planes above what places do.

        A place does its room divided by its cost for each part of the consumer. Of these, the room falls with
        the place's own share of the producer, and the cost is linear in the shares of others. Both move
        together within the box, other than the least of each.

        Args:
            period: nanoseconds for each tuple of a spout.
            budget: nanoseconds that all places have for the consumer.
            price: what a nanosecond of the budget is worth; any one that is not negative gives a bound.
        """
        pair, box = self._pair, self._box
        every, slopes = price * budget, [0.0] * len(box.low)
        for place, cores in enumerate(pair.cores):
            near, far = self._nearest[place], self._farthest[place]
            if near <= 0:
                return math.inf
            most, least_room = (period * cores - pair.producer * of[place] for of in (box.low, box.high))
            if most <= 0:
                continue
            fast, slow = max(0.0, 1 / near - price), max(0.0, 1 / far - price)
            # Speed is convex in cost, so it lies below the line between its values at both ends.
            slope = (slow - fast) / (far - near) if far > near else 0.0
            base = fast + slope * (pair.work - near)
            least_room = max(least_room, 0.0)
            # McCormick's two planes above a product, and the mean of them.
            room, speed = (most + least_room) / 2, (fast + slow) / 2
            corner = (most * slow + least_room * fast) / 2
            every += speed * period * cores + room * base - corner
            slopes[place] -= speed * pair.producer
            steep = room * slope
            for other, fetch in enumerate(pair.fetches[place][0]):
                slopes[other] += steep * fetch
        return every + box.most_of(slopes)
