"""Planners beside each other on the same problem, and the plans that the paper compares RLAS with."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.planner.applications import Application
from framework.optimizer.costs import Deployment
from framework.optimizer.search import Found, Heuristics, Problem, Rlas
from framework.optimizer.search.counts import Counts
from framework.optimizer.search.parts import parts_of
from framework.optimizer.search.placing import Placing

NODES = 200
"""Of each search of RLAS."""


@dataclass(frozen=True, slots=True)
class Point:
    """All planners for one application on so many sockets; rates are in thousand results a second."""

    sockets: int
    rlas: float
    counts: float
    round_robin: float
    random: float
    """The best of all random plans."""
    without_fetches: float
    """The rate that the plan of RLAS would reach if fetches took no time."""
    bound: float
    """The rate that no plan exceeds."""
    rlas_s: float
    counts_s: float


def compared(application: Application, sockets: int, plans: int, seed: int) -> Point:
    """All planners.

    Args:
        application: what they plan.
        sockets: of Server A.
        plans: random ones.
        seed: of these.
    """
    problem = application.on(sockets)
    rlas, rlas_s = _timed(lambda: Rlas(limit=NODES).best(problem))
    counts, counts_s = _timed(lambda: Counts().best(problem))
    scale = application.results / 1e3
    drawn = max(problem.predicted(each).rate for each in random_plans(problem, plans, seed))
    local = Deployment({name: (0,) * len(of) for name, of in rlas.deployment.tasks.items()})
    without = problem.predicted(local)
    heaviest = max(*without.tasks.values(), sum(without.loads.values()) / problem.machine.cores)
    return Point(
        sockets,
        rlas.prediction.rate * scale,
        counts.prediction.rate * scale,
        problem.predicted(in_turns(problem, rlas.deployment)).rate * scale,
        drawn * scale,
        1e9 / heaviest * scale,
        counts.bound * scale,
        rlas_s,
        counts_s,
    )


def in_turns(problem: Problem, deployment: Deployment) -> Deployment:
    """A plan's replicas from socket to socket, one after the other: round robin."""
    sockets = len(problem.machine.places)
    tasks, number = {}, 0
    for name in problem.shape.names:
        count = deployment.count(name)
        tasks[name] = tuple((number + index) % sockets for index in range(count))
        number += count
    return Deployment(tasks)


def random_plans(problem: Problem, number: int, seed: int) -> Iterator[Deployment]:
    """Plans with a replica for each core, each of a random operator and on a random socket, as in the paper.

    Args:
        problem: what they are of.
        number: of plans.
        seed: of the draws.
    """
    draw = random.Random(seed)
    names = problem.shape.names
    for _ in range(number):
        tasks = {name: [draw.randrange(len(problem.machine.places))] for name in names}
        # Weights of their own for each plan: otherwise all would have as many replicas of each operator.
        weights = [draw.random() for _ in names]
        for name in draw.choices(names, weights, k=max(problem.machine.cores - len(names), 0)):
            if len(tasks[name]) < problem.most(name):
                tasks[name].append(draw.randrange(len(problem.machine.places)))
        yield Deployment({name: tuple(of) for name, of in tasks.items()})


SEARCHES = {
    "all": Heuristics(),
    "no collocation": Heuristics(collocation=False),
    "no best fit": Heuristics(best_fit=False),
    "no redundancy": Heuristics(redundancy=False),
    "none": Heuristics(collocation=False, best_fit=False, redundancy=False),
}


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a placement of the same replicas."""

    heuristics: str
    ratio: int
    rate: float
    """Thousand results a second."""
    nodes: int
    complete: bool


def searches(application: Application, sockets: int, limit: int) -> Iterator[Search]:
    """Placements of the replicas that RLAS has chosen, with and without each of its heuristics.

    Args:
        application: what is placed.
        sockets: of Server A.
        limit: nodes of a search.
    """
    problem = application.on(sockets)
    chosen = Rlas(limit=NODES).best(problem).deployment
    counts = {name: chosen.count(name) for name in problem.shape.names}
    for ratio in (5, 1):
        for name, heuristics in SEARCHES.items():
            placed = Placing(parts_of(problem, counts, ratio), heuristics, limit).best()
            rate = problem.predicted(placed.deployment).rate * application.results / 1e3
            yield Search(name, ratio, rate, placed.nodes, placed.complete)


def _timed(plan: Callable[[], Found]) -> tuple[Found, float]:
    begin = time.perf_counter()
    found = plan()
    return found, time.perf_counter() - begin
