"""A bolt that holds tables of any size, after a steady flow of rows, in a worker process to be killed."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from framework import BatchBolt, SeekableSpout, Topology, TopologyBuilder, ValueState
from framework.operators.sinks import Sink

IMPORTED_NS: Final = time.monotonic_ns()
"""The time at which this process had come to import user code."""
AT_ONCE: Final = 100_000
"""Keys that one row of the spout has the bolt enter."""
PLACES: Final = {"flow": 2, "tally": 1, "arrivals": 3}
"""By component: which worker runs it."""


class Flow(SeekableSpout):
    """Has so many keys entered, and then one of them counted again and again, at a steady pace."""

    outputs = ["first", "count", "at"]

    def __init__(self, keys: int, pause_s: float) -> None:
        super().__init__()
        self._keys, self._pause_s = keys, pause_s
        self._next = 0

    def tuples(self) -> Iterator[list[int]]:
        """Ranges of keys to enter, and then single ones with the time in nanoseconds."""
        while self._next < self._keys:
            first, self._next = self._next, self._next + AT_ONCE
            yield [first, AT_ONCE, 0]
        while True:
            time.sleep(self._pause_s)
            self._next += 1
            yield [random.Random(self._next).randrange(self._keys), 1, time.monotonic_ns()]

    def offset(self) -> int:
        """Count the keys that were entered or counted."""
        return self._next

    def seek(self, offset: Any) -> None:
        """Resume after so many."""
        self._next = offset


class Tally(BatchBolt):
    """Counts keys; reports when it was made, initialized, and given its first rows."""

    outputs = ["at", "count"]
    counts = ValueState("int64", default=0)

    def __init__(self, marks: str) -> None:
        super().__init__()
        self._made_ns = time.monotonic_ns()
        self._marks = Path(marks)
        self._initialized_ns = 0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Note the time."""
        self._initialized_ns = time.monotonic_ns()

    def process_rows(self, rows: Any) -> None:
        """Enter keys, or count them."""
        if self._initialized_ns:
            times = IMPORTED_NS, self._made_ns, self._initialized_ns, time.monotonic_ns()
            append(self._marks, [os.getpid(), *times])
            self._initialized_ns = 0
        made, of = [], []
        for index, (first, count, at) in enumerate(rows.values()):
            found = self.counts.add_all(list(range(first, first + count)))
            if at:
                made.append([at, found[0]])
                of.append(index)
        self.emit_rows(made, of)


class Arrivals(Sink):
    """Notes when what was emitted at which time has come."""

    config = {"viper.stateless": True}

    def __init__(self, arrivals: str) -> None:
        super().__init__()
        self._arrivals = Path(arrivals)

    def consume(self, rows: Sequence[Any]) -> None:
        """Append a line for each row."""
        now = time.monotonic_ns()
        for at, count in rows:
            append(self._arrivals, [at, count, now])


def append(path: Path, numbers: Sequence[int]) -> None:
    """Add a line of numbers to a file, in one write."""
    with path.open("ab", buffering=0) as file:
        file.write(f"{' '.join(map(str, numbers))}\n".encode())


def read(path: Path) -> list[list[int]]:
    """The lines that a file has now."""
    *lines, _ = path.read_text().split("\n")  # what stands behind the last end of a line is not all there yet
    return [[*map(int, line.split())] for line in lines]


def holding(keys: int, pause_s: float, folder: Path) -> Topology:
    """The topology, which writes what it finds into a folder."""
    builder = TopologyBuilder()
    builder.set_spout("flow", Flow, kwargs={"keys": keys, "pause_s": pause_s})
    builder.set_bolt("tally", Tally, args=[str(folder / "marks")]).fields_grouping("flow", "first")
    builder.set_bolt("arrivals", Arrivals, args=[str(folder / "arrivals")]).global_grouping("tally")
    return builder.build("holding")
