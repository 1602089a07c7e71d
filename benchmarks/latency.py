"""Latency under an open loop: how late tuples arrive at a sink that were emitted on a schedule.

A spout emits 20,000 tuples a second into ``forward -> count by key -> sink``. The time runs from
when a tuple was scheduled, not from when it was emitted: who is held up cannot hide it by emitting
later. Each spout is run in one inline worker, and on two process workers that tuples cross between
once (spout and forward here, count and sink there) or at each of the three hops (the default
placement).

    generator  yields None while nothing is due, and is asked again after a pause
    polled     next_tuple returns without an emit, likewise
    blocking   sleeps until the next tuple is due, on a thread of its own (viper.blocking)

    python benchmarks/latency.py [--rate N] [--seconds S] [--par N] [--spout KIND ...]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
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
WIDTHS = (-19, -9, 8, 8, 8, 8, 8)


def once(place: str, spout: str, args: argparse.Namespace) -> dict[str, float]:
    """The percentiles of one run."""
    from pacing import paced
    from running import run_with

    topology = paced(spout, rate=args.rate, seconds=args.seconds, warm_up_s=args.warm_up, par=args.par)
    found: dict[str, float] = run_with(topology, PLACES[place]).result("sink")
    return found


def measure(place: str, spout: str, args: argparse.Namespace) -> dict[str, float]:
    """The percentiles of one run, in a process of its own."""
    numbers = {"rate": args.rate, "seconds": args.seconds, "warm-up": args.warm_up, "par": args.par}
    options = [f"--{name}={number}" for name, number in numbers.items()]
    command = [sys.executable, __file__, "--once", place, "--spout", spout, *options]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(output)
    return found


def main() -> None:
    """Measure, and print the percentiles in microseconds."""
    from running import print_row

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rate", type=float, default=20_000, help="tuples per second (20,000)")
    parser.add_argument("--seconds", type=float, default=12, help="of each measurement (12)")
    parser.add_argument("--warm-up", type=float, default=2, help="seconds before that (2)")
    parser.add_argument("--par", type=int, default=1, help="parallelism of forward and count (1)")
    parser.add_argument("--spout", nargs="+", default=["generator", "polled", "blocking"], help="(all)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    parser.add_argument("--once", metavar="PLACE", help="measure one in this process")
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(args.once, args.spout[0], args)))
        return
    print_row(("place", "spout", "p50 µs", "p99 µs", "p99.9 µs", "max µs", "tuples"), WIDTHS)
    for place in args.place:
        for spout in args.spout:
            found = measure(place, spout, args)
            print_row((place, spout, *(round(number) for number in found.values())), WIDTHS)


if __name__ == "__main__":
    main()
