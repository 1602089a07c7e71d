"""TPCx-BB's queries on as many cores as one likes: a simulation of a paper's runtime with each heuristic.

The paper is on ordered data parallelism; `simulated_cores.py` names it, and simulates its runtime. Costs and
selectivities of operators are measured here in one run of each query, in one thread. The partitions of tuples
are those of their keys in a run. The cost of a choice, of an input taken and of an output passed on are
assumed; see --ask, --take and --order. Rows come as fast as the cores could process them at best, or --load
times as fast.

    python benchmarks/scheduling.py [--query q1 ...] [--cores N ...] [--policy ct ...] [--rows N] [--faster X]

It prints the rows a second that are ideal and those of each heuristic, and the mean latency in ms. The policy
`letter` is `ct` with its formula as it is printed, which divides by the operator's own selectivity, too. With
--faster, operators are so many times as fast as in Python, as those of the paper are in C++. With --check,
rates of runs on one and two cores stand beside what is simulated with the costs of the run. There, spout and
sink are operators, too, as these take part of the cores. A rate by CPU is that of cores without any rest,
whatever else the machine does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from running import output_of, print_row
from simulated_cores import Machine, Simulation, Stage, ideal_rate

from framework.model.topology import GroupingKind, Topology
from framework.operators.sinks import CollectingSink
from framework.runtime.execution.heuristics import HEURISTICS, Heuristic, Pipeline, throughput
from framework.testing import run_topology
from viper.hashing import stable_hash

sys.path.insert(0, str(Path(__file__).parent.parent / "topologies"))

import tpcx_bb_builder

QUERIES = ("q1", "q2", "q3", "q4", "q15")
SCRIPT = str(Path(__file__).parent / "tpcx_bb.py")
PARTITIONS = 100
"""Of operators with state by key, as in the paper."""
SAMPLE_ROWS = 20_000
"""Rows whose keys are looked at."""
ENDS = ("rows", "answers")
"""The spout and the sink of each query."""


def by_the_letter(schedulable: Sequence[Any], pipeline: Pipeline) -> Any:
    """CT with the cs of the operator itself, as the formula is printed."""
    return min(schedulable, key=lambda one: throughput(one, pipeline) * one.entering / one.cumulative)


POLICIES: Mapping[str, Heuristic[Any]] = {**HEURISTICS, "letter": by_the_letter}


def measured(query: str, place: str, tasks: int, args: argparse.Namespace) -> Mapping[str, Any]:
    """One run, in a process of its own: its seconds, and what its components have cost."""
    given = [f"--rows={args.measured_rows}", f"--tasks={tasks}"]
    found: Mapping[str, Any] = output_of(SCRIPT, "--once", query, place, "", *given)
    return found


def best(query: str, place: str, tasks: int, args: argparse.Namespace) -> Mapping[str, Any]:
    """The fastest of several runs."""
    runs = (measured(query, place, tasks, args) for _ in range(args.rounds))
    return min(runs, key=lambda run: float(run["elapsed_s"]))


def stages_of(query: str, costs: Mapping[str, Sequence[float]], faster: float) -> list[Stage]:
    """The operators of a query, its spout and its sink, in order.

    Args:
        query: its name.
        costs: by component its CPU seconds, and the tuples that it has received and emitted.
        faster: the times by which operators are faster.
    """
    builder = getattr(tpcx_bb_builder, query)(sink=CollectingSink, tasks=1)
    ran = run_topology(builder, max_tuples=SAMPLE_ROWS, timeout_s=600)
    topology: Topology = builder.build(query)
    found = []
    before = ENDS[0]
    for component in topology.components:
        cpu_s, received, emitted = costs[component.id]
        if component.id == ENDS[0]:
            found.append(Stage(component.id, cpu_s / emitted / faster))
            continue
        ((source, grouping),) = ((one.source, one.grouping) for one in component.inputs)
        assert source == before, f"{query} is no pipeline: {component.id} reads from {source}"
        most, partitions = inf, []
        if grouping.kind is GroupingKind.FIELDS:
            fields = topology.component(source).stream("default").fields
            indexes = [fields.index(name) for name in grouping.names]
            keys = ([row[index] for index in indexes] for row in ran.emitted(source))
            partitions = [stable_hash(tuple(key)) % PARTITIONS for key in keys]
            most = PARTITIONS
        elif grouping.kind is GroupingKind.GLOBAL:
            most = 1
        selectivity = emitted / received if received else 0.0
        cost_s = cpu_s / max(received, 1) / faster
        found.append(Stage(component.id, cost_s, selectivity, most, partitions))
        before = component.id
    return found


def lines(query: str, stages: Sequence[Stage], args: argparse.Namespace) -> None:
    """Print a line for each number of cores."""
    for cores in args.cores:
        machine, ideal = machine_of(cores, args), ideal_rate(stages, cores)
        outcomes = [
            Simulation(stages, POLICIES[policy], machine, args.rows, args.load * ideal).run()
            for policy in args.policy
        ]
        rates = [f"{one.rate / 1e3:,.0f}" for one in outcomes]
        late = [f"{one.latency_s * 1e3:,.1f}" for one in outcomes]
        print_row((query, cores, f"{ideal / 1e3:,.0f}", *rates, *late), widths_of(args))


def check(query: str, args: argparse.Namespace) -> None:
    """Print the rates of runs on one and two cores beside those that are simulated with their costs."""
    for cores, place in ((1, "inline"), (2, "2 processes")):
        ran = best(query, place, cores, args)
        stages = stages_of(query, ran["components"], 1.0)
        alike = [replace(one, most=inf, partitions=()) if one.name in ENDS else one for one in stages]
        rate = Simulation(alike, HEURISTICS["ct"], machine_of(cores, args), args.rows).run().rate
        by_cpu, by_clock = (
            args.measured_rows * n / ran[key] for n, key in ((cores, "cpu_s"), (1, "elapsed_s"))
        )
        rates = [round(each) for each in (rate, by_cpu, by_clock)]
        print_row((query, cores, place, *rates, f"{rate / by_cpu:.2f}", f"{rate / by_clock:.2f}"), CHECKED)


def machine_of(cores: int, args: argparse.Namespace) -> Machine:
    """The machine with so many cores."""
    return Machine(cores, args.slice / 1e6, args.ask / 1e6, args.take / 1e6, args.order / 1e6)


CHECKED = (-5, 5, -11, 10, 10, 10, 6, 8)


def widths_of(args: argparse.Namespace) -> Sequence[int]:
    """The widths of the columns."""
    return (-5, 5, 8, *[8] * len(args.policy), *[8] * len(args.policy))


def main() -> None:
    """Measure each query, simulate, and print tables."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--query", nargs="+", choices=QUERIES, default=list(QUERIES), help="(all)")
    parser.add_argument("--cores", nargs="+", type=int, default=[1, 2, 4, 8, 12, 16], help="(1 to 16)")
    parser.add_argument("--policy", nargs="+", choices=POLICIES, default=list(HEURISTICS), help="(all)")
    parser.add_argument("--rows", type=int, default=40_000, help="of each simulation (40,000)")
    parser.add_argument("--measured-rows", type=int, default=100_000, help="of each run (100,000)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of which the fastest counts (3)")
    parser.add_argument("--faster", type=float, default=1.0, help="operators than here (1)")
    parser.add_argument("--load", type=float, default=1.0, help="rows that come, times the ideal rate (1)")
    parser.add_argument("--slice", type=float, default=500.0, help="us of a slice (500)")
    parser.add_argument("--ask", type=float, default=1.0, help="us of a choice (1)")
    parser.add_argument("--take", type=float, default=0.05, help="us to take an input (0.05)")
    parser.add_argument("--order", type=float, default=0.05, help="us to pass on an input's outputs (0.05)")
    parser.add_argument("--check", action="store_true", help="the simulation by runs on one and two cores")
    args = parser.parse_args()
    if args.check:
        print_row(
            ("query", "cores", "place", "simulated", "by CPU", "by clock", "ratio", "by clock"), CHECKED
        )
        for query in args.query:
            check(query, args)
        return
    names = [*args.policy, *(f"{policy} ms" for policy in args.policy)]
    print_row(("query", "cores", "ideal k/s", *names), widths_of(args))
    for query in args.query:
        stages = stages_of(query, best(query, "inline", 1, args)["components"], args.faster)
        lines(query, [stage for stage in stages if stage.name not in ENDS], args)


if __name__ == "__main__":
    main()
