"""RLAS beside what its authors compare it with: capacities that are the same everywhere, and first fit.

Prints tables as Markdown: for each application other plans, and RLAS with other compression ratios. Rates are
the model's, whatever the planner that made a plan took to be true. Nothing runs but planners and the model.

    python -m benchmarks.planner.rivals [--sockets 8] [--plans 1000] [--seed 1] [--nodes 200]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.planner.applications import Application, applications
from benchmarks.planner.comparing import in_turns, random_plans
from benchmarks.planner.fixed import always_far, never_far
from framework.optimizer.costs import Deployment
from framework.optimizer.search import Problem, Rlas

RATIOS = (1, 3, 5, 10, 15)
"""The ratios of the paper's table 7."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Plans and prints, application by application."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sockets", type=int, default=8, help="of Server A")
    parser.add_argument("--plans", type=int, default=1_000, help="random plans of each application")
    parser.add_argument("--seed", type=int, default=1, help="of the random plans")
    parser.add_argument("--nodes", type=int, default=200, help="of each search of RLAS")
    options = parser.parse_args(arguments)
    print(f"{options.sockets} sockets, {options.plans} random plans with seed {options.seed}.")
    for application in applications():
        for line in (*_plans(application, options), *_ratios(application, options)):
            print(line, flush=True)


def first_fit(problem: Problem, counts: Mapping[str, int]) -> Deployment:
    """Replicas in the order of the stream, each at the first place with a core left.

    Args:
        problem: what they are of.
        counts: how many each component has; those beyond all cores go to the last place.
    """
    cores = [place for place, of in enumerate(problem.machine.places) for _ in range(of.cores)]
    cores += [len(problem.machine.places) - 1] * (sum(counts.values()) - len(cores))
    left = iter(cores)
    return Deployment({name: tuple(next(left) for _ in range(counts[name])) for name in problem.shape.names})


def _plans(application: Application, options: argparse.Namespace) -> Iterator[str]:
    problem = application.on(options.sockets)
    planner = Rlas(limit=options.nodes)
    found = planner.best(problem).deployment
    own = problem.predicted(found).rate
    others = {
        "RLAS": found,
        "RLAS_fix(L)": planner.best(always_far(problem)).deployment,
        "RLAS_fix(U)": planner.best(never_far(problem)).deployment,
        "first fit": first_fit(problem, {name: found.count(name) for name in problem.shape.names}),
        "round robin": in_turns(problem, found),
    }
    rates = {name: problem.predicted(each).rate for name, each in others.items()}
    drawn = [problem.predicted(each).rate for each in random_plans(problem, options.plans, options.seed)]
    rates[f"best random plan ({sum(rate > own for rate in drawn)} are better than RLAS)"] = max(drawn)
    yield ""
    yield f"**{application.name.capitalize()}**:"
    yield ""
    yield "| plan | thousand results a second | RLAS reaches more by |"
    yield "|---|--:|--:|"
    for name, rate in rates.items():
        yield f"| {name} | {rate * application.results / 1e3:,.0f} | {own / rate - 1:.0%} |"


def _ratios(application: Application, options: argparse.Namespace) -> Iterator[str]:
    yield ""
    yield "| compression ratio | thousand results a second | nodes | seconds |"
    yield "|--:|--:|--:|--:|"
    for ratio in RATIOS:
        began = time.perf_counter()
        found = Rlas(ratio, limit=options.nodes).best(application.on(options.sockets))
        seconds = time.perf_counter() - began
        rate = found.prediction.rate * application.results / 1e3
        yield f"| {ratio} | {rate:,.0f} | {found.considered:,} | {seconds:.1f} |"


if __name__ == "__main__":
    main()
