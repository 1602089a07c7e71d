"""Runs that move their bolts by themselves, beside runs that stay as they were begun.

They are counted when the run has had the time to move: with ``topology.workers: auto``, with as many workers
to which tasks are dealt out, and as they are configured. They are run in turn, round after round.

    python -m benchmarks.planner.by_itself [TARGET] [--warm-up 20] [--counted 4] [--times 3] [-o KEY=VALUE]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence

from benchmarks.planner.rates import interval, ratio
from benchmarks.planner.target_arguments import add_target, command_of
from benchmarks.planner.warm import Candidate, Warm

EVERY_S = 5
"""Seconds between two changes, of a run that is measured: with 30, it would have to last for minutes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print."""
    given = _arguments(arguments)
    every = ["-o", f"viper.rebalance.interval.secs={EVERY_S}"]
    plans = [
        Candidate({}, "auto", ["--workers", "auto", *every]),
        Candidate({}, f"--workers {given.workers}", ["--workers", str(given.workers)]),
        Candidate({}, "as configured", []),
    ]
    profiler = Warm(command_of(given), given.counted, given.workers, warm_up_s=given.warm_up)
    before = os.getloadavg()[0]
    measured = profiler.measured(plans, given.times, lambda told: print(told, file=sys.stderr, flush=True))
    print(f"load of the machine {before:.1f} before and {os.getloadavg()[0]:.1f} behind")
    rates = [[one.brought / one.elapsed_s for one in measured[number]] for number in range(len(plans))]
    for plan, own in zip(plans, rates, strict=True):
        found, to = interval(own), ratio(rates[0], own)
        around = "" if found is None else f" ({found.low:,.0f} to {found.high:,.0f})"
        told = f"{statistics.median(own):12,.0f} a second{around}"
        print(f"{plan.name:16} {told}; auto is {to.mean:.2f} times as fast")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_target(parser)
    parser.add_argument("--warm-up", type=float, default=20.0, help="seconds that do not count (20)")
    parser.add_argument("--counted", type=float, default=4.0, help="seconds that do (4)")
    parser.add_argument("--times", type=int, default=3, help="rounds (3)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
