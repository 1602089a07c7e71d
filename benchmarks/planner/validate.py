"""How far predictions are from plans that no profile was fitted to.

A topology is profiled, and then runs in other plans, which are drawn, in turn and several times each. For
each of these the processor time of the busiest worker and the throughput, both medians of its runs, are
compared with the model's, with and without the cost of runs; so are the lengths of runs. Nothing else should
run meanwhile: processor time stands that to some degree, throughput does not.

    python -m benchmarks.planner.validate TOPOLOGY [--plans N] [--fitted N] [--rounds N] [--seconds S]
        [--workers N] [-o KEY=VALUE ...]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Iterator, Sequence

from benchmarks.running import print_row
from framework.config import parse_option, resolve
from framework.costs import Deployment, Machine, Profile, Shape, predict
from framework.loading import load
from framework.planning import make_plan
from framework.profiling import Profiler, Sample, deployments, fit, fixed_tasks, machine_of, shape_of
from framework.profiling.plans import drawn


def others(
    shape: Shape, fixed: dict[str, int], known: Sequence[Deployment], args: argparse.Namespace
) -> Iterator[Deployment]:
    """Plans that are not among those of the profile."""
    seen, draw = {plan.key() for plan in known}, random.Random(77)
    tries = 0
    while len(seen) < len(known) + args.plans and tries < 1000:
        tries += 1
        plan = drawn(shape, fixed, args.workers, draw)
        if plan.key() not in seen:
            seen.add(plan.key())
            yield plan


def errors(
    shape: Shape, profile: Profile, machine: Machine, plan: Deployment, samples: Sequence[Sample]
) -> tuple[float, float]:
    """Of the busiest worker's time for each tuple, and of throughput, relative."""
    told = predict(shape, profile, machine, plan)
    busiest = statistics.median(max(sample.loads_ns().values()) for sample in samples)
    rate = statistics.median(sample.brought / sample.elapsed_s for sample in samples)
    return max(told.loads.values()) / busiest - 1, told.rate / rate - 1


def lengths(
    shape: Shape, profile: Profile, machine: Machine, plan: Deployment, samples: Sequence[Sample]
) -> Iterator[float]:
    """Errors of the predicted lengths of runs, by consumer with one flow of several sources."""
    told = predict(shape, profile, machine, plan)
    for name, measured in samples[0].lengths.items():
        flows = shape.into[name]
        if len(flows) == 1 and measured:
            yield told.runs[flows[0]] / measured - 1


def summary(name: str, found: Sequence[float]) -> None:
    """Print the median and the 90th percentile of the errors' sizes."""
    sizes = sorted(map(abs, found))
    if sizes:
        at = min(int(len(sizes) * 0.9), len(sizes) - 1)
        print_row((name, f"{statistics.median(sizes):.1%}", f"{sizes[at]:.1%}", len(sizes)), (-34, 8, 8, 5))


def validate(args: argparse.Namespace) -> None:
    """Profile, run the other plans, and print a line for each of them and for all."""
    loaded = load(args.target)
    assert loaded.topology is not None, loaded.problems
    settings, problems = resolve(loaded.topology, options=dict(map(parse_option, args.option)))
    assert not problems, problems
    plan = make_plan(loaded.topology, settings)
    shape, fixed, machine = shape_of(plan, args.workers), fixed_tasks(plan), machine_of(args.workers)
    given = [text for option in args.option for text in ("-o", option)]
    profiler = Profiler(["run", args.target, *given], args.seconds, args.workers)
    known = deployments(shape, fixed, args.workers, args.fitted, seed=1)
    found = profiler.profile(shape, known, args.rounds, lambda told: print(told, file=sys.stderr))
    without = fit(shape, [s for of in found.samples.values() for s in of], with_runs=False).profile
    plans = list(others(shape, fixed, known, args))
    samples: list[list[Sample]] = [[] for _ in plans]
    for _ in range(args.rounds):
        for number, one in enumerate(plans):
            samples[number].append(profiler.measure(one))
    with_runs = [
        errors(shape, found.fitted.profile, machine, p, s) for p, s in zip(plans, samples, strict=True)
    ]
    for one, (cpu, rate) in zip(plans, with_runs, strict=True):
        print_row((f"{cpu:+.1%}", f"{rate:+.1%}", str(dict(one.tasks))), (8, 8, -70))
    print_row((args.target, "median", "90th", "plans"), (-34, 8, 8, 5))
    summary("time of the busiest worker", [cpu for cpu, _ in with_runs])
    summary("throughput", [rate for _, rate in with_runs])
    blind = [errors(shape, without, machine, p, s) for p, s in zip(plans, samples, strict=True)]
    summary("time, without the cost of runs", [cpu for cpu, _ in blind])
    profile = found.fitted.profile
    summary(
        "lengths of runs",
        [e for p, s in zip(plans, samples, strict=True) for e in lengths(shape, profile, machine, p, s)],
    )


def main() -> None:
    """Validate what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target")
    parser.add_argument("--plans", type=int, default=12, help="that are predicted (12)")
    parser.add_argument("--fitted", type=int, default=8, help="of the profile (8)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a run at most (5)")
    parser.add_argument("--workers", type=int, default=2, help="of plans at most (2)")
    parser.add_argument("-o", "--option", action="append", default=[], help="KEY=VALUE of the configuration")
    validate(parser.parse_args())


if __name__ == "__main__":
    main()
