"""RLAS, the planner of BriskStream (Zhang et al., SIGMOD 2019, section 4 and appendix C).

It begins with one replica of each component, places them, and gives more replicas to the component that is
overfed, until nothing is or no more fits. It keeps the best plan that it has come by.

The input from outside is at first as much as the machine could process without fetches. As long as this
cannot be attained, less comes in, and scaling begins again. Otherwise components far down the stream would
get replicas for tuples that never reach them, and leave none to others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from framework.optimizer.costs import Prediction
from framework.optimizer.costs.model import tuples
from framework.optimizer.search.bounds import bound
from framework.optimizer.search.parts import parts_of
from framework.optimizer.search.placing import ALL, Heuristics, Placing
from framework.optimizer.search.problem import Found, Problem

SLACK = 1e-9
"""Rates that differ by this part are equal."""
LOWER = 0.95
"""The part of the input to which it is lowered."""
PASSES = 14
"""With different amounts of what comes in, at most: down to the half."""


class Rlas:
    """The planner.

    Args:
        ratio: replicas that are placed together, the paper's compression ratio; its authors used 5.
        heuristics: which the placement uses.
        limit: nodes of each placement's search.
        replicas: of all components together at most; None: as many as the machine has cores, if each
            component has one.
    """

    def __init__(
        self,
        ratio: int = 5,
        heuristics: Heuristics = ALL,
        limit: int = 2_000,
        replicas: int | None = None,
    ) -> None:
        self._ratio = ratio
        self._heuristics = heuristics
        self._limit = limit
        self._replicas = replicas

    @property
    def name(self) -> str:
        """As it is called on the command line."""
        return "rlas"

    def best(self, problem: Problem) -> Found:
        """The best deployment of all iterations.

        `Found.considered` is the number of nodes of all searches. `Found.bound` is that of the model without
        fetches; it does not come from the search, which leaves plans out.

        Args:
            problem: what to plan.

        Raises:
            ValueError: there is a component that may have no task.
        """
        fewest = _fewest(problem)
        limit = ingress = bound(problem)
        best, fits = self._scaled(problem, fewest, ingress)
        considered = best.considered
        for _ in range(PASSES - 1):
            if fits:
                break
            ingress *= LOWER
            found, fits = self._scaled(problem, fewest, ingress)
            considered += found.considered
            best = max(best, found, key=lambda each: each.prediction.rate)
        return Found(best.deployment, best.prediction, limit, considered)

    def _scaled(self, problem: Problem, fewest: Mapping[str, int], ingress: float) -> tuple[Found, bool]:
        """The best plan that scaling comes by, and whether what comes in was processed at its end."""
        counts = dict(fewest)
        most = max(self._replicas or problem.machine.cores, sum(counts.values()))
        best: Found | None = None
        considered = 0
        while True:
            placed = Placing(parts_of(problem, counts, self._ratio), self._heuristics, self._limit).best()
            considered += placed.nodes
            prediction = problem.predicted(placed.deployment)
            if best is None or prediction.rate > best.prediction.rate:
                best = Found(placed.deployment, prediction, ingress, considered)
            overfed = _overfed(problem, prediction, counts, ingress)
            left = most - sum(counts.values())
            if overfed is None or not left:
                found = Found(best.deployment, best.prediction, ingress, considered)
                return found, best.prediction.rate >= ingress * (1 - SLACK)
            name, wanted = overfed
            counts[name] = min(wanted, counts[name] + left, problem.most(name))


def _fewest(problem: Problem) -> dict[str, int]:
    for name in problem.shape.names:
        if problem.most(name) < 1:
            raise ValueError(f"{name} may have {problem.most(name)} tasks, and needs one")
    return {name: problem.least(name) for name in problem.shape.names}


def _overfed(
    problem: Problem, prediction: Prediction, counts: Mapping[str, int], ingress: float
) -> tuple[str, int] | None:
    """The overfed component that is farthest down the stream and may have more tasks, and how many it needs.

    All rates are in tuples of spouts.
    """
    able = _able(problem, prediction, counts)
    fed = _fed(problem, able, ingress)
    for name in reversed(problem.shape.names):
        if counts[name] < problem.most(name) and fed[name] > able[name] * (1 + SLACK):
            return name, max(math.ceil(counts[name] * fed[name] / able[name] - SLACK), counts[name] + 1)
    return None


def _able(problem: Problem, prediction: Prediction, counts: Mapping[str, int]) -> dict[str, float]:
    """Compute the rate that each component can process, by its heaviest task."""
    heaviest = {
        name: max(prediction.tasks.get((name, index), 0.0) for index in range(counts[name]))
        for name in problem.shape.names
    }
    return {name: 1e9 / ns if ns else math.inf for name, ns in heaviest.items()}


def _fed(problem: Problem, able: Mapping[str, float], ingress: float) -> dict[str, float]:
    """Compute the rate that each component would get if each one before it processed as much as it can."""
    _, emitted = tuples(problem.shape, problem.profile)
    fed: dict[str, float] = {}
    for name in problem.shape.names:
        flows = problem.shape.into[name]
        if not flows:
            fed[name] = ingress
            continue
        weights = [(emitted[flow.source, flow.stream], flow.source) for flow in flows]
        every = sum(number for number, _ in weights)
        parts = (number * min(able[source], fed[source]) for number, source in weights if number)
        fed[name] = sum(parts) / every if every else 0.0
    return fed
