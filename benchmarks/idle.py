"""The cost of a topology in which nothing happens: seconds of CPU per second, of all its processes.

``spout -> two tasks -> two tasks, by key -> sink`` with a spout that has nothing to say, by the
pauses to which it has grown used. It is measured from outside, after it has settled; the parent of worker
processes counts, too.

    due        says that it has something again in an hour
    generator  yields None
    polled     next_tuple returns without an emit
    blocking   waits a second for something that does not come, on a thread of its own

With `--recovery best exact` spouts say where they are, and each line is measured under both; spouts that
block are left out. With `--tree` each is measured with the code of other folders in turn.

    python benchmarks/idle.py [--seconds S] [--settle S] [--place PLACE ...] [--spout KIND ...]
                              [--recovery best exact] [--tree FOLDER ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from itertools import product
from typing import Any

PLACES: dict[str, dict[str, Any]] = {
    "inline": {"viper.worker": "inline"},
    "2 threads": {"viper.worker": "thread", "topology.workers": 2},
    "2 processes": {"viper.worker": "process", "topology.workers": 2},
    "8 processes": {"viper.worker": "process", "topology.workers": 8},
}
TIMES = ("logical", "ingest")
SPARE_S = 60.0
"""The time for which it would run if it were not stopped."""
WIDTHS = (-11, -9, -7, -8, 9, -4)


def once(place: str, spout: str, mode: str, args: argparse.Namespace) -> None:
    """Run it in this process."""
    from running import run_with

    options = {**PLACES[place], "viper.time": mode}
    if args.recoverable:
        from recoverable import silent

        options["viper.recovery"] = args.recovery[0]
    else:
        from silence import silent
    run_with(silent(spout), options, duration_s=args.seconds)


def measure(
    place: str, spout: str, mode: str, recovery: str, tree: str, args: argparse.Namespace
) -> float:
    """Seconds of CPU per second."""
    from processes import cpu_seconds
    from running import code_of

    length = args.settle + args.seconds + SPARE_S
    command = [sys.executable, __file__, "--once", place, "--spout", spout, "--time", mode]
    command += ["--recovery", recovery, *(["--recoverable"] if "exact" in args.recovery else [])]
    process = subprocess.Popen([*command, "--seconds", str(length)], env=code_of(tree))
    try:
        time.sleep(args.settle)
        began, before = time.monotonic(), cpu_seconds(process.pid)
        time.sleep(args.seconds)
        used = cpu_seconds(process.pid) - before
        took = time.monotonic() - began
        if process.poll() is not None:
            raise SystemExit(f"{' '.join(command)}: ended with status {process.returncode} too early")
    finally:
        process.terminate()
        process.wait()
    return used / took


def main() -> None:
    """Measure, and print percent of a core."""
    from running import print_row

    spouts = ["due", "generator", "polled", "blocking"]
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement (10)")
    parser.add_argument("--settle", type=float, default=5, help="seconds before that (5)")
    usual = list(PLACES)[:3]
    parser.add_argument("--place", nargs="+", choices=PLACES, default=usual, help="(all but 8 processes)")
    parser.add_argument("--spout", nargs="+", choices=spouts, default=spouts, help="(all)")
    parser.add_argument("--time", nargs="+", choices=TIMES, default=list(TIMES), help="viper.time (both)")
    parser.add_argument("--recovery", nargs="+", choices=["best", "exact"], default=["best"], help="(best)")
    parser.add_argument("--tree", nargs="+", default=[""], help="folders of code (that of this run)")
    parser.add_argument("--once", metavar="PLACE", help="run one in this process")
    parser.add_argument("--recoverable", action="store_true", help="with spouts that say where they are")
    args = parser.parse_args()
    if args.once:
        once(args.once, args.spout[0], args.time[0], args)
        return
    if "exact" in args.recovery:
        args.spout = [spout for spout in args.spout if spout != "blocking"]
    print_row(("place", "spout", "time", "recovery", "% of core", "code"), WIDTHS)
    for place, spout, mode, recovery, tree in product(
        args.place, args.spout, args.time, args.recovery, args.tree
    ):
        share = measure(place, spout, mode, recovery, tree, args)
        print_row((place, spout, mode, recovery, f"{100 * share:.2f}", tree or "here"), WIDTHS)


if __name__ == "__main__":
    main()
