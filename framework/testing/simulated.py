"""A whole run by a virtual clock, from its first task to its report."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from framework.model.config import Settings
from framework.planning import Plan
from framework.runtime import RunReport, StopReason, run
from framework.testing.clock import VirtualClock, VirtualWaits


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a run before its spouts do."""

    max_tuples: int | None
    """Tuples after which the spouts stop."""
    duration_s: float | None
    """Seconds on the clock after which they stop."""
    timeout_s: float
    """Seconds that really pass after which the run is given up."""


def run_by(clock: VirtualClock, plan: Plan, settings: Settings, limits: Limits) -> tuple[RunReport, bool]:
    """Run a plan by a clock, which passes at once whatever time there is nothing to do in.

    Args:
        clock: shows the time of the run.
        plan: what to run, by one executor.
        settings: the configuration it was planned with.
        limits: end it.

    Returns:
        The report, and whether the run was given up.

    Raises:
        ComponentError: a component raised.
        ValueError: the plan has several executors.
    """
    if len(plan.placement.executors) > 1:
        raise ValueError(
            f"a run by a virtual clock has one thread: found {len(plan.placement.executors)} executors; "
            "leave out viper.worker, topology.workers and viper.blocking"
        )
    waits, drain_s = VirtualWaits(clock), settings["viper.drain.timeout.secs"]
    with clock.within(), _given_up_after(limits.timeout_s, clock, waits, drain_s) as given_up:
        max_tuples, duration_s = limits.max_tuples, limits.duration_s
        report = run(plan, settings, max_tuples=max_tuples, duration_s=duration_s, stop=waits)
    return report, given_up.is_set()


@contextmanager
def _given_up_after(
    timeout_s: float, clock: VirtualClock, waits: VirtualWaits, drain_s: float
) -> Iterator[threading.Event]:
    """While the block runs, give the run up after so many seconds that really pass.

    The clock may stand still, as in a callback that does not return. So it is moved to where no drain lasts.
    """
    given_up = threading.Event()

    def give_up() -> None:
        given_up.set()
        waits.request(StopReason.DURATION)
        clock.advance(2 * drain_s + 1)

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield given_up
    finally:
        timer.cancel()
        timer.join()
