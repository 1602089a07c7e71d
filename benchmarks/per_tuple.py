"""The per-tuple API against plain Python function calls, side by side in one run.

A splitter and a counter emit every word with its count into a counting sink, over the demo's text repeated to
six million words, in one inline worker. Beside them runs the plain loop

    for line in lines:
        for word in split(line):
            sink(count(word))

whose three parts are Python functions. The two are measured in turn, several times, in fresh processes; the
result is the ratio of their medians.

    python benchmarks/per_tuple.py [--rounds N] [--words N] [--par N]
"""

from __future__ import annotations

import argparse
import json
import time

from counting_words import read_lines, wordcount
from running import output_of, print_rates, rates_in_turn, run_with


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
    options = ("--words", args.words, "--par", args.par)
    kinds = ("plain", "topology")
    rates = rates_in_turn(kinds, args.rounds, lambda kind: output_of(__file__, "--kind", kind, *options))
    print_rates(rates, "plain")


if __name__ == "__main__":
    main()
