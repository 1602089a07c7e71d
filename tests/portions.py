"""The portion of long tests that runs at every change: the first of many cases; CI runs the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

PORTION = 100
"""The most seeds of a slow test that goes through them."""
TIMES = 20
"""The same of times."""


def at_every_change(cases: Iterable[Any], count: int = 1, *, daily: bool = False) -> list[Any]:
    """Parameters for a test; those after the first ``count`` are marked as slow.

    Args:
        cases: the values of the parameter; of several parameters, if they are tuples.
        count: how many of them run at every change.
        daily: True if these are slow as well, and CI runs them each day.
    """
    given = [case if isinstance(case, tuple) else (case,) for case in cases]
    few = (pytest.mark.slow(daily=True),) if daily else ()
    marks = [pytest.mark.slow if number >= count else few for number in range(len(given))]
    return [pytest.param(*case, marks=mark) for case, mark in zip(given, marks, strict=True)]


def seeds_at_every_change(seeds: range, count: int) -> list[Any]:
    """Ranges as parameters for a test that goes through seeds: the first `count`, and slow ones of the rest.

    The rest comes in portions, as one test of 475 seeds took 97 s of processor time, and beside five others
    longer than a test may stand still.
    """
    rest = [seeds[first : first + PORTION] for first in range(count, len(seeds), PORTION)]
    return at_every_change([seeds[:count], *rest])


def times_at_every_change(first: range, *others: range) -> list[Any]:
    """Ranges as parameters for a test that goes through times: the first one, and slow portions of others.

    A run that is cut at 79 times took 65 s of processor time, and beside five others longer than a test may
    stand still.
    """
    rest = [other[at : at + TIMES] for other in others for at in range(0, len(other), TIMES)]
    return at_every_change([first, *rest])


def few_of(cases: Sequence[Mapping[str, int]], count: int) -> set[int]:
    """Choose cases that stand for all: each is the one that adds most values to those before it.

    So the first three of every topology on each of three kinds of workers take each kind once.

    Args:
        cases: of each case, the number of the value that each parameter has.
        count: how many are taken.

    Returns:
        The indices of those that are taken.
    """
    taken: set[int] = set()
    seen: set[tuple[str, int]] = set()
    left = list(range(len(cases)))
    while left and len(taken) < count:
        best = max(left, key=lambda index: len(set(cases[index].items()) - seen))
        left.remove(best)
        taken.add(best)
        seen |= set(cases[best].items())
    return taken
