"""TPCx-BB's queries from end to end: rows a second and CPU time of each, by place and configuration.

Rows are drawn before time counts. Each run is in a fresh process, all of them in turn, and the best of all
rounds is shown. All runs of a query must give the same answers. Each --conf is one configuration: texts
KEY=VALUE that are separated by blanks.

    python benchmarks/tpcx_bb.py [--query q1 ...] [--place NAME ...] [--tasks N] [--rows N] [--skew X]
        [--rounds N] [--conf "KEY=VALUE ..." ...]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

from parametric import PLACES, values_of
from running import print_row, run_with

from framework.operators.sinks import CollectingSink

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
WIDTHS = (-5, -12, 9, 10, 10, 8, -10)


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
        "answers": len(answers),
        "digest": hashlib.sha256(repr(answers).encode()).hexdigest(),
    }


def measured(query: str, place: str, conf: str, args: argparse.Namespace) -> dict[str, Any]:
    """One run in a process of its own."""
    numbers = {"tasks": args.tasks, "rows": args.rows, "skew": args.skew, "seed": args.seed}
    options = [f"--{name}={number}" for name, number in numbers.items()]
    command = [sys.executable, __file__, "--once", query, place, conf, *options]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main() -> None:
    """Measure all of them in turn, and print a table."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--query", nargs="+", choices=INPUTS, default=list(INPUTS), help="(all)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--conf", nargs="+", default=[""], help='configurations, each "KEY=VALUE ..."')
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
    print_row(("query", "place", "rows", "rows/s", "CPU us/row", "answers", "conf"), WIDTHS)
    for query in args.query:
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for _ in range(args.rounds):
            for way in product(args.place, args.conf):
                found.setdefault(way, []).append(measured(query, *way, args))
        if len({run["digest"] for runs in found.values() for run in runs}) != 1:
            sys.exit(f"the runs of {query} differ in their answers")
        for (place, conf), runs in found.items():
            best = min(runs, key=lambda run: run["elapsed_s"])
            cpu_us = min(run["cpu_s"] for run in runs) * 1e6 / args.rows
            rate = round(args.rows / best["elapsed_s"])
            print_row((query, place, args.rows, rate, f"{cpu_us:.1f}", best["answers"], conf or "-"), WIDTHS)


if __name__ == "__main__":
    main()
