"""Declared, typed state against a dictionary attribute in the per-tuple word count, side by side in one run.

The bolts count words and emit each with its count. One has its counts in a dict, the others in a
`ValueState("int64")`, one of these by `value`, one by `add`. Such state looks each word up in shared memory,
notes the old count, and is committed after each slice. All are run in turn, several times, each in a process
of its own, in one inline worker. The results are the ratios of their medians to that of the dict.

    python benchmarks/typed_state.py [--rounds N] [--words N] [--par N]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from counting_words import Count, wordcount
from running import output_of, print_rates, rates_in_turn, run_with

from framework import ValueState


class CountInState(Count):
    """Counts each word in declared state."""

    seen = ValueState("int64", default=0)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """There is nothing to prepare."""

    def process(self, tup: Any) -> None:
        """Count one."""
        self.seen.value += 1
        self.emit([tup.values[0], self.seen.value])


class CountByAdd(CountInState):
    """The same by the method that adds and returns the sum."""

    def process(self, tup: Any) -> None:
        """Count one."""
        self.emit([tup.values[0], self.seen.add(1)])


KINDS = {"dict": Count, "state": CountInState, "add": CountByAdd}


def measure_here(kind: str, words: int, par: int) -> tuple[int, float]:
    """Words and seconds of one kind."""
    report = run_with(wordcount(words, par, sink=True, counter=KINDS[kind]), {"viper.worker": "inline"})
    return int(report.result("sink")), report.elapsed_s


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print words per second and the ratios."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind (5)")
    parser.add_argument("--words", type=int, default=3_000_000, help="words to count (3,000,000)")
    parser.add_argument("--par", type=int, default=1, help="parallelism of splitter and counter (1)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    args = parser.parse_args(arguments)
    if args.kind:
        print(json.dumps(measure_here(args.kind, args.words, args.par)))
        return
    options = ("--words", args.words, "--par", args.par)
    rates = rates_in_turn(KINDS, args.rounds, lambda kind: output_of(__file__, "--kind", kind, *options))
    print_rates(rates, "dict")


if __name__ == "__main__":
    main()
