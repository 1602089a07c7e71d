"""``par`` given per environment: which of its numbers counts."""

from __future__ import annotations

from collections.abc import Mapping

from framework.dsl.spec import Par
from framework.topology import unknown


def chosen(par: Par, environment: str | None) -> int:
    """The parallelism in an environment, or the only one there is.

    Raises:
        ValueError: it depends on an environment that is not given or not named in ``par``.
    """
    if isinstance(par, int):
        return par
    if environment is not None:
        return _in_environment(par, environment)
    if len(set(par.values())) == 1:
        return next(iter(par.values()))
    entries = ", ".join(f"{name!r}: {value}" for name, value in par.items())
    raise ValueError(f"par depends on the environment ({entries or 'which has no entry'}): name one of them")


def _in_environment(par: Mapping[str, int], environment: str) -> int:
    if environment not in par:
        raise ValueError(unknown("environment in par", environment, par))
    return par[environment]
