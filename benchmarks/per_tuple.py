"""The per-tuple API against plain Python function calls, side by side in one run.

A splitter and a counter that emit every word with its count into a counting sink, over the
demo's text repeated to six million words, in one inline worker; against the plain loop

    for line in lines:
        for word in split(line):
            sink(count(word))

whose three parts are Python functions. The two are measured in turn, several times, in fresh
processes; what counts is the ratio of their medians.

    python benchmarks/per_tuple.py [--rounds N] [--words N] [--par N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

from counting_words import read_lines, wordcount
from running import run_with


def plain(lines: list[str]) -> tuple[int, float]:
    """Words and seconds of the plain loop."""
    counts: dict[str, int] = {}
    seen = 0

    def split(line: str) -> list[str]:
        return line.split()

    def count(word: str) -> tuple[str, int]:
        number = counts[word] = counts.get(word, 0) + 1
        return word, number

    def sink(counted: tuple[str, int]) -> None:
        nonlocal seen
        seen += 1

    started = time.perf_counter()
    for line in lines:
        for word in split(line):
            sink(count(word))
    return seen, time.perf_counter() - started


def topology(words: int, par: int) -> tuple[int, float]:
    """Words and seconds of the topology in one inline worker."""
    report = run_with(wordcount(words, par, sink=True), {"viper.worker": "inline"})
    return int(report.result("sink")), report.elapsed_s


def measure(kind: str, words: int, par: int) -> float:
    """Words per second of one kind, in a process of its own."""
    command = [sys.executable, __file__, "--kind", kind, "--words", str(words), "--par", str(par)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen, seconds = json.loads(output)
    return float(seen) / float(seconds)


def main() -> None:
    """Measure, and print words per second and the ratio."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=6_000_000, help="words to count (6,000,000)")
    parser.add_argument("--par", type=int, default=1, help="parallelism of splitter and counter (1)")
    parser.add_argument("--kind", choices=("plain", "topology"), help="measure one kind in this process")
    args = parser.parse_args()
    if args.kind:
        plainly = args.kind == "plain"
        print(json.dumps(plain(read_lines(args.words)) if plainly else topology(args.words, args.par)))
        return
    rates: dict[str, list[float]] = {"plain": [], "topology": []}
    for _ in range(args.rounds):
        for kind, measured in rates.items():
            measured.append(measure(kind, args.words, args.par))
    medians = {kind: statistics.median(measured) for kind, measured in rates.items()}
    for kind, measured in rates.items():
        print(f"{kind:10} {medians[kind]:12,.0f} words/s   ({min(measured):,.0f} to {max(measured):,.0f})")
    print(f"ratio      {medians['topology'] / medians['plain']:12.2f}")


if __name__ == "__main__":
    main()
