"""The cost of tracking: word count with and without ids, side by side in one run.

The word count of the other benchmarks, each word with its count into a counting sink, from a spout that
emits its lines one by one:

    plain      without ids
    tracked    with ids: the tree of each line, of some fifty tuples, is tracked to its ack
    at emit    with ids, but nothing is tracked (topology.acker.executors: 0)
    reliable   with ids, from a ReliableSpout, which keeps what it has emitted until it is acked

They are measured in turn, several times, in fresh processes; the result is the ratio of their medians to the
first one's. The CPU time of all workers is compared, too, as it suffers less from other load.

    python benchmarks/tracking.py [--rounds N] [--words N] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from counting_words import Count, Split, read_lines
from running import print_rates_by_cpu, run_with

from framework import ReliableSpout, Spout, TopologyBuilder
from framework.operators.sinks import CountingSink

KINDS = ("plain", "tracked", "at emit", "reliable")


class Lines(Spout):
    """Emits the text's lines without ids."""

    outputs = ["line"]

    def __init__(self, words: int) -> None:
        super().__init__()
        self._words = words

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Read them."""
        self._lines = enumerate(read_lines(self._words))

    def next_tuple(self) -> None:
        """Emit one."""
        _, line = next(self._lines)
        self.emit([line])


class LinesWithIds(Lines):
    """Emits the text's lines with their numbers as ids."""

    def next_tuple(self) -> None:
        """Emit one."""
        number, line = next(self._lines)
        self.emit([line], number)


class ReliableLines(LinesWithIds, ReliableSpout):
    """The same, and keeps them until they are acked."""


SPOUTS = {"plain": Lines, "tracked": LinesWithIds, "at emit": LinesWithIds, "reliable": ReliableLines}


def run_kind(kind: str, words: int, workers: int) -> tuple[int, float, float]:
    """Words, seconds, and CPU seconds of all workers, of one kind."""
    builder = TopologyBuilder()
    builder.set_spout("lines", SPOUTS[kind], args=[words])
    builder.set_bolt("split", Split).shuffle_grouping("lines")
    builder.set_bolt("count", Count).fields_grouping("split", "word")
    builder.set_bolt("sink", CountingSink).global_grouping("count")
    options: dict[str, Any] = {"topology.workers": workers}
    options |= {"viper.worker": "inline"} if workers == 1 else {}
    options |= {"topology.acker.executors": 0} if kind == "at emit" else {}
    report = run_with(builder.build("word-count"), options)
    lines = report.components["lines"]
    assert lines.acked == (0 if kind == "plain" else lines.emitted)
    cpu = sum(executor.cpu_s for executor in report.statistics.executors)
    return int(report.result("sink")), report.elapsed_s, cpu


def measure(kind: str, words: int, workers: int) -> tuple[float, float]:
    """Words per second, and per CPU second, of one kind, in a process of its own."""
    size = ["--words", str(words), "--workers", str(workers)]
    command = [sys.executable, __file__, "--kind", kind, *size]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seen, seconds, cpu = json.loads(output)
    return seen / seconds, seen / cpu


def main() -> None:
    """Measure, and print words per second and the ratios."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=4_000_000, help="words to count (4,000,000)")
    parser.add_argument("--workers", type=int, default=1, help="worker processes; 1: inline (1)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(run_kind(args.kind, args.words, args.workers)))
        return
    rates: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for _ in range(args.rounds):
        for kind, found in rates.items():
            found.append(measure(kind, args.words, args.workers))
    print_rates_by_cpu(rates, "plain", 2)


if __name__ == "__main__":
    main()
