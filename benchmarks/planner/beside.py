"""The plan that a planner finds beside others, all of them run: is it fast, and is any other one faster?

The others are the plan that a run has without options, the one that ``--workers`` deals out, and one task of
each component inline. The plans of other planners and random ones follow. All are run in turn, round after
round, each run in processes of its own, and are counted after their warm-up and before they are drained. The
profile is made of such runs, too, unless one is given.

The program prints the median rate of each plan's rounds in tuples of spouts a second. It also prints the
interval that has the mean with 95 %, and the rate that the profile predicts. Then it lists the plans that are
faster than the one that was found, so that their intervals are disjoint. At last it prints how many times as
fast as the default that one is, round by round.

With ``--again N`` only the N plans that were the fastest in the first round are run again, beside the one
that was found, the default and that of ``--workers``. So the time goes to plans that may be faster.

    python -m benchmarks.planner.beside [TARGET] [--profile FILE] [--random 30] [--times 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.planner.baselines import PLANNERS
from benchmarks.planner.candidates import DEFAULT, Target, candidates
from benchmarks.planner.rates import Interval, Ratio, interval, ratio
from benchmarks.planner.target_arguments import add_target, command_of, given_target
from benchmarks.planner.warm import Candidate, Warm
from framework.optimizer.costs import Profile
from framework.optimizer.costs.file import ProfileFile, load, save
from framework.optimizer.profiling import Profiler, Sample, deployments


@dataclass(frozen=True)
class Measured:
    """A plan, as predicted and as it ran."""

    plan: Candidate
    predicted: float
    rates: Sequence[float]
    """Tuples of spouts a second, of each round."""

    @property
    def median(self) -> float:
        """Of all rounds."""
        return statistics.median(self.rates)

    @property
    def interval(self) -> Interval | None:
        """The interval of the mean; None after a single round."""
        return interval(self.rates)

    def has_name(self, name: str) -> bool:
        """True if this is one of its names."""
        return name in self.plan.name.split(", ")


def main(arguments: Sequence[str] | None = None) -> None:
    """Profile, plan, measure, and print."""
    given = _arguments(arguments)
    target = given_target(given)
    profiler = Warm(command_of(given), given.counted, given.workers, warm_up_s=given.warm_up)
    profile = _profiled(target, profiler, given) if given.profile is None else load(given.profile).profile
    plans = candidates(target, profile, given.optimizer, given.random, given.seed)
    before = os.getloadavg()[0]
    measured = [
        Measured(plan, target.predicted(profile, plan), rates)
        for plan, rates in zip(plans, raced(profiler, plans, given.times, given.again), strict=True)
    ]
    cores = len(os.sched_getaffinity(0))
    print(f"load of the machine {before:.1f} before and {os.getloadavg()[0]:.1f} behind, on {cores} cores")
    print("\n".join(lines(measured)))
    if given.json is not None:
        given.json.write_text(json.dumps(as_object(given.target, measured), indent=2), encoding="utf-8")


def raced(profiler: Profiler, plans: Sequence[Candidate], times: int, again: int | None) -> list[list[float]]:
    """The rates of all plans, each round, or of some in the first one only.

    Args:
        profiler: measures them.
        plans: the first one is that which was found.
        times: how many rounds.
        again: how many of the fastest are run again, with the first one and those that have arguments of
            their own; None for all.
    """
    found = [rates_of(samples) for samples in profiler.measured(plans, 1, _tell).values()]
    fastest = sorted(range(len(plans)), key=lambda number: -found[number][0])[:again]
    always = [number for number, plan in enumerate(plans) if not number or plan.arguments is not None]
    left = sorted({*fastest, *always})
    if times > 1:
        rest = profiler.measured([plans[number] for number in left], times - 1, _tell)
        for index, number in enumerate(left):
            found[number] += rates_of(rest[index])
    return found


def rates_of(samples: Sequence[Sample]) -> list[float]:
    """Tuples of spouts a second, of each run."""
    return [sample.brought / sample.elapsed_s for sample in samples]


def faster(measured: Sequence[Measured]) -> list[Measured]:
    """Plans whose intervals lie above that of the one that was found, which is the first."""
    own = measured[0].interval
    return [
        one
        for one in measured[1:]
        if own is not None and one.interval is not None and one.interval.is_above(own)
    ]


def to_default(measured: Sequence[Measured]) -> Ratio:
    """Compute how many times as fast as the default the plan is that was found."""
    (default,) = (one for one in measured if one.has_name(DEFAULT))
    return ratio(measured[0].rates, default.rates)


def lines(measured: Sequence[Measured]) -> Iterator[str]:
    """A table, and what comes of it."""
    width = max(len(one.plan.name) for one in measured)
    head = f"{'median/s':>12} {'95 % interval':>27} {'predicted/s':>12}  rounds  tasks by worker"
    yield f"{'plan':{width}} {head}"
    for one in sorted(measured, key=lambda one: -one.median):
        yield (
            f"{one.plan.name:{width}} {one.median:12,.0f} {_bounds(one.interval, '12,.0f'):>27} "
            f"{one.predicted:12,.0f}  {len(one.rates):6}  {_placed(one.plan)}"
        )
    yield ""
    better = faster(measured)
    yield f"faster than the plan that was found: {', '.join(o.plan.name for o in better) or 'none'}"
    told = to_default(measured)
    yield f"times as fast as the default: {told.mean:.3f} {_bounds(told.interval, '.3f')}"


def as_object(target: str, measured: Sequence[Measured]) -> Mapping[str, Any]:
    """The same as values of JSON."""
    told = to_default(measured)
    return {
        "target": target,
        "plans": [
            {
                "names": one.plan.name.split(", "),
                "tasks": one.plan.tasks,
                "arguments": one.plan.arguments,
                "rates": one.rates,
                "median": one.median,
                "interval": _pair(one.interval),
                "predicted": one.predicted,
            }
            for one in measured
        ],
        "faster": [one.plan.name for one in faster(measured)],
        "found_to_default": {"mean": told.mean, "interval": _pair(told.interval)},
    }


def _profiled(target: Target, profiler: Profiler, given: argparse.Namespace) -> Profile:
    plans = deployments(target.shape, target.fixed, given.workers, given.plans, given.seed)
    found = profiler.profile(target.shape, plans, given.runs, _tell).fitted.profile
    if given.save is not None:
        save(given.save, ProfileFile(target.topology.name, found))
    return found


def _pair(bounds: Interval | None) -> list[float] | None:
    return None if bounds is None else [*asdict(bounds).values()]


def _bounds(bounds: Interval | None, form: str) -> str:
    return "" if bounds is None else f"{bounds.low:{form}} to {bounds.high:{form}}"


def _placed(plan: Candidate) -> str:
    return " ".join(f"{name}:{','.join(map(str, places))}" for name, places in plan.tasks.items())


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_target(parser)
    parser.add_argument("--profile", type=Path, help="take this one, instead of making one")
    parser.add_argument("--save", type=Path, help="where the one that is made is written")
    parser.add_argument("--plans", type=int, default=8, help="that are run for the profile (8)")
    parser.add_argument("--runs", type=int, default=2, help="of each of them (2)")
    parser.add_argument("--optimizer", choices=PLANNERS, default="best", help="what finds a plan (best)")
    parser.add_argument("--random", type=int, default=30, help="random plans (30)")
    parser.add_argument("--times", type=int, default=5, help="rounds (5)")
    parser.add_argument("--again", type=int, help="plans that are run in all rounds, see above (all)")
    parser.add_argument("--warm-up", type=float, default=1.0, help="seconds of a run that do not count (1)")
    parser.add_argument("--counted", type=float, default=1.0, help="seconds that do (1)")
    parser.add_argument("--json", type=Path, help="file for all of it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
