"""Word count on two process workers against one inline worker, the same plan, side by side in one run.

Two splitters and two counters over the demo's text, repeated; the counters' output goes nowhere (with --sink
into one counting sink). On two workers half of the words cross between processes. The result is the ratio of
the medians, for each size of jumbo tuples.

    python benchmarks/workers.py [--rounds N] [--words N] [--jumbo N ...] [--sink] [--kind process]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys


def once(kind: str, args: argparse.Namespace, jumbo: int) -> tuple[int, float]:
    """Words and seconds of one run."""
    import counting_words
    from running import run_with

    options = {
        "viper.worker": kind,
        "viper.jumbo.size": jumbo,
        "topology.workers": 1 if kind == "inline" else 2,
    }
    report = run_with(counting_words.wordcount(args.words, args.par, sink=args.sink), options)
    return report.components["count"].processed, report.elapsed_s


def measure(kind: str, jumbo: int, args: argparse.Namespace) -> float:
    """Words per second of one run, in a process of its own."""
    command = [sys.executable, __file__, "--once", kind, "--words", str(args.words), "--jumbo", str(jumbo)]
    command += ["--par", str(args.par), *(["--sink"] if args.sink else [])]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen, seconds = json.loads(output)
    return float(seen) / float(seconds)


def main() -> None:
    """Measure, and print words per second and the ratio for each size."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=4_000_000, help="words to count (4,000,000)")
    parser.add_argument("--par", type=int, default=2, help="parallelism of splitter and counter (2)")
    parser.add_argument(
        "--jumbo", type=int, nargs="+", default=[64, 256, 1024, 4096], help="viper.jumbo.size"
    )
    parser.add_argument("--sink", action="store_true", help="every word with its count into one sink")
    parser.add_argument("--kind", choices=("process", "thread"), default="process", help="of the two workers")
    parser.add_argument("--once", metavar="KIND", help="measure one kind in this process")
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(args.once, args, args.jumbo[0])))
        return
    print(f"{'jumbo':>6} {'inline words/s':>16} {'two workers':>16} {'ratio':>6}   of each round")
    for jumbo in args.jumbo:
        pairs = [
            (measure("inline", jumbo, args), measure(args.kind, jumbo, args)) for _ in range(args.rounds)
        ]
        inline, two = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        rounds = " ".join(f"{after / before:.2f}" for before, after in pairs)
        print(f"{jumbo:6} {inline:16,.0f} {two:16,.0f} {two / inline:6.2f}   {rounds}", flush=True)


if __name__ == "__main__":
    main()
