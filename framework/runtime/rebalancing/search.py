"""Looks for the tasks with which a plan is fastest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

from framework.optimizer.costs import Deployment, Prediction
from framework.planning.routing import TaskSet
from framework.runtime.rebalancing.movable import Movable, Sets

MOST_GONE_THROUGH: Final = 1000
"""Combinations that are all looked at, each of which takes some 50 to 100 µs."""
Rank = tuple[float, float]
"""A rate, and the processor time of all workers for a tuple, negated: what does less is left some room."""


def fastest(
    movable: Movable,
    now: Sets,
    predicted: Callable[[Deployment], Prediction],
    factor: Callable[[Deployment], float],
) -> Sets:
    """The best sets of tasks of the components that may be moved.

    All combinations are gone through where there are few, and otherwise the best of neighbours, one component
    after the other, from what runs now, from everything on one worker, and from everything on all.

    Args:
        movable: says what may be moved, and where to.
        now: the sets of now, also of components that are not moved.
        predicted: what a deployment is predicted to do.
        factor: how much faster it is than that.
    """

    def rank(sets: Sets) -> Rank:
        deployment = movable.deployment(sets)
        found = predicted(deployment)
        return found.rate * factor(deployment), -sum(found.loads.values())

    choices = {name: list(movable.choices(name)) for name in movable.free if len(movable.places[name]) <= 6}
    if len(choices) == len(movable.free) and math.prod(map(len, choices.values())) <= MOST_GONE_THROUGH:
        combined = (dict(zip(choices, some, strict=True)) for some in product(*choices.values()))
        return max(({**now, **some} for some in combined), key=rank, default=now)
    return max((_climbed(movable, start, rank) for start in _starts(movable, now)), key=rank)


def _starts(movable: Movable, now: Sets) -> Iterator[Sets]:
    yield now
    for worker in range(movable.workers):
        there = {name: movable.first(name).get(worker) for name in movable.free}
        yield {**now, **{name: TaskSet.of([task]) for name, task in there.items() if task is not None}}
    yield {**now, **{name: TaskSet.of(movable.first(name).values()) for name in movable.free}}


def _climbed(movable: Movable, sets: Sets, rank: Callable[[Sets], Rank]) -> Sets:
    best, reached = sets, rank(sets)
    while True:
        around = ({**best, name: some} for name in movable.free for some in movable.nearby(name, best[name]))
        found = max(around, key=rank, default=best)
        if rank(found) <= reached:
            return best
        best, reached = found, rank(found)
