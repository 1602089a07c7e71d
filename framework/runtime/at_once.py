"""Runs a plan in one call, where nobody needs to steer it meanwhile."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from framework.runtime.report import RunReport
from framework.runtime.run import Run

P = ParamSpec("P")

<<<<<<< HEAD
def run(
    plan: Plan,
    settings: Settings,
    *,
    duration_s: float | None = None,
    max_tuples: int | None = None,
    stop: StopSignal | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    record: Path | None = None,
    replay: Path | None = None,
    inactive: bool = False,
    start: Path | None = None,
    checkpoints: Path | None = None,
    control: Path | None = None,
    rename: Mapping[str, str] | None = None,
) -> RunReport:
    """Run a plan to its end; arguments and errors as in `Run`."""
    return Run(
        plan,
        settings,
        duration_s=duration_s,
        max_tuples=max_tuples,
        stop=stop,
        on_progress=on_progress,
        record=record,
        replay=replay,
        inactive=inactive,
        start=start,
        checkpoints=checkpoints,
        control=control,
        rename=rename,
    ).execute()
=======

def _executed(make: Callable[P, Run]) -> Callable[P, RunReport]:
    """A function with the arguments of a run, which executes it."""

    @functools.wraps(make, assigned=())
    def run(*args: P.args, **kwargs: P.kwargs) -> RunReport:
        """Run a plan to its end; arguments and errors as in `Run`."""
        return make(*args, **kwargs).execute()

    return run


run = _executed(Run)
>>>>>>> main
