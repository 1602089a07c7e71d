"""A bound that knows that a producer takes room from its consumer where both are at one place.

The shares of a producer by place are divided into boxes. For each box a period is known in which the machine
cannot do all the work with such shares. The box with the shortest such period is halved, and so on. No plan
has a shorter period than the shortest one of all boxes.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from itertools import count

from framework.optimizer.search.bounds import least_work
from framework.optimizer.search.box import Box
from framework.optimizer.search.fetching import bound_with_fetches
from framework.optimizer.search.pair import Pair, PairInBox
from framework.optimizer.search.problem import Problem
from framework.optimizer.search.shares import Shares

NARROWEST = 1 / 256
"""A box that is no wider than this part of a component is not halved."""
ROUNDING = 1 + 1e-9
"""A plan that lies right at the bound is not above it."""
LEVELS = 64
"""Periods that are tried, between that of the bound that is known and that of the plan."""


def bound_by_boxes(problem: Problem, reached: float, boxes: int = 4_000) -> float:
    """Tuples of spouts a second that no deployment exceeds, by the model.

    Args:
        problem: what deployments are of.
        reached: a rate that a deployment has, or nearly; there is no bound below it.
        boxes: how many are examined; with more of them the bound is lower.
    """
    highest = bound_with_fetches(problem)
    shares = Shares(problem, least_work(problem))
    flows = [
        (name, flow)
        for name, of in shares.inflows.items()
        for flow in of
        if flow.source != name and flow.is_shared
    ]
    if not flows or not 0 < reached < highest or math.isinf(highest):
        return highest
    name, flow = max(flows, key=lambda each: each[1].number * max(map(max, each[1].crossing)))
    rates = [highest * math.pow(reached / highest, level / LEVELS) for level in range(LEVELS + 1)]
    level = _level(Pair(shares, name, flow), [1e9 / rate for rate in rates], boxes)
    return min(highest, rates[level] * ROUNDING)


def _level(pair: Pair, periods: list[float], boxes: int) -> int:
    """The index of the longest period that no plan comes below.

    Args:
        pair: of a producer, whose shares are divided, and a consumer.
        periods: in ascending order; it is known that no plan comes below the first one.
        boxes: how many are examined.
    """
    ties = count()
    live: list[tuple[int, int, Box]] = [(0, next(ties), pair.whole(periods[-1]))]
    while live and boxes > 0 and live[0][2].width > NARROWEST:
        level, _, box = heappop(live)
        for half in box.halves():
            boxes -= 1
            tight = half.tightened(pair.alike)
            if tight is None:
                continue
            within = pair.within(tight)
            if not within.is_too_much(periods[-1]):
                heappush(live, (_last(within, periods, level), next(ties), tight))
    return live[0][0] if live else len(periods) - 1


def _last(within: PairInBox, periods: list[float], level: int) -> int:
    """The index of the longest period that is known to be too short for a box, but for the last of all.

    Args:
        within: what can be done in the box.
        periods: in ascending order.
        level: the index of one that is known to be too short.
    """
    end = len(periods) - 1
    for is_too_short in (within.is_clearly_too_much, within.is_too_much):
        high = end
        while high - level > 1:
            middle = (level + high) // 2
            level, high = (middle, high) if is_too_short(periods[middle]) else (level, middle)
    return level
