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
import gzip
import itertools
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

TEXT = Path(__file__).parent.parent / "topologies" / "data" / "kjv.txt.gz"


def read_lines(words: int) -> list[str]:
    """The text's lines, repeated until they hold so many words."""
    with gzip.open(TEXT, "rt") as text:
        once = text.read().splitlines()
    per_pass = sum(len(line.split()) for line in once)
    return list(itertools.chain.from_iterable(itertools.repeat(once, max(round(words / per_pass), 1))))


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


def topology(lines: list[str], par: int) -> tuple[int, float]:
    """Words and seconds of the topology in one inline worker."""
    from framework import Bolt, Spout, TopologyBuilder
    from framework.config import resolve
    from framework.planning import make_plan
    from framework.runtime import run
    from framework.sinks import CountingSink

    class Lines(Spout):
        outputs = ["line"]

        def tuples(self):  # type: ignore[no-untyped-def]
            for line in lines:
                yield [line]

    class Split(Bolt):
        outputs = ["word"]

        def process(self, tup):  # type: ignore[no-untyped-def]
            for word in tup.values.line.split():
                self.emit([word])

    class Count(Bolt):
        outputs = ["word", "count"]

        def initialize(self, storm_conf, context):  # type: ignore[no-untyped-def]
            self.counts: dict[str, int] = {}

        def process(self, tup):  # type: ignore[no-untyped-def]
            word = tup.values[0]
            number = self.counts[word] = self.counts.get(word, 0) + 1
            self.emit([word, number])

    builder = TopologyBuilder()
    builder.set_spout("lines", Lines)
    builder.set_bolt("split", Split, par).shuffle_grouping("lines")
    builder.set_bolt("count", Count, par).fields_grouping("split", "word")
    builder.set_bolt("sink", CountingSink).global_grouping("count")
    built = builder.build("per-tuple")
    settings, problems = resolve(built)
    assert not problems, problems
    report = run(make_plan(built, settings), settings)
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
        lines = read_lines(args.words)
        print(json.dumps(plain(lines) if args.kind == "plain" else topology(lines, args.par)))
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
