"""Runs a plan in one call, where nobody needs to steer it meanwhile."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from framework.runtime.report import RunReport
from framework.runtime.run import Run

P = ParamSpec("P")


def _executed(make: Callable[P, Run]) -> Callable[P, RunReport]:
    """A function with the arguments of a run, which executes it."""

    @functools.wraps(make, assigned=())
    def run(*args: P.args, **kwargs: P.kwargs) -> RunReport:
        """Run a plan to its end; arguments and errors as in `Run`."""
        return make(*args, **kwargs).execute()

    return run


run = _executed(Run)
