"""The same word count tuple by tuple, with functions and in batches, beside the plain loop of `per_tuple.py`.

Every word is emitted with its count into a counting sink, by one splitter and one counter in one inline
worker. The kinds are measured in turn, several times, in fresh processes. The results are the ratios of their
medians; all have to count the same words.

    python benchmarks/batches.py [--rounds N] [--words N]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from counting_words import Lines, read_lines, wordcount
from per_tuple import plain
from running import output_of, print_rates, rates_in_turn, run_with

from framework import BatchBolt, Rows, StreamBuilder, TopologyBuilder
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink

KINDS = ("plain", "tuples", "functions", "batches")


class SplitRows(BatchBolt):
    """Splits the lines of a batch into words."""

    outputs = ["word"]

    def process_rows(self, rows: Rows) -> None:
        """Split them."""
        words: list[str] = []
        ends = []
        for (line,) in rows:
            words += line.split()
            ends.append(len(words))
        self.emit_rows(list(zip(words)), ends=ends)


class CountRows(BatchBolt):
    """Counts the words of a batch, and emits each with its count."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self.counts: dict[str, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        counts, made = self.counts, []
        for (word,) in rows:
            counts[word] = count = counts.get(word, 0) + 1
            made.append((word, count))
        self.emit_rows(made)


def in_batches(words: int) -> Topology:
    """The topology of batch bolts."""
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines, args=[words])
    builder.set_bolt("split", SplitRows).shuffle_grouping("lines")
    builder.set_bolt("count", CountRows).fields_grouping("split", "word")
    builder.set_bolt("sink", CountingSink).global_grouping("count")
    return builder.build("word-count")


def of_functions(words: int) -> Topology:
    """The topology of functions."""
    builder = StreamBuilder()
    split = builder.new_stream(Lines(words)).flat_map(str.split, fields=["word"])
    split.key_by("word").count_by_key().to(CountingSink, name="sink")
    return builder.build("word-count")


def counted(kind: str, words: int) -> tuple[int, float]:
    """Words and seconds of one kind, in this process."""
    if kind == "plain":
        return plain(read_lines(words))
    made = {
        "tuples": lambda: wordcount(words, 1, sink=True),
        "functions": lambda: of_functions(words),
        "batches": lambda: in_batches(words),
    }
    report = run_with(made[kind](), {"viper.worker": "inline"})
    return int(report.result("sink")), report.elapsed_s


def main() -> None:
    """Measure, and print words per second and the ratios to the plain loop and to single tuples."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=3_000_000, help="words to count (3,000,000)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(counted(args.kind, args.words)))
        return
    options = ("--words", args.words)
    rates = rates_in_turn(KINDS, args.rounds, lambda kind: output_of(__file__, "--kind", kind, *options))
    print_rates(rates, "plain", "tuples")


if __name__ == "__main__":
    main()
