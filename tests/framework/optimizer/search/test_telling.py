"""Plans in words: how much faster another one can be, not which part of the bound is missing."""

from __future__ import annotations

from dataclasses import replace

from framework.optimizer.costs import Machine
from framework.optimizer.search import Exact, Problem
from framework.optimizer.search.telling import in_words
from tests.framework.optimizer.costs.shapes import COSTS, WORDS


def test_how_much_faster_a_plan_can_be() -> None:
    problem = Problem(WORDS, COSTS, Machine.of_workers(2, 2))
    found = Exact().best(problem)
    assert "no plan is predicted to be faster" in list(in_words(problem, found))[1]
    half = replace(found, bound=2 * found.prediction.rate)
    assert "no plan can be more than 100.0% faster" in list(in_words(problem, half))[1]
