"""The exact search beside all other planners, on drawn problems that it can solve.

Each problem has a spout, five bolts of up to four tasks each, and a sink: 22 executors at most, on four
workers. Prints a table as Markdown. Times are processor times, so other work on the machine hardly matters.
Nothing runs but planners and the model.

    python -m benchmarks.planner.exact [--problems 30] [--nodes 2000] [--processes 2]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from multiprocessing import Pool
from statistics import geometric_mean, median

from benchmarks.planner.baselines import FirstFit, Random, RoundRobin
from benchmarks.planner.comparing import SEARCHES
from framework.optimizer.costs import ComponentCost, Flow, Machine, Node, Profile, Shape, Spread, StreamCost
from framework.optimizer.search import Exact, Local, Optimizer, Problem, Rlas, TooLarge

WORKERS = 4
BOLTS = 5
MOST_TASKS = 4
EXECUTORS = 2 + BOLTS * MOST_TASKS
SLOW_S = 2.0

Outcome = tuple[float, float, int]
"""Rate, seconds of processor time, and nodes; the rate of what was given up is 0."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Plans all problems with all planners, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--problems", type=int, default=30, help="with the seeds from 0 on")
    parser.add_argument("--nodes", type=int, default=2_000, help="of each search of RLAS")
    parser.add_argument("--processes", type=int, default=2, help="that plan at the same time")
    options = parser.parse_args(arguments)
    print(f"Seeds 0 to {options.problems - 1}; {options.nodes} nodes for each search of RLAS.")
    with Pool(options.processes) as pool:
        found = pool.map(partial(outcomes, nodes=options.nodes), range(options.problems), chunksize=1)
    for line in _lines(found):
        print(line)


def drawn(seed: int) -> Problem:
    """A topology without cycles, with drawn numbers of tasks, groupings and costs.

    Args:
        seed: of all that is drawn.
    """
    draw = random.Random(seed)
    bolts = [Node(f"c{at}", False, draw.randint(1, MOST_TASKS)) for at in range(1, BOLTS + 1)]
    nodes = (Node("c0", True, 1), *bolts, Node(f"c{BOLTS + 1}", False, 1))
    flows = tuple(
        Flow(f"c{source}", "s", node.name, draw.choice((Spread.TURNS, Spread.KEYS)), draw.choice((1, 8)))
        for at, node in enumerate(nodes)
        for source in draw.sample(range(at), min(at, draw.randint(1, 2)))
    )
    costs = {node.name: _drawn_cost(draw) for node in nodes}
    profile = Profile(costs, run_ns=draw.uniform(0, 800), jumbo_ns=draw.uniform(0, 4000), jumbo_tuples=500.0)
    return Problem(Shape(nodes, flows), profile, Machine.of_workers(WORKERS, WORKERS))


def outcomes(seed: int, nodes: int) -> dict[str, Outcome]:
    """Compute the outcome of each planner on one problem, by its name in the table.

    Args:
        seed: of the problem.
        nodes: of each search of RLAS.
    """
    problem = drawn(seed)
    return {name: _outcome(planner, problem) for name, planner in _planners(nodes).items()}


def _drawn_cost(draw: random.Random) -> ComponentCost:
    stream = StreamCost(
        draw.choice((0.1, 1.0, 5.0)),
        size=draw.randint(8, 300),
        ns=draw.uniform(0, 50),
        encode_ns=draw.uniform(0, 300),
        decode_ns=draw.uniform(0, 300),
    )
    return ComponentCost(draw.uniform(50, 3000), {"s": stream})


def _planners(nodes: int) -> dict[str, Optimizer]:
    rlas = {f"RLAS, {name}": Rlas(1, heuristics, nodes) for name, heuristics in SEARCHES.items()}
    return {
        "exact": Exact(),
        "local": Local(),
        **rlas,
        # Otherwise it stops at a replica for each core, and there are more components than cores.
        f"RLAS, all, up to {EXECUTORS} replicas": Rlas(1, limit=nodes, replicas=EXECUTORS),
        "round robin": RoundRobin(),
        "first fit": FirstFit(),
        "random, best of 100": Random(),
    }


def _outcome(planner: Optimizer, problem: Problem) -> Outcome:
    began = time.process_time()
    try:
        found = planner.best(problem)
    except TooLarge:
        return 0.0, time.process_time() - began, 0
    return found.prediction.rate, time.process_time() - began, found.considered


def _lines(found: Sequence[Mapping[str, Outcome]]) -> Iterator[str]:
    solved = [each for each in found if each["exact"][0]]
    slow = [seed for seed, each in enumerate(found) if each["exact"][1] > SLOW_S]
    given_up = [seed for seed, each in enumerate(found) if not each["exact"][0]]
    yield f"Exact: over {SLOW_S:g} s with seeds {slow or 'none'}, given up with seeds {given_up or 'none'}."
    yield ""
    yield "| planner | rate, mean | worst | seconds, median | worst | nodes, median | worst |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name in found[0]:
        rates = [each[name][0] / each["exact"][0] for each in solved]
        seconds = [each[name][1] for each in found]
        nodes = [each[name][2] for each in solved]
        yield (
            f"| {name} | {geometric_mean(rates):.1%} | {min(rates):.1%} | {median(seconds):.3f} "
            f"| {max(seconds):.3f} | {median(nodes):,.0f} | {max(nodes):,} |"
        )


if __name__ == "__main__":
    main()
