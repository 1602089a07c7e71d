"""The heuristics of the paper against choices that were worked out by hand from its definitions.

Each has wrong rules beside it, one slip each, and for each of them some case has another answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from framework.model.config.keys import SCHEDULING
from framework.runtime.execution.heuristics import HEURISTICS, Pipeline, priority, threshold, throughput

US = 1e-6
ANY = float("inf")


@dataclass(frozen=True)
class Given:
    """An operator whose figures are given."""

    depth: int
    cumulative: float = 1.0
    entering: float = 1.0
    queued: float = 0
    waiting: float = 1
    cost_s: float = US
    workers: int = 0
    most: float = ANY
    spent_s: float = 0.0


PIPELINE = Pipeline(cumulative=3.5, capacity=700, slice_s=0.005)
"""Of four operators with selectivities 1, 0.5, 2 and 1, so cs is 1, 0.5, 1, 1 and T is 200, 100, 200, 200."""
OPERATORS = (Given(1), Given(2, cumulative=0.5), Given(3, entering=0.5), Given(4))


def figures(name: str, *values: float) -> list[Given]:
    """The four operators with these values of one figure."""
    return [replace(each, **{name: value}) for each, value in zip(OPERATORS, values, strict=True)]


def with_figures(found: Sequence[Given], name: str, *values: float) -> list[Given]:
    """Operators with these values of another figure."""
    return [replace(each, **{name: value}) for each, value in zip(found, values, strict=True)]


@dataclass(frozen=True)
class Case:
    """Operators that are schedulable, and the one that a heuristic chooses of them, by its depth."""

    operators: Sequence[Given]
    chosen: int | None


LOADED = with_figures(figures("waiting", 100, 300, 200, 5), "cost_s", 2 * US, US, US, 4 * US)
"""I * c is 200, 300, 200 and 20 us."""
SPENT = with_figures(figures("spent_s", 0.010, 0.018, 0.0065, 0.012), "cost_s", US, 2 * US, US, US)
"""T / (c * cs of the one before) is 10,000, 9,000, 13,000 and 12,000."""
CASES: Mapping[str, Sequence[Case]] = {
    "qst": (
        Case(figures("queued", 0, 0, 0, 0), 1),
        Case(figures("queued", 199, 0, 0, 0), 1),
        Case(figures("queued", 200, 99, 0, 0), 2),
        Case(figures("queued", 200, 100, 150, 0), 3),  # a bound of C / n = 175 would do as well here
        Case(figures("queued", 180, 0, 0, 0), 1),  # and not here
        Case(figures("queued", 200, 100, 200, 0), 4),
        Case(figures("queued", 200, 100, 200, 0)[:3], None),
        Case(with_figures(figures("queued", 300, 0, 0, 0), "waiting", 1, 300, 1, 1), 2),
    ),
    "lp": (
        Case(OPERATORS, 4),
        Case(OPERATORS[:2], 2),
        Case(figures("waiting", 500, 1, 1, 1), 4),
        Case(with_figures(OPERATORS, "cost_s", 1.0, US, US, US), 4),
        Case(with_figures(OPERATORS, "workers", 0, 0, 0, 7), 4),
    ),
    "et": (
        Case(LOADED, 2),  # and not 4 by cost alone
        Case(with_figures(LOADED, "cost_s", 4 * US, US, US, US), 1),
        Case(with_figures(LOADED, "workers", 0, 1, 1, 0), 1),  # 200, 150, 100 and 20
        Case(with_figures(LOADED, "workers", 1, 0, 0, 0), 2),  # 100, 300, 200 and 20
        Case(with_figures(with_figures(LOADED, "workers", 0, 1, 0, 0), "cost_s", US, US, 0.9 * US, US), 3),
        Case(with_figures(with_figures(LOADED, "workers", 0, 1, 0, 0), "waiting", 90, 900, 80, 1), 2),
        Case(
            with_figures(
                with_figures(with_figures(LOADED, "waiting", 90, 900, 80, 1), "workers", 0, 1, 0, 0),
                "most",
                *(ANY, 1, ANY, ANY),
            ),
            1,
        ),
    ),
    "ct": (
        Case(SPENT, 2),
        Case(with_figures(SPENT, "workers", 0, 1, 0, 0), 1),  # (18 + 5) ms / 2 us = 11,500
        Case(with_figures(SPENT, "cost_s", US, US, US, 2 * US), 4),  # 18,000 of 2, and 6,000 of 4
        Case(with_figures(SPENT, "cost_s", US, US, US, US), 1),  # by time alone 3, half of all reaches it
        Case(figures("spent_s", 0.0, 0.0, 0.0, 0.0), 1),
        Case(with_figures(figures("spent_s", 0.0, 0.0, 0.0, 0.0), "workers", 1, 1, 0, 0), 3),
    ),
}


def test_every_heuristic_of_the_configuration_is_here() -> None:
    assert set(HEURISTICS) == set(CASES) == set(SCHEDULING) - {"downstream", "random"}


def wrong_cases(name: str, choose: Callable[..., Given | None]) -> list[int]:
    """The indexes of the cases in which a rule chooses another operator than the paper's."""
    found = []
    for index, case in enumerate(CASES[name]):
        chosen = choose(case.operators, PIPELINE)
        if (None if chosen is None else chosen.depth) != case.chosen:
            found.append(index)
    return found


@pytest.mark.parametrize("name", HEURISTICS)
def test_choices(name: str) -> None:
    assert wrong_cases(name, HEURISTICS[name]) == []


def test_figures_of_the_formulas() -> None:
    assert [threshold(each, PIPELINE) for each in OPERATORS] == [200, 100, 200, 200]
    two = Given(2, waiting=300, cost_s=3 * US, workers=2, most=3)
    assert priority(two) == pytest.approx(300 * US)
    assert priority(replace(two, most=2)) == 0.0
    three = Given(3, entering=0.25, cost_s=4 * US, workers=2, spent_s=0.03)
    assert throughput(three, PIPELINE) == pytest.approx(0.04 / US)


def first(schedulable: Sequence[Given], is_one: Callable[[Given], bool]) -> Given | None:
    return next(filter(is_one, schedulable), None)


Rule = Callable[[Sequence[Given], Pipeline], Given | None]
WRONG: Sequence[tuple[str, str, Rule]] = (
    ("qst", "alike bounds", lambda some, p: first(some, lambda o: o.queued < p.capacity / 4)),
    ("qst", "up to the bound", lambda some, p: first(some, lambda o: o.queued <= threshold(o, p))),
    ("qst", "latest", lambda some, p: first(some[::-1], lambda o: o.queued < threshold(o, p))),
    ("qst", "input queue", lambda some, p: first(some, lambda o: o.waiting < threshold(o, p))),
    ("qst", "never none", lambda some, p: first(some, lambda o: o.queued < threshold(o, p)) or some[-1]),
    ("lp", "earliest", lambda some, p: some[0]),
    ("lp", "longest queue", lambda some, p: max(some, key=lambda o: o.waiting)),
    ("lp", "fewest workers", lambda some, p: min(some, key=lambda o: (o.workers, -o.depth))),
    ("et", "tuples", lambda some, p: max(some, key=lambda o: o.waiting)),
    ("et", "costs", lambda some, p: max(some, key=lambda o: o.cost_s)),
    ("et", "no other workers", lambda some, p: max(some, key=lambda o: o.waiting * o.cost_s)),
    (
        "et",
        "not the new worker",
        lambda some, p: max(some, key=lambda o: o.waiting * o.cost_s / max(o.workers, 1)),
    ),
    ("et", "no most", lambda some, p: max(some, key=lambda o: priority(replace(o, most=ANY)))),
    ("et", "least", lambda some, p: min(some, key=priority)),
    ("ct", "highest", lambda some, p: max(some, key=lambda o: throughput(o, p))),
    ("ct", "no selectivity", lambda some, p: min(some, key=lambda o: throughput(o, p) * o.entering)),
    (
        "ct",
        "own selectivity, too",
        lambda some, p: min(some, key=lambda o: throughput(replace(o, entering=o.cumulative), p)),
    ),
    ("ct", "no costs", lambda some, p: min(some, key=lambda o: throughput(o, p) * o.cost_s)),
    (
        "ct",
        "no workers",
        lambda some, p: min(some, key=lambda o: throughput(replace(o, workers=0), p)),
    ),
)


@pytest.mark.parametrize(("name", "rule"), [pytest.param(n, r, id=f"{n}: {slip}") for n, slip, r in WRONG])
def test_wrong_rules_are_caught(name: str, rule: Rule) -> None:
    assert wrong_cases(name, rule)
