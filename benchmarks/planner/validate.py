"""The accuracy of a profile's predictions for plans that it was not fitted to.

A profile is fitted to some plans, as ``viper profile`` does. Then others are run, all of them in turn, and
the medians of their runs are compared with the predictions: processor time for each tuple of a spout at the
busiest worker, and tuples a second. The same is printed of a profile without a term for runs. At last the
lengths of runs are compared, which the model derives from groupings and numbers of tasks alone.

Tuples a second are those of whole runs, their start included. With ``--warm-up S`` all runs, also those that
the profile is fitted to, are counted after their first S seconds, for ``--seconds``, and their input has to
last as long. Rates can only be compared on a machine that does nothing else. So the load of the machine is
printed too: if it is above the number of cores, that comparison means nothing.

With ``--alone`` each component is run alone first. Then profiles that are fitted to the first plan, to two,
to four and to all of them are compared, with that as their first guess and without it.

    python -m benchmarks.planner.validate [TARGET] [--plans 8] [--others 10] [--warm-up S] [--alone]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from benchmarks.planner.candidates import Target
from benchmarks.planner.target_arguments import add_target, command_of, given_target
from benchmarks.planner.warm import Warm
from framework.model.topology import Topology
from framework.optimizer.costs import Deployment, Profile, Shape
from framework.optimizer.profiling import Profiler, Sample, deployments, fit, machine_of
from framework.optimizer.profiling.accuracy import Comparison, compared, percentile
from framework.optimizer.profiling.alone import OF_PARTS, Alone
from framework.planning import Plan

FEW = (1, 2, 4)
"""Plans that profiles are fitted to where it is asked what a first guess is good for."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, compare, and print."""
    given = _arguments(arguments)
    target = given_target(given)
    shape = target.shape
    plans = deployments(shape, target.fixed, given.workers, given.plans + given.others, given.seed)
    how = command_of(given), given.seconds, given.workers
    profiler = Profiler(*how) if given.warm_up is None else Warm(*how, warm_up_s=given.warm_up)
    before = os.getloadavg()[0]
    print(f"seed {given.seed}; {given.plans} plans to fit, {len(plans) - given.plans} others", flush=True)
    guess = _alone(target, given).guess(plans[0], _tell) if given.alone else None
    known = profiler.measured(plans[: given.plans], given.runs, _tell)
    others = profiler.measured(plans[given.plans :], given.times, _tell)
    samples = [sample for of_plan in known.values() for sample in of_plan]
    with_runs = _compared(shape, fit(shape, samples).profile, given.workers, plans[given.plans :], others)
    profile = fit(shape, samples, with_runs=False).profile
    without = _compared(shape, profile, given.workers, plans[given.plans :], others)
    cores = len(os.sched_getaffinity(0))
    print(f"load of the machine {before:.1f} before and {os.getloadavg()[0]:.1f} behind, on {cores} cores")
    _print_errors("with a term for runs", with_runs)
    _print_errors("without it", without)
    if guess is not None:
        for count in sorted({min(few, given.plans) for few in (*FEW, given.plans)}):
            some = [sample for number in range(count) for sample in known[number]]
            for name, first in (("no guess", None), ("alone first", guess)):
                found = fit(shape, some, guess=first).profile
                errors = _compared(shape, found, given.workers, plans[given.plans :], others)
                _print_errors(f"{count} plans, {name}", errors)
    _print_plans(plans[given.plans :], with_runs)
    _print_lengths(with_runs)


def _alone(target: Target, given: argparse.Namespace) -> Alone:
    """Make the measurement of a target's components one by one."""
    options = {**target.options, **OF_PARTS}
    part = [text for key, value in options.items() for text in ("-o", f"{key}={json.dumps(value)}")]
    whole = Profiler(command_of(given), given.seconds, given.workers)

    def planned(topology: Topology) -> Plan:
        return Target(topology, options, given.workers).plan()

    return Alone(target.topology, whole, part, planned)


def _compared(
    shape: Shape,
    profile: Profile,
    workers: int,
    plans: Sequence[Deployment],
    samples: dict[int, list[Sample]],
) -> list[Comparison]:
    machine = machine_of(workers)
    return [compared(shape, profile, machine, plan, samples[number]) for number, plan in enumerate(plans)]


def _print_errors(name: str, found: Sequence[Comparison]) -> None:
    for what, errors in (
        ("processor time of the busiest worker", [one.load_error for one in found]),
        ("tuples a second", [one.rate_error for one in found]),
    ):
        middle, high = percentile(errors, 0.5), percentile(errors, 0.9)
        print(
            f"{name:22} {what:38} median {middle:5.1%}  90th percentile {high:5.1%}  worst {max(errors):5.1%}"
        )


def _print_plans(plans: Sequence[Deployment], found: Sequence[Comparison]) -> None:
    print("\nplan (places of tasks)  ns a tuple, predicted and measured; tuples a second, likewise")
    for plan, one in zip(plans, found, strict=True):
        placed = " ".join(f"{name}:{','.join(map(str, places))}" for name, places in plan.tasks.items())
        print(
            f"{placed:58} {one.predicted_ns:9,.0f} {one.measured_ns:9,.0f} "
            f"{one.predicted_rate:9,.0f} {one.measured_rate:9,.0f}"
        )


def _print_lengths(found: Sequence[Comparison]) -> None:
    print("\nlengths of runs, predicted and measured, by consumer")
    for one in found:
        for name, (predicted, measured) in one.lengths.items():
            print(f"{name:12} {predicted:8.2f} {measured:8.2f}")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_target(parser)
    for name, value in (("plans", 8), ("others", 10), ("runs", 3), ("times", 5)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a run, behind its warm-up (3)")
    parser.add_argument("--warm-up", type=float, help="seconds that do not count; else whole runs do")
    parser.add_argument("--alone", action="store_true", help="ask what components alone are good for")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
