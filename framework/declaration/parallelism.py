"""``par`` given per environment: which of its numbers counts."""

from __future__ import annotations

from collections.abc import Mapping

from framework.declaration.spec import Par
from framework.topology import unknown

ANY_ENVIRONMENT = "*"
"""Stands for whatever environment will be chosen; of all numbers it takes the smallest."""


def chosen(par: Par, environment: str | None) -> int:
    """The parallelism in an environment, or the only one there is.

    Raises:
        ValueError: it depends on an environment that is not given or not named in ``par``.
    """
    if isinstance(par, int):
        return par
    if environment == ANY_ENVIRONMENT:
        return min(par.values())
    if environment is None:
        return _the_only(par)
    if environment not in par:
        raise ValueError(unknown("environment", environment, par))
    return par[environment]


def _the_only(par: Mapping[str, int]) -> int:
    if len(set(par.values())) > 1:
        entries = ", ".join(f"{name!r}: {number}" for name, number in par.items())
        raise ValueError(f"par depends on the environment ({entries}): choose one, with --environment")
    return next(iter(par.values()))
