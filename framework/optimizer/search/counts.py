"""A planner for many cores: it decides how many tasks of a component a place has, not where each task goes.

Tasks of a component are alike, so a plan is a table of numbers by component and place. The planner fills
places by shares for the shortest period at which these fit, and makes whole tasks of the shares. Then it
moves tasks from place to place as long as this helps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import permutations, product

from framework.optimizer.costs import Deployment
from framework.optimizer.costs.shape import Spread
from framework.optimizer.search.bounds import least_work
from framework.optimizer.search.boxes import bound_by_boxes
from framework.optimizer.search.fetching import bound_with_fetches
from framework.optimizer.search.parts import local_tasks
from framework.optimizer.search.problem import Found, Problem
from framework.optimizer.search.shares import Share, Shares, filled, rounded

Table = dict[str, list[int]]
"""Tasks by component and place."""
Move = tuple[str, int, int, int]
"""A component, the place that it leaves, the one that it goes to, and how many of its tasks do."""

STEPS = 30
"""Halvings of the interval in which the shortest period lies."""
FINENESS = (1, 2, 3)
"""Tasks for each one that a component needs at least: smaller ones fill a place better, and wait for each
other more often."""

NORM = 24
"""A sum of such powers is nearly the greatest of them, and still shows whether the others become less."""
EQUAL = 1e-9


class Counts:
    """The planner.

    Args:
        moves: moves of tasks that it tries at most for each table.
        fineness: tasks for each one that is needed; all of these are tried.
    """

    def __init__(self, moves: int = 8_000, fineness: tuple[int, ...] = FINENESS) -> None:
        self._moves = moves
        self._fineness = fineness

    @property
    def name(self) -> str:
        """As it is called on the command line."""
        return "counts"

    def best(self, problem: Problem) -> Found:
        """The best of a few tables.

        `Found.considered` is the number of all tables that were evaluated, and `Found.bound` a sound one that
        knows of fetches.

        Args:
            problem: what to plan.

        Raises:
            ValueError: there is a component that may have no task.
        """
        for name in problem.shape.names:
            if problem.most(name) < 1:
                raise ValueError(f"{name} may have {problem.most(name)} tasks, and needs one")
        limit = bound_with_fetches(problem)
        shares, period = _shortest(Shares(problem, least_work(problem)), limit)
        best: Found | None = None
        considered = 0
        for fineness in self._fineness:
            table, tried = self._whole(problem, shares, period / fineness)
            considered += tried
            deployment = Deployment({name: _places(row) for name, row in table.items()})
            prediction = problem.predicted(deployment)
            if best is None or prediction.rate > best.prediction.rate:
                best = Found(deployment, prediction, limit, considered)
        assert best is not None, "some fineness is tried"
        limit = bound_by_boxes(problem, best.prediction.rate)
        return Found(best.deployment, best.prediction, limit, considered)

    def _whole(self, problem: Problem, shares: Mapping[str, Share], period: float) -> tuple[Table, int]:
        """A table whose tasks take a period each at most, if they may be so many, and the tables tried."""
        light = Shares(problem, least_work(problem))
        counts = {name: _needed(light, name, shares, period) for name in problem.shape.names}
        tasks = local_tasks(problem, counts)
        work = {name: sum(tasks[name, index] for index in range(counts[name])) for name in counts}
        return _improved(Shares(problem, work), rounded(shares, counts), self._moves)


def _shortest(model: Shares, limit: float) -> tuple[dict[str, Share], float]:
    """The shares of the shortest period at which places can be filled, and this period."""
    low = 0.0 if math.isinf(limit) else 1e9 / limit
    high = max(low, 1.0)
    order = model.problem.shape.names
    while (best := filled(model, high, 0, order)) is None:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        found = filled(model, middle, 0, order)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return best, high


def _needed(model: Shares, name: str, shares: Mapping[str, Share], period: float) -> int:
    """Tasks that a component needs so that none takes longer than a period, within what it may have."""
    problem = model.problem
    spreads = {flow.spread for flow in problem.shape.into[name]}
    if spreads & {Spread.ONE, Spread.ALL}:
        return problem.least(name)  # more of them do not share the work
    costs = model.loads(shares).costs[name]
    longest = max(cost for cost, share in zip(costs, shares[name], strict=True) if share)
    return max(problem.least(name), min(problem.most(name), math.ceil(longest / period - 1e-9)))


def _improved(model: Shares, table: Table, moves: int) -> tuple[Table, int]:
    """Takes any move that makes a table better, until none does or so many have been tried."""
    worth = _worth(model, table)
    tried = 1
    is_better = True
    while is_better and tried < moves:
        is_better = False
        for moves_at_once in _moves(model, table):
            if tried >= moves:
                break
            changed = _moved(table, moves_at_once)
            if changed is None:
                continue
            tried += 1
            value = _worth(model, changed)
            if value < worth * (1 - EQUAL):
                table, worth, is_better = changed, value, True
    return table, tried


def _worth(model: Shares, table: Table) -> float:
    """Value a table by the period and the loads of other places; a better one has less of both."""
    counts = {name: sum(row) for name, row in table.items()}
    shares = {name: [each / counts[name] for each in row] for name, row in table.items()}
    loads = model.loads(shares)
    machine = model.problem.machine
    longest = max(
        loads.costs[name][place] / counts[name]
        for name, row in table.items()
        for place, each in enumerate(row)
        if each
    )
    held = [load / of.cores for load, of in zip(loads.places, machine.places, strict=True)]
    held += [longest, sum(loads.places) / machine.cores]
    largest = max(held)
    return largest * sum((each / largest) ** NORM for each in held) ** (1 / NORM) if largest else 0.0


def _moves(model: Shares, table: Table) -> Iterator[tuple[Move, ...]]:
    """Of each component half of its tasks of a place, or one of them, to another place; and exchanges.

    In an exchange a task goes to another place, and tasks of another component with as much work come back.
    """
    bound = {name for names in model.problem.together for name in names}
    free = [name for name in table if name not in bound]
    ways = list(permutations(range(len(model.problem.machine.places)), 2))
    for name, (place, other) in product(free, ways):
        if here := table[name][place]:
            for number in sorted({1, (here + 1) // 2}, reverse=True):
                yield ((name, place, other, number),)
    each = {name: model.work[name] / sum(row) for name, row in table.items()}
    for name, back in permutations(free, 2):
        number = max(1, round(each[name] / each[back])) if each[back] else 1
        for place, other in ways:
            yield (name, place, other, 1), (back, other, place, number)


def _moved(table: Table, moves: tuple[Move, ...]) -> Table | None:
    """A table after moves, or None if a place has not got so many tasks."""
    changed = dict(table)
    for name, place, other, number in moves:
        row = list(changed[name])
        if row[place] < number:
            return None
        row[place] -= number
        row[other] += number
        changed[name] = row
    return changed


def _places(row: list[int]) -> tuple[int, ...]:
    return tuple(place for place, each in enumerate(row) for _ in range(each))
