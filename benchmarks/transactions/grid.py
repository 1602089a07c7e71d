"""Evaluators of transactions over a grid: skew, partitions, reads, costs of operations and sizes of batches.

Each round goes once through all points (see `points.py`), and measures all evaluators at each of them, one
right after the other. So a machine that is busy for a while slows all of them alike. A file gets the median
of each cell and round, from which `figures.py` draws. No round begins that would not be over in time.

    python -m benchmarks.transactions.grid [-o FILE] [--rounds N] [--seconds S] [--transactions N]
        [--threads N] [--only APPLICATION ...] [--vary DIMENSION ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.layers_figure import machine
from benchmarks.transactions.points import APPLICATIONS, DIMENSIONS, Point, points_of
from benchmarks.transactions.program import Evaluators
from benchmarks.transactions.results import Grid, Measured, paths_of, save

AT_ONCE = 3
"""Rounds within the program, of which it prints the median."""


def measured(args: argparse.Namespace) -> Grid:
    """Go through all points, round by round."""
    program = Evaluators()
    wanted = points_of(args.only, args.vary)
    points = [point for point in wanted if program.knows_costs or not point.cost]
    if len(points) < len(wanted):
        print("operations cannot be made dearer yet, so their cost is left out", file=sys.stderr)
    found: dict[Point, Measured] = {}
    begun = time.monotonic()
    rounds = 0
    while rounds < args.rounds and (time.monotonic() - begun) * (rounds + 1) <= args.seconds * max(rounds, 1):
        for point in points:
            paths, *cells = program.measure(point, args.threads, AT_ONCE, args.transactions)
            found.setdefault(point, Measured(point, paths_of(paths), {})).add(cells)
        rounds += 1
        print(f"round {rounds} after {time.monotonic() - begun:.0f} s", file=sys.stderr)
    about = {"machine": machine(), "rounds": rounds, "transactions": args.transactions}
    return Grid(about, found)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/transactions.json"), help="(%(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="the most through all points (5)")
    parser.add_argument("--seconds", type=float, default=600, help="that it takes at the most (600)")
    parser.add_argument("--transactions", type=int, default=8000, help="of each load (8,000)")
    parser.add_argument("--threads", type=int, default=2, help="the most of an evaluator (2)")
    parser.add_argument("--only", nargs="+", choices=APPLICATIONS, default=list(APPLICATIONS), help="(all)")
    parser.add_argument("--vary", nargs="+", choices=DIMENSIONS, default=list(DIMENSIONS), help="(all)")
    return parser.parse_args()


def main() -> None:
    """Measure, and write the file."""
    args = arguments()
    save(args.output, measured(args))


if __name__ == "__main__":
    main()
