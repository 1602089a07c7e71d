"""TPCx-BB's queries from end to end: rows a second and CPU time of each, by place and configuration.

Rows are drawn before time counts. Each run is in a fresh process, all of them in turn, and the best of all
rounds is shown. The ratio is that of rates to the first configuration in the same place, the median over the
rounds. Beside it stands the ratio of rows a CPU second, which another program's work changes less. All runs
of a query must give the same answers. Each --conf is one configuration: texts KEY=VALUE that are separated by
blanks. --policy runs each of them with each of several policies (`viper.scheduling`).

    python benchmarks/tpcx_bb.py [--query q1 ...] [--place NAME ...] [--tasks N] [--rows N] [--skew X]
        [--rounds N] [--conf "KEY=VALUE ..." ...] [--policy downstream ct ...]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from parametric import PLACES, values_of
from running import print_row, run_with

from framework.model.config.keys import SCHEDULING
from framework.operators.sinks import CollectingSink
from framework.runtime.report import RunReport

sys.path.insert(0, str(Path(__file__).parent.parent / "topologies"))

import tpcx_bb_builder
from tpcx_bb.spouts import Clicks, Sales

INPUTS: dict[str, tuple[Any, dict[str, float]]] = {
    "q1": (Sales, {"days": 0.25}),
    "q2": (Clicks, {"days": 3.0}),
    "q3": (Clicks, {"days": 3.0}),
    "q4": (Clicks, {"days": 3.0}),
    "q15": (Sales, {"days": 370.0}),
}
"""The spout of each query, and what it draws."""
WIDTHS = (-5, -12, 9, 10, 6, 6, 10, 8, -10)


def once(query: str, place: str, conf: str, args: argparse.Namespace) -> dict[str, Any]:
    """One run in this process: seconds, CPU seconds, and a digest of its answers."""
    spout, given = INPUTS[query]
    rows = spout(args.rows, args.seed, args.tasks, {**given, "skew": args.skew}, held=True)
    built = getattr(tpcx_bb_builder, query)(rows, CollectingSink, args.tasks).build(query)
    report = run_with(built, {**PLACES[place], **values_of(conf.split())})
    answers = [tuple(row) for row in report.result("answers")]
    return {
        "elapsed_s": report.elapsed_s,
        "cpu_s": sum(executor.cpu_s for executor in report.statistics.executors),
        "components": costs_of(report),
        "answers": len(answers),
        "digest": hashlib.sha256(repr(answers).encode()).hexdigest(),
    }


def costs_of(report: RunReport) -> dict[str, tuple[float, int, int]]:
    """By component its CPU seconds, and the tuples that it has received and emitted."""
    found: dict[str, tuple[float, int, int]] = {}
    for task in report.statistics.tasks:
        cpu_s, received, emitted = found.get(task.component, (0.0, 0, 0))
        sent = sum(task.emitted.values())
        found[task.component] = cpu_s + task.cpu_s, received + task.tuples_in, emitted + sent
    return found


def measured(query: str, place: str, conf: str, args: argparse.Namespace) -> dict[str, Any]:
    """One run in a process of its own."""
    numbers = {"tasks": args.tasks, "rows": args.rows, "skew": args.skew, "seed": args.seed}
    options = [f"--{name}={number}" for name, number in numbers.items()]
    command = [sys.executable, __file__, "--once", query, place, conf, *options]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def ratio(first: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]], key: str) -> float:
    """The median, over the rounds, of the seconds of other runs by those of these."""
    return statistics.median(one[key] / run[key] for one, run in zip(first, runs, strict=True))


def main() -> None:
    """Measure all of them in turn, and print a table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--query", nargs="+", choices=INPUTS, default=list(INPUTS), help="(all)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--conf", nargs="+", default=[""], help='configurations, each "KEY=VALUE ..."')
    parser.add_argument("--policy", nargs="+", choices=SCHEDULING, default=[], help="(as configured)")
    parser.add_argument("--tasks", type=int, default=2, help="of each component, and injectors (2)")
    parser.add_argument("--rows", type=int, default=100_000, help="of each run (100,000)")
    parser.add_argument("--skew", type=float, default=0.8, help="the exponent of Zipf's law (0.8)")
    parser.add_argument("--seed", type=int, default=1, help="of the rows (1)")
    parser.add_argument("--rounds", type=int, default=3, help="(3)")
    parser.add_argument("--once", nargs=3, metavar=("QUERY", "PLACE", "CONF"), help="one, as JSON")
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(*args.once, args)))
        return
    policies = [f"viper.scheduling={policy}" for policy in args.policy] or [""]
    confs = [" ".join(filter(None, pair)) for pair in product(args.conf, policies)]
    head = ("query", "place", "rows", "rows/s", "ratio", "by CPU", "CPU us/row", "answers", "conf")
    print_row(head, WIDTHS)
    for query in args.query:
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for _ in range(args.rounds):
            for way in product(args.place, confs):
                found.setdefault(way, []).append(measured(query, *way, args))
        if len({run["digest"] for runs in found.values() for run in runs}) != 1:
            sys.exit(f"the runs of {query} differ in their answers")
        for (place, conf), runs in found.items():
            best = min(runs, key=lambda run: run["elapsed_s"])
            cpu_us = min(run["cpu_s"] for run in runs) * 1e6 / args.rows
            rate = round(args.rows / best["elapsed_s"])
            first = found[place, confs[0]]
            ratios = (ratio(first, runs, key) for key in ("elapsed_s", "cpu_s"))
            cells = *(f"{each:.2f}" for each in ratios), f"{cpu_us:.1f}", best["answers"], conf or "-"
            print_row((query, place, args.rows, rate, *cells), WIDTHS)


if __name__ == "__main__":
    main()
