"""The exact search: no plan is better than what it finds, however one looks for it."""

from __future__ import annotations

import random
from itertools import chain, combinations_with_replacement, count, product

import pytest

from benchmarks.planner.baselines import Random
from framework.optimizer.costs import Deployment, Machine, Place
from framework.optimizer.search import Best, Exact, Local, Problem, TooLarge, bound, exact
from tests.framework.optimizer.costs.shapes import COSTS, WORDS, drawn


def every(problem: Problem) -> list[Deployment]:
    """All plans there are, those of one component's tasks in any order counted once."""
    places = range(len(problem.machine.places))
    of_each = [
        list(
            chain.from_iterable(
                combinations_with_replacement(places, tasks)
                for tasks in range(problem.least(name), problem.most(name) + 1)
            )
        )
        for name in problem.shape.names
    ]
    return [Deployment(dict(zip(problem.shape.names, chosen, strict=True))) for chosen in product(*of_each)]


def with_most_executors(most: int, seed: int) -> Problem:
    """The first problem on three workers with 5 executors to so many, of those drawn from this seed on."""
    draws = (drawn(seed + 1_000 * turn, 5, 3, 3) for turn in count())
    return next(problem for problem in draws if 5 <= sum(map(problem.most, problem.shape.names)) <= most)


@pytest.mark.parametrize("seed", range(40))
def test_it_is_what_brute_force_finds(seed: int) -> None:
    problem = drawn(seed, 4, 1 + seed % 3, 2)
    best = max(problem.predicted(plan).rate for plan in every(problem))
    found = Exact().best(problem)
    assert found.prediction.rate == pytest.approx(best)
    assert found.gap == 0


@pytest.mark.parametrize("seed", range(10))
def test_nor_is_any_of_many_plans_better(seed: int) -> None:
    problem = drawn(seed, 7, 4, 2)
    found, draw = Exact().best(problem), random.Random(seed)
    assert found.prediction.rate <= bound(problem) * 1.000001
    for _ in range(100):
        assert problem.predicted(Random.drawn(problem, draw)).rate <= found.prediction.rate * 1.000001


def assert_that_brute_force_agrees(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A wide beam finds the best of so few plans by itself, and would hide mistakes of the search behind it.
    monkeypatch.setattr(exact, "BEAM", 1)
    problem = with_most_executors(8, seed)
    best = max(problem.predicted(plan).rate for plan in every(problem))
    assert Exact().best(problem).prediction.rate == pytest.approx(best), f"seed {seed}"


@pytest.mark.parametrize("seed", range(100, 110))
def test_eight_executors_are_placed_as_brute_force_places_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_that_brute_force_agrees(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(110, 200))
def test_so_are_those_of_many_problems(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_that_brute_force_agrees(seed, monkeypatch)


def assert_that_the_default_is_best(seed: int, plans: int) -> None:
    problem, draw = drawn(seed, 7, 4, 4), random.Random(seed)
    found = Best().best(problem).prediction.rate
    rates = [problem.predicted(Random.drawn(problem, draw)).rate for _ in range(plans)]
    assert max(rates) <= found * 1.000001, f"seed {seed}"


@pytest.mark.parametrize("seed", range(6))
def test_no_random_plan_is_better_than_the_default(seed: int) -> None:
    assert_that_the_default_is_best(seed, 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 26))
def test_nor_is_any_of_a_thousand(seed: int) -> None:
    assert_that_the_default_is_best(seed, 1_000)


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(20))
def test_the_local_search_is_within_its_gap(seed: int) -> None:
    problem = drawn(seed, 6, 3, 3)
    best, found = Exact().best(problem).prediction.rate, Local().best(problem)
    assert found.prediction.rate <= best * 1.000001
    assert best <= found.bound * 1.000001
    assert found.prediction.rate >= 0.9 * best


def test_fixed_numbers_of_tasks_are_kept() -> None:
    problem = Problem(WORDS, COSTS, Machine.of_workers(2, 2), fixed={"count": 3, "split": 1})
    for optimizer in (Exact(), Local(), Random()):
        assert optimizer.best(problem).deployment.count("count") == 3
        assert optimizer.best(problem).deployment.count("split") == 1


def test_what_is_together_stays_at_one_place() -> None:
    group = frozenset({"lines", "count"})
    problem = Problem(WORDS, COSTS, Machine.of_workers(3, 3), fixed={"count": 2}, together=(group,))
    for optimizer in (Exact(), Local(), Random()):
        tasks = optimizer.best(problem).deployment.tasks
        assert len({*tasks["lines"], *tasks["count"]}) == 1


def test_one_worker_has_everything_once() -> None:
    problem = Problem(WORDS, COSTS, Machine.of_workers(1, 1))
    assert Exact().best(problem).deployment.tasks == dict.fromkeys(WORDS.names, (0,))


def test_symmetric_plans_are_looked_at_once() -> None:
    two = Exact().best(Problem(WORDS, COSTS, Machine.of_workers(2, 2))).considered
    many = Exact().best(Problem(WORDS, COSTS, Machine.of_workers(4, 4))).considered
    # If workers were told apart, the numbers would be 443 and 4772.
    assert two < 400
    assert many < 3000


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="more than 10 parts"):
        Exact(most_nodes=10).best(drawn(3, 7, 4, 4))


@pytest.mark.parametrize("most", range(1_000, 8_000, 1_000))
def test_it_gives_up_soon_after_the_limit(most: int) -> None:
    search = exact._Search(drawn(6, 7, 4, 4), most)
    with pytest.raises(TooLarge, match=f"more than {most} parts"):
        search.run()
    widest = max(map(len, search._tables.choices))
    assert most < search.nodes <= most + 2 * exact.BEAM * widest


def test_sockets_are_refused() -> None:
    with pytest.raises(ValueError, match="several cores"):
        Exact().best(Problem(WORDS, COSTS, Machine((Place(2),), 2)))
