"""The cost of exact recovery: a word count with `viper.recovery` exact and best in turn.

The spout says where it is, the splitter is stateless, the counter's counts are declared state, and the sink
takes rows. Nothing is killed. The table has the least time and the median of so many runs on one and on two
processes, in nanoseconds a word, and the ratio of exact to best.

    python benchmarks/recovery.py [--lines N] [--runs N]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from typing import Any, Final

from running import print_row, run_with

from framework import Bolt, SeekableSpout, TopologyBuilder, ValueState
from framework.operators.sinks import CountingSink

WORDS: Final = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "again"]
PLACES: Final = {
    1: {"lines": 1, "split": 1, "count": 1, "sink": 1},
    2: {"lines": 1, "split": 1, "count": 2, "sink": 2},
}
"""By the number of processes: which runs which component."""
WIDTHS: Final = (9, 10, 10, 10, 10, 8, 8)


class Lines(SeekableSpout):
    """Emits the same line again and again."""

    outputs = ["line"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count, self._next = count, 0

    def tuples(self) -> Iterator[list[str]]:
        """One line after the other."""
        line = " ".join(WORDS)
        while self._next < self._count:
            self._next += 1
            yield [line]

    def offset(self) -> int:
        """Return the number of lines that were emitted, which is its offset."""
        return self._next

    def seek(self, offset: Any) -> None:
        """Resume after so many lines."""
        self._next = offset


class Split(Bolt):
    """Emits the words of lines."""

    outputs = ["word"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        """Split a line."""
        for word in tup.values[0].split():
            self.emit([word])


class Count(Bolt):
    """Emits each word with how often it has come."""

    outputs = ["word", "count"]
    times = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        """Count a word."""
        self.times.value += 1
        self.emit([tup.values[0], self.times.value])


def words_ns(recovery: str, processes: int, lines: int) -> float:
    """Nanoseconds that a run takes for a word."""
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines, kwargs={"count": lines})
    builder.set_bolt("split", Split).shuffle_grouping("lines")
    builder.set_bolt("count", Count).fields_grouping("split", "word")
    builder.set_bolt("sink", CountingSink, config={"viper.stateless": True}).global_grouping("count")
    options = {
        "viper.worker": "process",
        "topology.workers": processes,
        "viper.placement": PLACES[processes],
        "viper.recovery": recovery,
        "topology.acker.executors": 0,
    }
    report = run_with(builder.build("words"), options)
    assert report.result("sink") == lines * len(WORDS)
    return report.elapsed_s / lines / len(WORDS) * 1e9


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    print_row(("processes", "best", "median", "exact", "median", "ratio", "median"), WIDTHS)
    for processes in PLACES:
        found: dict[str, list[float]] = {"best": [], "exact": []}
        for _ in range(arguments.runs):
            for recovery, times in found.items():
                times.append(words_ns(recovery, processes, arguments.lines))
        figures = [of(found[name]) for name in ("best", "exact") for of in (min, statistics.median)]
        ratios = figures[2] / figures[0], figures[3] / figures[1]
        print_row((processes, *(f"{ns:.0f}" for ns in figures), *(f"{r:.3f}" for r in ratios)), WIDTHS)


if __name__ == "__main__":
    main()
