"""Counting and adding up by key in the Streams API, beside dictionaries that the runtime knows nothing of.

The words of a text are counted in three ways. A bolt with a dictionary counts them one by one, a step counts
batches in a dictionary, and the counts of `count_by_key` are declared state. Their lengths are added up in a
dictionary, and by `reduce_by_key`. All run in one inline worker, in turn, several times, in fresh processes.
The results are the ratios of the CPU time for each word, least of all rounds.

    python benchmarks/keyed_steps.py [--rounds N] [--words N]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from operator import add
from typing import Any

from counting_words import Lines, read_lines, wordcount
from running import output_of, run_with

from framework import BatchBolt, Rows, StreamBuilder
from framework.frontends.streams import KeyedStream
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink


class CountInDict(BatchBolt):
    """Counts the words of a batch in a dictionary, and emits each with its count."""

    outputs = ["word", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No word has been seen."""
        self.counts: dict[str, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Count them."""
        counts, made = self.counts, list[tuple[str, int]]()
        keep, before = made.append, counts.get
        for (word,) in rows.values():
            counts[word] = count = before(word, 0) + 1
            keep((word, count))
        self.emit_rows(made)


class AddInDict(BatchBolt):
    """Adds up the values of each key in a dictionary, and emits each sum."""

    outputs = ["word", "sum"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has been added."""
        self.sums: dict[str, int] = {}

    def process_rows(self, rows: Rows) -> None:
        """Add them up."""
        sums, made = self.sums, list[tuple[str, int]]()
        for word, value in rows.values():
            sums[word] = total = add(sums[word], value) if word in sums else value
            made.append((word, total))
        self.emit_rows(made)


def with_length(line: str) -> list[tuple[str, int]]:
    """The words of a line, each with its length."""
    return [(word, len(word)) for word in line.split()]


def of_words(words: int, step: Callable[[KeyedStream], Any]) -> Topology:
    """The topology that gives words to a step by key."""
    builder = StreamBuilder()
    split = builder.new_stream(Lines(words)).flat_map(str.split, fields=["word"])
    step(split.key_by("word"))
    return builder.build("word-count")


def of_lengths(words: int, step: Callable[[KeyedStream], Any]) -> Topology:
    """The topology that gives words with their lengths to a step by key."""
    builder = StreamBuilder()
    split = builder.new_stream(Lines(words)).flat_map(with_length, fields=["word", "length"])
    step(split.key_by("word"))
    return builder.build("lengths")


KINDS: Mapping[str, Callable[[int], Topology]] = {
    "single tuples, dictionary": lambda words: wordcount(words, 1, sink=True),
    "batches, dictionary": lambda words: of_words(
        words, lambda keyed: keyed.to(CountInDict).stream().to(CountingSink, name="sink")
    ),
    "count_by_key": lambda words: of_words(
        words, lambda keyed: keyed.count_by_key().to(CountingSink, name="sink")
    ),
    "sums, dictionary": lambda words: of_lengths(
        words, lambda keyed: keyed.to(AddInDict).stream().to(CountingSink, name="sink")
    ),
    "reduce_by_key": lambda words: of_lengths(
        words, lambda keyed: keyed.reduce_by_key(add).to(CountingSink, name="sink")
    ),
}


def counted(kind: str, words: int) -> tuple[int, float]:
    """Words and seconds of CPU time of one kind, in this process."""
    topology = KINDS[kind](words)
    read_lines(words)
    began_s = time.process_time()
    report = run_with(topology, {"viper.worker": "inline"})
    return int(report.result("sink")), time.process_time() - began_s


def measure(kind: str, words: int) -> float:
    """Nanoseconds of CPU time for a word, in a process of its own."""
    seen, seconds = output_of(__file__, "--kind", kind, "--words", words)
    return float(seconds) / int(seen) * 1e9


def main() -> None:
    """Measure, and print the time of a word, and how many times as fast as the first each kind is."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=3_000_000, help="words to count (3,000,000)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(counted(args.kind, args.words)))
        return
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(args.rounds):
        for kind, measured in times.items():
            measured.append(measure(kind, args.words))
    first = min(next(iter(times.values())))
    for kind, measured in times.items():
        spread = f"({min(measured):,.0f} to {max(measured):,.0f})"
        print(f"{kind:28} {min(measured):7,.0f} ns a word  {first / min(measured):5.2f}  {spread}")


if __name__ == "__main__":
    main()
