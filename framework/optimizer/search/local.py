"""A search from plan to neighbouring plan, for topologies and machines that are too large to go through all.

A neighbour has one task of a component at another place, one more, or one less. The search goes to the best
neighbour until there is no better one, and begins again from a plan that is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from framework.optimizer.costs import Deployment
from framework.optimizer.search.bounds import bound
from framework.optimizer.search.problem import Found, Problem

Places = tuple[int, ...]


@dataclass(frozen=True)
class Local:
    """Searches among neighbours.

    Args:
        starts: how often it begins.
        seed: of what is drawn.
    """

    starts: int = 8
    seed: int = 1
    name: str = field(default="local", init=False)

    def best(self, problem: Problem) -> Found:
        """The best deployment that it comes to."""
        draw = random.Random(self.seed)
        climb = _Climb(problem)
        ends = [climb.up(plan) for plan in _starts(problem, self.starts, draw)]
        tasks = max(ends, key=climb.rank)
        prediction = problem.predicted(Deployment(tasks))
        return Found(Deployment(tasks), prediction, bound(problem), climb.considered)


def _starts(problem: Problem, count: int, draw: random.Random) -> Iterator[dict[str, Places]]:
    places = range(len(problem.machine.places))
    yield {name: (0,) * problem.least(name) for name in problem.shape.names}
    for _ in range(count - 1):
        of_group = {name: draw.choice(places) for group in problem.together for name in sorted(group)[:1]}
        plan = {}
        for name in problem.shape.names:
            group = next((group for group in problem.together if name in group), None)
            if group is not None:
                plan[name] = (of_group[min(group)],) * problem.least(name)
                continue
            tasks = draw.randint(
                problem.least(name), min(problem.most(name), max(problem.least(name), len(places)))
            )
            plan[name] = tuple(sorted(draw.choice(places) for _ in range(tasks)))
        yield plan


class _Climb:
    """Goes from plan to plan."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.considered = 0
        self._ranks: dict[tuple[tuple[str, Places], ...], tuple[float, float]] = {}

    def rank(self, tasks: Mapping[str, Places]) -> tuple[float, float]:
        """Its rate; and among equal ones, how far the loads of places are from even, negated."""
        key = tuple(sorted(tasks.items()))
        if key not in self._ranks:
            self.considered += 1
            prediction = self._problem.predicted(Deployment(dict(tasks)))
            squares = sum(load * load for load in prediction.loads.values())
            self._ranks[key] = (round(prediction.rate, 6), -squares)
        return self._ranks[key]

    def up(self, plan: dict[str, Places]) -> dict[str, Places]:
        """The plan in whose neighbourhood there is no better one."""
        while True:
            best = max(self._neighbours(plan), key=self.rank, default=plan)
            if self.rank(best) <= self.rank(plan):
                return plan
            plan = best

    def _neighbours(self, plan: dict[str, Places]) -> Iterator[dict[str, Places]]:
        places = range(len(self._problem.machine.places))
        for group in self._problem.together:
            for place in places:
                yield {**plan, **{name: (place,) * len(plan[name]) for name in group}}
        grouped = {name for group in self._problem.together for name in group}
        for name, own in plan.items():
            if name in grouped:
                continue
            for index in range(len(own)):
                rest = own[:index] + own[index + 1 :]
                if len(rest) >= self._problem.least(name):
                    yield {**plan, name: rest}
                for place in places:
                    if place != own[index]:
                        yield {**plan, name: tuple(sorted((*rest, place)))}
            if len(own) < self._problem.most(name):
                for place in places:
                    yield {**plan, name: tuple(sorted((*own, place)))}
