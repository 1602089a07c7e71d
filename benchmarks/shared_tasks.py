"""Threads that share the tasks of a worker, beside threads that have them dealt out, for uneven tasks.

A spout feeds bolts of one task each. Every one waits (`sleep`), compresses bytes (`zlib`, which releases
Python's lock) or counts (`python`, which holds it). They do so for about 4, 1, 4 and 1 milliseconds. Dealt
out one by one to two threads, all that are slow are on one of them. Each round runs every way once, and the
ratios are of the best rounds.

    python benchmarks/shared_tasks.py [--tuples N] [--rounds N] [--work sleep,zlib,python,cheap]
"""

from __future__ import annotations

import argparse
import os
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from running import print_row, run_with

from framework import Bolt, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink

WEIGHTS = (4, 1, 4, 1)
"""Milliseconds of the bolts, in the order in which they are placed."""
WAYS: dict[str, dict[str, Any]] = {
    "one thread": {"viper.worker": "inline"},
    "two, dealt out": {"viper.worker": "thread", "topology.workers": 2},
    "two that share": {"viper.worker": "thread", "topology.workers": 1, "viper.worker.threads": 2},
    "four that share": {"viper.worker": "thread", "topology.workers": 1, "viper.worker.threads": 4},
}
"""The threads, with the configuration of each."""
_BYTES = os.urandom(1 << 14)


def _sleep(ms: int) -> None:
    time.sleep(ms / 1000)


def _compress(ms: int) -> None:
    for _ in range(2 * ms):  # about half a millisecond each
        zlib.compress(_BYTES, 6)


def _count(ms: int) -> None:
    for _ in range(20_000 * ms):
        pass


def _nothing(ms: int) -> None:
    """A cheap bolt: its turns are of what the framework does."""


WORK: dict[str, Callable[[int], None]] = {
    "sleep": _sleep,
    "zlib": _compress,
    "python": _count,
    "cheap": _nothing,
}
"""The kinds of work."""


class Numbers(Spout):
    """Emits so many numbers."""

    outputs = ["number"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        """The numbers from 0."""
        yield from ([number] for number in range(self._count))


class Works(Bolt):
    """Works for each number, and emits it."""

    outputs = ["number"]

    def __init__(self, work: str, ms: int) -> None:
        super().__init__()
        self._work = WORK[work]
        self._ms = ms

    def process(self, tup: Any) -> None:
        """Work, and emit the number."""
        self._work(self._ms)
        self.emit(tup.values)


def measured(work: str, options: dict[str, Any], tuples: int) -> float:
    """The seconds that a run takes whose bolts each get so many tuples."""
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, args=[tuples])
    sink = builder.set_bolt("sink", CollectingSink)
    for number, ms in enumerate(WEIGHTS):
        builder.set_bolt(f"work{number}", Works, args=[work, ms]).shuffle_grouping("numbers")
        sink.global_grouping(f"work{number}")
    report = run_with(builder.build("shared-tasks"), options)
    assert len(report.result("sink")) == len(WEIGHTS) * tuples
    return report.elapsed_s


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tuples", type=int, default=200, help="tuples that each bolt gets")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way runs; the best is told")
    parser.add_argument("--work", default=",".join(WORK), help="which kinds of work")
    given = parser.parse_args()
    widths = (-8, -16, 10, 22)
    print_row(("work", "threads", "seconds", "as fast as dealt out"), widths)
    for work in given.work.split(","):
        tuples = given.tuples * (50 if work == "cheap" else 1)
        found: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(given.rounds):  # in turn, so that a busy machine slows all of them alike
            for way, options in WAYS.items():
                found[way].append(measured(work, options, tuples))
        dealt = min(found["two, dealt out"])
        for way, seconds in found.items():
            print_row((work, way, f"{min(seconds):.3f}", f"{dealt / min(seconds):.2f}"), widths)


if __name__ == "__main__":
    main()
