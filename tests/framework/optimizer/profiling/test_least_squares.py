"""Least squares that are not negative, beside all that could be chosen to be 0, and drawn to guesses."""

from __future__ import annotations

import random
from itertools import chain, combinations

import pytest

from framework.optimizer.profiling.least_squares import Matrix, least_squares, not_negative, solved


def value(normal: Matrix, right: list[float], found: list[float]) -> float:
    """Compute the value that is to be least."""
    squares = sum(found[i] * normal[i][j] * found[j] for i in range(len(right)) for j in range(len(right)))
    return squares / 2 - sum(one * x for one, x in zip(right, found, strict=True))


def best_of_all(normal: Matrix, right: list[float]) -> float:
    """The least value by trying all sets of unknowns that are not 0."""
    size, least = len(right), 0.0
    for chosen in chain.from_iterable(combinations(range(size), count) for count in range(1, size + 1)):
        part = solved(normal, right, chosen)
        if min(part) >= 0:
            found = [0.0] * size
            for at, x in zip(chosen, part, strict=True):
                found[at] = x
            least = min(least, value(normal, right, found))
    return least


@pytest.mark.parametrize("seed", range(20))
def test_the_least_value_is_found(seed: int) -> None:
    print(f"seed {seed}")
    draw = random.Random(seed)
    size = draw.randint(1, 7)
    factors = [[draw.gauss(0, 1) for _ in range(size)] for _ in range(size)]
    normal = [
        [sum(row[i] * row[j] for row in factors) + (0.01 if i == j else 0.0) for j in range(size)]
        for i in range(size)
    ]
    right = [draw.gauss(0, 1) for _ in range(size)]
    found = not_negative(normal, right)
    assert min(found) >= 0
    assert value(normal, right, found) == pytest.approx(best_of_all(normal, right), rel=1e-6, abs=1e-9)


def test_no_cost_is_negative() -> None:
    rows = [({"a": 10.0}, 100.0), ({"a": 10.0, "b": 5.0}, 90.0)]
    cost = least_squares(rows)
    assert cost["b"] == 0
    assert cost["a"] == pytest.approx(9.4, abs=0.2)


def test_terms_that_always_come_together_share_without_a_guess() -> None:
    cost = least_squares([({"a": 10.0, "b": 10.0}, 100.0)] * 3)
    assert cost["a"] == pytest.approx(cost["b"])
    assert cost["a"] + cost["b"] == pytest.approx(10, rel=0.01)


def test_terms_that_always_come_together_keep_the_proportions_of_a_guess() -> None:
    cost = least_squares([({"a": 10.0, "b": 30.0}, 100.0)], {"a": 6.0, "b": 2.0})
    assert cost["a"] / cost["b"] == pytest.approx(3)
    assert 10 * cost["a"] + 30 * cost["b"] == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize("wrong", [0.001, 0.1, 10.0])
def test_two_rows_that_tell_terms_apart_outweigh_a_guess(wrong: float) -> None:
    rows = [({"a": 10.0, "b": 10.0}, 100.0), ({"a": 10.0, "b": 40.0}, 220.0)]
    cost = least_squares(rows, {"a": 6.0 * wrong, "b": 4.0 / wrong})
    print(cost)
    assert cost["a"] == pytest.approx(6, rel=0.35)
    assert cost["b"] == pytest.approx(4, rel=0.35)


def test_a_term_without_a_guess_takes_what_others_leave() -> None:
    rows = [({"a": 10.0}, 50.0), ({"a": 10.0, "b": 1.0}, 80.0)]
    cost = least_squares(rows, {"a": 5.0})
    assert cost["b"] == pytest.approx(30, rel=0.02)


def test_a_guess_that_explains_all_rows_stays() -> None:
    guess = {"a": 6.0, "b": 4.0, "c": 2.0}
    cost = least_squares([({"a": 1.0, "b": 1.0}, 10.0), ({"b": 1.0, "c": 1.0}, 6.0)], guess)
    assert cost == pytest.approx(guess)
