"""Latency under an open loop: how late tuples arrive at a sink that were emitted on a schedule.

A spout emits 20,000 tuples a second into ``forward -> count by key -> sink``. The time runs from when a tuple
was scheduled, not from when it was emitted: a spout that is held up cannot hide it by emitting later. Each
spout is run in one inline worker, and on two process workers. Tuples cross between these once (spout and
forward here, count and sink there) or at each of the three hops (the default placement).

    due        says when the next one is due, and sleeps until then
    generator  yields None while nothing is due, and is asked again after a pause
    polled     next_tuple returns without an emit, likewise
    blocking   sleeps until the next tuple is due, on a thread of its own (viper.blocking)

The last figure is the CPU time of the process that was started, start and warm-up included, for each tuple.

With `--recovery best exact` spouts say where they are, counts are declared state, and each line is measured
under both; spouts that block are left out. With `--tree` it is measured with the code of other folders in
turn.

    python benchmarks/latency.py [--rate N] [--seconds S] [--par N] [--spout KIND ...]
                                 [--recovery best exact] [--tree FOLDER ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import product
from typing import Any

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper.worker": "inline"},
    "2 processes, 1 hop": {
        "viper.worker": "process",
        "topology.workers": 2,
        "viper.placement": {"spout": 1, "forward": 1, "count": 2, "sink": 2},
    },
    "2 processes, 3 hops": {"viper.worker": "process", "topology.workers": 2},
}
WIDTHS = (-19, -9, -8, 8, 8, 8, 8, 8, 8, -4)


def once(place: str, spout: str, args: argparse.Namespace) -> dict[str, float]:
    """The percentiles of one run."""
    from running import run_with

    options = dict(PLACES[place])
    if args.recoverable:
        from recoverable import paced

        options["viper.recovery"] = args.recovery[0]
    else:
        from pacing import paced
    topology = paced(spout, rate=args.rate, seconds=args.seconds, warm_up_s=args.warm_up, par=args.par)
    before_s = time.process_time()
    found: dict[str, float] = run_with(topology, options).result("sink")
    used_s = time.process_time() - before_s
    return {**found, "cpu": 1e6 * used_s / (args.rate * (args.seconds + args.warm_up))}


def measure(place: str, spout: str, recovery: str, tree: str, args: argparse.Namespace) -> dict[str, float]:
    """The percentiles of one run, in a process of its own."""
    from running import code_of

    numbers = {"rate": args.rate, "seconds": args.seconds, "warm-up": args.warm_up, "par": args.par}
    options = [f"--{name}={number}" for name, number in numbers.items()]
    options += ["--recovery", recovery, *(["--recoverable"] if "exact" in args.recovery else [])]
    command = [sys.executable, __file__, "--once", place, "--spout", spout, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=code_of(tree))
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, and print the percentiles in microseconds."""
    from running import print_row

    spouts = ["due", "generator", "polled", "blocking"]
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rate", type=float, default=20_000, help="tuples per second (20,000)")
    parser.add_argument("--seconds", type=float, default=12, help="of each measurement (12)")
    parser.add_argument("--warm-up", type=float, default=2, help="seconds before that (2)")
    parser.add_argument("--par", type=int, default=1, help="parallelism of forward and count (1)")
    parser.add_argument("--spout", nargs="+", choices=spouts, default=spouts, help="(all)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--recovery", nargs="+", choices=["best", "exact"], default=["best"], help="(best)")
    parser.add_argument("--tree", nargs="+", default=[""], help="folders of code (that of this run)")
    parser.add_argument("--once", metavar="PLACE", help="measure one in this process")
    parser.add_argument("--recoverable", action="store_true", help="with state that can be recovered")
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(args.once, args.spout[0], args)))
        return
    if "exact" in args.recovery:
        args.spout = [spout for spout in args.spout if spout != "blocking"]
    figures = ("p50 µs", "p99 µs", "p99.9 µs", "max µs", "tuples", "CPU µs")
    print_row(("place", "spout", "recovery", *figures, "code"), WIDTHS)
    for place, spout, recovery, tree in product(args.place, args.spout, args.recovery, args.tree):
        found = measure(place, spout, recovery, tree, args)
        rounded = (round(number) for number in found.values())
        print_row((place, spout, recovery, *rounded, tree or "here"), WIDTHS)


if __name__ == "__main__":
    main()
