from dataclasses import replace

import pytest

from framework.optimizer.search import Heuristics
from framework.optimizer.search.parts import parts_of
from framework.optimizer.search.placing import Placing
from tests.framework.optimizer.search.problems import best_rate, chain, drawn, sockets

COUNTS = {"spout": 1, "left": 2, "right": 1, "last": 2}
EXACT = [Heuristics(collocation, best_fit=False, redundancy=True) for collocation in (True, False)]
NONE = Heuristics(collocation=False, best_fit=False, redundancy=False)
NO_LIMIT = 10**9


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("heuristics", [*EXACT, NONE], ids=["pairs", "vertices", "none"])
def test_search_without_best_fit_finds_the_best_placement(seed: int, heuristics: Heuristics) -> None:
    problem = drawn(seed, sockets(3, 2, 150.0))
    placed = Placing(parts_of(problem, COUNTS), heuristics, NO_LIMIT).best()
    assert placed.complete
    assert problem.predicted(placed.deployment).rate == pytest.approx(best_rate(problem, COUNTS)), seed


@pytest.mark.parametrize("seed", range(12))
def test_best_fit_looks_at_fewer_nodes_and_never_at_better_ones(seed: int) -> None:
    problem = drawn(seed, sockets(3, 2, 150.0))
    parts = parts_of(problem, COUNTS)
    greedy, exact = (Placing(parts, each, NO_LIMIT).best() for each in (Heuristics(), EXACT[0]))
    assert greedy.nodes <= exact.nodes
    rate = problem.predicted(greedy.deployment).rate
    assert rate <= problem.predicted(exact.deployment).rate * (1 + 1e-9)


def test_empty_sockets_that_are_alike_are_tried_once() -> None:
    problem = drawn(1, sockets(4, 1, 5.0))
    parts = parts_of(problem, COUNTS)
    every, fewer = (Placing(parts, each, NO_LIMIT).best() for each in (NONE, EXACT[1]))
    assert fewer.nodes < every.nodes / 2
    rates = [problem.predicted(each.deployment).rate for each in (every, fewer)]
    assert rates[0] == pytest.approx(rates[1])


def test_a_search_ends_at_its_limit_and_says_so() -> None:
    problem = drawn(2, sockets(3, 2, 150.0))
    placed = Placing(parts_of(problem, COUNTS), NONE, limit=30).best()
    assert not placed.complete
    assert placed.nodes == 30


def test_replicas_of_a_part_stay_together() -> None:
    problem = chain({"spout": 100, "bolt": 600}, sockets(4, 2, 10.0))
    placed = Placing(parts_of(problem, {"spout": 1, "bolt": 7}, ratio=3)).best()
    bolts = placed.deployment.tasks["bolt"]
    assert len(set(bolts[:3])) == len(set(bolts[3:6])) == 1
    assert len(set(bolts)) > 1


def test_components_that_have_to_be_together_are() -> None:
    problem = replace(
        chain({"spout": 500, "bolt": 500, "last": 500}, sockets(2, 1, 0.0)),
        together=(frozenset({"spout", "last"}),),
    )
    placed = Placing(parts_of(problem, {"spout": 1, "bolt": 1, "last": 2})).best()
    tasks = placed.deployment.tasks
    assert {*tasks["spout"], *tasks["last"]} == {tasks["spout"][0]}
    assert tasks["bolt"] != tasks["spout"]
