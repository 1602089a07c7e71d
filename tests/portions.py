"""How much of what takes long runs at every change: the first of many cases; CI runs the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def at_every_change(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Parameters for a test; those behind the first ``count`` are marked as slow.

    Args:
        cases: the values of the parameter; of several parameters, if they are tuples.
        count: how many of them run at every change.
    """
    given = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=pytest.mark.slow if n >= count else ()) for n, case in enumerate(given)]


def seeds_at_every_change(seeds: range, count: int) -> list[Any]:
    """Two ranges as parameters for a test that goes through seeds: the first ``count``, and the slow rest."""
    return at_every_change([seeds[:count], seeds[count:]])
