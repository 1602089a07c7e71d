"""The cost of checkpoints while a run continues: a word count, and updates of keys drawn from many.

Each is run without checkpoints and with one at each interval in turn, in fresh processes. The table has the
nanoseconds a word or an update (median of the runs), and the percentage that checkpoints add to that. It also
has the longest gap between two outputs at the sink (the median of the longest of each run), and how many
checkpoints there were.

    python benchmarks/checkpoints.py [--lines N] [--keys N] [--updates N] [--secs S] [--runs N]
                                     [--worker KIND]
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from recovery import WORDS, Count, Split
from running import output_of, print_row, run_with

from framework import BatchBolt, Stream, TopologyBuilder, ValueState
from framework.model.topology import Topology
from framework.operators.components import Block, PartitionedSpout
from framework.operators.sinks import Sink

ROWS: Final = 4096
"""Rows of a block of keys; a hundred lines are one of text."""
WIDTHS: Final = (-8, 12, 10, 10, 9, 10, 12, 11)


class Lines(PartitionedSpout):
    """Brings the same line again and again, of which a thousand come in a millisecond."""

    outputs = ["line"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    @property
    def partitions(self) -> int:
        """One."""
        return 1

    @property
    def identity(self) -> str:
        """The number of lines."""
        return f"{self._count} lines"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        """A hundred lines at a time."""
        line = (" ".join(WORDS),)
        for first in range(0, self._count, 100):
            yield Block(array("q", range(first, first + 100)), [line] * 100)


class Keys(PartitionedSpout):
    """Brings each key once, and then keys at random, as columns."""

    outputs = [Stream(schema={"key": "int64"})]

    def __init__(self, keys: int, updates: int) -> None:
        super().__init__()
        self._keys = keys
        self._updates = updates

    @property
    def partitions(self) -> int:
        """One."""
        return 1

    @property
    def identity(self) -> str:
        """The number of keys and of updates."""
        return f"{self._keys} keys, {self._updates} updates"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        """Columns of some thousand keys at a time."""
        drawn = np.random.default_rng(1)
        for first in range(0, self._keys + self._updates, ROWS):
            is_new = first < self._keys
            keys = np.arange(first, first + ROWS) if is_new else drawn.integers(0, self._keys, ROWS)
            batch = pa.record_batch({"key": pa.array(keys, pa.int64())})
            yield Block(array("q", range(first, first + ROWS)), batch)


class Update(BatchBolt):
    """Counts each key."""

    outputs = [Stream(schema={"count": "int64"})]
    times = ValueState("int64", default=0)

    def process_rows(self, rows: Any) -> None:
        """Count some keys."""
        self.emit_rows({"count": np.asarray(self.times.add_all(rows.array("key")))})


class Gaps(Sink):
    """Measures how long it waits for rows.

    Args:
        skipped: rows that come before anything is measured.
    """

    config = {"viper.stateless": True}

    def __init__(self, skipped: int) -> None:
        super().__init__()
        self._skipped = skipped
        self._count = 0
        self._began_s = self._last_s = self._longest_s = 0.0

    def consume(self, rows: Sequence[Any]) -> None:
        """Note when they have come."""
        now_s = time.monotonic()
        self._count += len(rows)
        if self._count <= self._skipped:
            return
        if self._began_s:
            self._longest_s = max(self._longest_s, now_s - self._last_s)
        else:
            self._began_s = now_s
        self._last_s = now_s

    def result(self) -> dict[str, float]:
        """Seconds for the rows that were measured, the longest gap in seconds, and how many rows came."""
        taken_s = self._last_s - self._began_s
        return {"seconds": taken_s, "gap_s": self._longest_s, "rows": self._count - self._skipped}


def topology_of(work: str, arguments: argparse.Namespace) -> Topology:
    """A word count, or updates of keys."""
    builder = TopologyBuilder()
    if work == "words":
        builder.set_spout("lines", Lines(arguments.lines))
        builder.set_bolt("split", Split).shuffle_grouping("lines")
        builder.set_bolt("count", Count).fields_grouping("split", "word")
    else:
        builder.set_spout("keys", Keys(arguments.keys, arguments.updates))
        builder.set_bolt("count", Update).fields_grouping("keys", "key")
    skipped = len(WORDS) * 1000 if work == "words" else arguments.keys
    builder.set_bolt("sink", Gaps(skipped)).global_grouping("count")
    return builder.build(work)


def measured(work: str, arguments: argparse.Namespace) -> dict[str, float]:
    """Measure one run: the sink's figures, and how many checkpoints there were."""
    options = {
        "viper.worker": arguments.worker,
        "topology.acker.executors": 0,
        "viper.state.bytes": max(1 << 26, 160 * arguments.keys),
        "viper.checkpoint.secs": arguments.secs,
    }
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        checkpoints = Path(folder) if arguments.checkpoints else None
        report = run_with(topology_of(work, arguments), options, checkpoints=checkpoints)
    return {**report.result("sink"), "checkpoints": report.checkpoints}


def compared(work: str, arguments: argparse.Namespace) -> None:
    """Print the line of a kind of work."""
    told = ["--work", work, "--worker", arguments.worker, "--secs", arguments.secs]
    told += ["--lines", arguments.lines, "--keys", arguments.keys, "--updates", arguments.updates]
    told += ["--folder", arguments.folder] if arguments.folder else []
    found: dict[str, list[dict[str, float]]] = {"without": [], "--checkpoints": []}
    for _ in range(arguments.runs):
        for kind, runs in found.items():
            runs.append(output_of(__file__, *told, *([kind] if kind != "without" else [])))
    each_ns = [
        statistics.median(one["seconds"] / one["rows"] * 1e9 for one in runs) for runs in found.values()
    ]
    gaps_ms = [statistics.median(one["gap_s"] * 1000 for one in runs) for runs in found.values()]
    made = statistics.median(one["checkpoints"] for one in found["--checkpoints"])
    cells = (work, arguments.worker, *(f"{ns:.0f}" for ns in each_ns))
    more = f"{(each_ns[1] / each_ns[0] - 1) * 100:.1f} %"
    print_row((*cells, more, *(f"{ms:.1f} ms" for ms in gaps_ms), f"{made:.0f}"), WIDTHS)


def main() -> None:
    """Print the table, or what one run has measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--updates", type=int, default=50_000_000)
    parser.add_argument("--secs", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--worker", choices=("inline", "thread", "process"), default="process")
    parser.add_argument("--folder", help="where checkpoints are written")
    parser.add_argument("--work", choices=("words", "updates"), help="measure one run, and print JSON")
    parser.add_argument("--checkpoints", action="store_true", help="of that run")
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(measured(arguments.work, arguments)))
        return
    print_row(("work", "worker", "without", "with", "more", "gap", "gap with", "checkpoints"), WIDTHS)
    for work in ("words", "updates"):
        compared(work, arguments)


if __name__ == "__main__":
    main()
