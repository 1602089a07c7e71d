"""Runs of one workload, for `benchmarks.instructions`, which has Callgrind count their instructions.

A workload runs three times in this process: to warm up, then with a number of tuples, then with twice as
many. From the first tuple at the source to the end of the sink instructions are counted. Nothing but the
tuples decides how many there are: slices and turns, which have as many tuples as take some milliseconds, may
take an hour here.

    python -m benchmarks.instructed NAME LIBRARY
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from benchmarks import windows
from benchmarks.peers import jobs, workloads
from benchmarks.peers.jobs import Job, outcome_of
from benchmarks.peers.programs import ours
from benchmarks.running import run_with
from framework import Spout, StreamBuilder, TopologyBuilder
from framework.frontends.streams import AggregateWindow
from framework.model.topology import Grouping, Topology
from framework.operators.sinks import Sink
from framework.operators.windows.joins import Within
from framework.runtime.execution import accounting
from framework.runtime.tasks import bolt_task

HOUR_S: Final = 3600.0

RECORDS: Final = 4 * 16_384
"""Records that are made, so that columns come in whole batches; making more takes long under Callgrind."""
KEYS: Final = 500
"""Different ids of records, so that few records are the first of their id."""

Run = Callable[[int], int]
"""Runs a workload with a number of tuples at the source; returns by how many the instructions are divided.

Raises:
    SystemExit: another output came of it than has to.
"""

watchers = jobs.watchers


def run_inline(topology: Topology) -> Any:
    """Run it by one inline worker; return the report."""
    return run_with(topology, {"viper.worker": "inline", "viper.jumbo.linger.ms": 1000 * int(HOUR_S)})


def of_peers(workload: str, variant: str) -> Run:
    """One of those that are compared with other systems."""

    def run(size: int) -> int:
        with tempfile.TemporaryDirectory() as folder:
            job = Job(workload, size, folder, options={"variant": variant})
            run_inline(ours.topology_of(job))
            if outcome_of(job).rows != job.task.count(size):
                raise SystemExit(f"{workload}: {outcome_of(job).rows} rows, expected {job.task.count(size)}")
        return job.task.units(size)

    return run


class Words(windows.Words):
    """The words of the benchmark of windows."""

    def tuples(self) -> Iterator[Any]:
        """Say when they begin."""
        watch(begins=True)
        yield from super().tuples()


class Windows(windows.Windows):
    """Takes note of windows."""

    def close(self) -> None:
        """Say that all have come."""
        watch(begins=False)


def watch(*, begins: bool) -> None:
    """Tell those who watch that the first tuple leaves, or that all have come."""
    for watcher in watchers:
        watcher(begins)


def tumbling(size: int) -> int:
    """Words that are counted by key in windows of 60 seconds, 60 of each key in a window."""
    made = windows.Input(size, 100, 10_000, 60 * windows.SECOND_US, 60 * windows.SECOND_US)
    builder = TopologyBuilder()
    builder.set_spout("words", Words(made, columns=False))
    operator = AggregateWindow({"n": ["count"]}, ["word", "time"], bounds=True, size=made.size_us)
    builder.set_bolt("windows", operator).fields_grouping("words", ["word"])
    builder.set_bolt("sink", Windows).global_grouping("windows")
    found = run_inline(builder.build("windows")).result("sink")
    if found != made.expected():
        raise SystemExit(f"{made}: {found}, expected {made.expected()}")
    return size


class Side(Spout):
    """One side of a join: every second number, by a key that returns after a thousand.

    Args:
        first: its first number, 0 or 1.
        size: the numbers of both sides.
    """

    outputs = ["key", "time"]
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "ms"}

    def __init__(self, first: int, size: int) -> None:
        super().__init__()
        self._rows = [(number // 2 % 1000, number) for number in range(first, size, 2)]

    def tuples(self) -> Iterator[Any]:
        """Each of them, with its time."""
        watch(begins=True)
        yield from self._rows


class Pairs(Sink):
    """Its result: how many pairs came."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """None yet."""
        self._count = 0

    def consume(self, rows: Any) -> None:
        """Count some."""
        self._count += len(rows)

    def close(self) -> None:
        """Say that all have come."""
        watch(begins=False)

    def result(self) -> int:
        """The number."""
        return self._count


def join(size: int) -> int:
    """Tuples of two streams that are joined by key, each with the one that comes a millisecond later."""
    builder = StreamBuilder()
    left, right = (builder.new_stream(Side(first, size)).key_by("key") for first in (0, 1))
    left.join(right, Within(before="0s", after="1s")).to(Pairs(), grouping=Grouping.GLOBAL, name="sink")
    found = run_inline(builder.build("join")).result("sink")
    if found != size // 2:
        raise SystemExit(f"join: {found} pairs, expected {size // 2}")
    return size


def transactions(size: int) -> int:
    """Events of Grep & Sum, of which each reads or writes ten records of a shared table."""
    folder = str(Path(__file__).parents[1] / "topologies")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import transactions_builder
    from transactions import spouts

    class Events(spouts.GrepSum):
        def blocks(self, partition: int, start_us: int | None) -> Any:
            watch(begins=True)
            return super().blocks(partition, start_us)

    built = transactions_builder.grep_sum(Events(size, held=True), Pairs(), 1)
    found = run_inline(cast(Topology, built.build("grep_sum"))).result("answers")
    if found != size:
        raise SystemExit(f"transactions: {found} answers, expected {size}")
    return size


WORKLOADS: Mapping[str, tuple[Run, int]] = {
    "words by tuples": (of_peers("words", "tuples"), 200),
    "words by functions": (of_peers("words", "functions"), 400),
    "words by batches": (of_peers("words", "batches"), 1000),
    "words by columns": (of_peers("words", "columns"), 16_384),
    "filter of tuples": (of_peers("filter", "tuples"), 8192),
    "filter of tuples of 100 fields": (of_peers("width 100", "tuples"), 2048),
    "filter of columns": (of_peers("filter", "columns"), 131_072),
    "changes by tuples": (of_peers("changes", "tuples"), 8192),
    "changes by functions": (of_peers("changes", "functions"), 8192),
    "windows by key": (tumbling, 12_000),
    "join by key": (join, 512),
    "transactions": (transactions, 2048),
}
"""By name: a workload, and the number of tuples of its smaller run."""


def leave_all_to_tuples() -> None:
    """Have slices and turns end by their number of tuples, where the clock would end them elsewhere."""
    workloads.RECORDS, workloads.KEYS = RECORDS, KEYS
    bolt_task.TURN_S = accounting.SLICE_S = accounting.OTHERS_S = HOUR_S  # type: ignore[misc]


def main() -> None:
    """Have the runs of a workload counted."""
    name, library = sys.argv[1:]
    callgrind = ctypes.CDLL(library)
    leave_all_to_tuples()
    run, size = WORKLOADS[name]
    run(size)

    def watcher(begins: bool) -> None:
        if begins:
            callgrind.begin_counting()
        else:
            callgrind.end_counting(b"")

    watchers.append(watcher)
    print(*[run(size * times) for times in (1, 2)])


if __name__ == "__main__":
    main()
