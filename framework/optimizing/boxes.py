"""A bound that knows that a producer takes room from its consumer where both are at one place.

The shares of a producer by place are divided into boxes. Of each box it is known up to which period it is
too much for the machine to do all work with such shares. The box for which this is the shortest period is
halved, and its halves are looked at, again and again. No plan has a shorter period than the shortest one of
all boxes.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from itertools import count

from framework.optimizing.bounds import least_work
from framework.optimizing.box import Box
from framework.optimizing.fetching import bound_with_fetches
from framework.optimizing.pair import Pair, PairInBox
from framework.optimizing.problem import Problem
from framework.optimizing.shares import Shares

NARROWEST = 1 / 256
"""A box that is no wider than this part of a component is not halved."""
LEVELS = 64
"""Periods that are looked at, between that of the bound that is known and that of the plan."""


def bound_by_boxes(problem: Problem, reached: float, boxes: int = 4_000) -> float:
    """Tuples of spouts a second that no deployment exceeds, by the model.

    Args:
        problem: what deployments are of.
        reached: a rate that a deployment has, or nearly; there is no bound below it.
        boxes: how many are looked at; with more of them the bound is lower.
    """
    highest = bound_with_fetches(problem)
    shares = Shares(problem, least_work(problem))
    flows = [(name, flow) for name, of in shares.inflows.items() for flow in of if flow.source != name]
    if not flows or reached >= highest:
        return highest
    name, flow = max(flows, key=lambda each: each[1].number * max(map(max, each[1].crossing)))
    rates = [highest * math.pow(reached / highest, level / LEVELS) for level in range(LEVELS + 1)]
    return rates[_level(Pair(shares, name, flow), [1e9 / rate for rate in rates], boxes)]


def _level(pair: Pair, periods: list[float], boxes: int) -> int:
    """The index of the longest period that is known to be too short, or just as long as it may be.

    Args:
        pair: of a producer, whose shares are divided, and a consumer.
        periods: the first one is known to be too short.
        boxes: how many are looked at.
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
    """The last period, from one that is, that is too short for a box, other than the last of all."""
    end = len(periods) - 1
    for is_too_short in (within.is_clearly_too_much, within.is_too_much):
        high = end
        while high - level > 1:
            middle = (level + high) // 2
            level, high = (middle, high) if is_too_short(periods[middle]) else (level, middle)
    return level
