"""The time for which the death of a worker process holds up output, by the size of the tables it holds.

A spout keeps up a steady flow of rows, a bolt counts them in declared state, and a sink in a third process
notes when each has come. The bolt's worker is killed by SIGKILL, once in each run: only a process that has
filled the tables has all of their pages mapped. The time runs from the kill to the arrival of the first row
that the spout has emitted after it, which only the successor can have counted.

    noticed    the leader has heard of the death, and has set right what it left
    started    the successor is there, with what it imports of the framework; user code comes next
    made       its component is made: user code is imported, memory attached, tasks are there
    initialized
    rows       the component is given rows
    arrived    its output for the first one after the kill has come to the sink

    python benchmarks/kill_to_output.py [--gigabytes N ...] [--runs N] [--recovery KIND] [-o KEY=VALUE ...]
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from holding import AT_ONCE, PLACES, holding, read
from running import print_row

from framework.model.config import parse_option, resolve
from framework.planning import make_plan
from framework.runtime import Run, StopReason, StopSignal

KEYS_PER_GB: Final = 15_300_000
PARTS: Final = ("noticed", "started", "made", "initialized", "rows", "arrived")
WIDTHS: Final = (-8, -6, *[11] * len(PARTS))
LONGEST_S: Final = 300.0
"""Seconds to wait for anything."""
BEFORE_S: Final = 0.5
"""Seconds of flow before the kill."""


class Killer(threading.Thread):
    """Kills the worker that holds the tables once rows come, and ends the run when they do again."""

    def __init__(self, folder: Path, stop: StopSignal) -> None:
        super().__init__(daemon=True)
        self.killed_ns = 0
        self._marks, self._arrivals = folder / "marks", folder / "arrivals"
        self._signal = stop

    def run(self) -> None:
        """Kill."""
        try:
            self._wait_for_rows(0)
            time.sleep(BEFORE_S)
            self.killed_ns = time.monotonic_ns()
            os.kill(read(self._marks)[-1][0], signal.SIGKILL)
            self._wait_for_rows(self.killed_ns)
        finally:
            self._signal.request(StopReason.INTERRUPTED)

    def _wait_for_rows(self, since_ns: int) -> None:
        """Wait until something has arrived that was emitted since then."""
        deadline = time.monotonic() + LONGEST_S
        while not any(at > since_ns for at, *_ in read(self._arrivals)[-1:]):
            if time.monotonic() > deadline:
                raise TimeoutError("the run stands still")
            time.sleep(0.05)


def measure(gigabytes: float, args: argparse.Namespace) -> tuple[float, list[float]]:
    """The gigabytes that the tables took, and the milliseconds from the kill to each of `PARTS`."""
    options: dict[str, Any] = {
        "viper.worker": "process",
        "topology.workers": len(PLACES),
        "viper.placement": PLACES,
        "viper.recovery": args.recovery,
        "viper.state.bytes": int((gigabytes * 1.5 + 0.2) * 1e9),
        "topology.acker.executors": 0,
        **dict(map(parse_option, args.option)),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("marks", "arrivals"):
            (folder / file).touch()
        keys = max(int(gigabytes * KEYS_PER_GB) // AT_ONCE, 1) * AT_ONCE
        topology = holding(keys, args.pause_ms / 1000, folder)
        settings, problems = resolve(topology, options=options)
        assert not problems, problems
        stop = StopSignal()
        run, killer = Run(make_plan(topology, settings), settings, stop=stop), Killer(folder, stop)
        with noticing() as noticed_ns:
            killer.start()
            report = run.execute()
            killer.join()
        arrivals = read(folder / "arrivals")
        assert args.recovery == "best" or all(a[0] < b[0] for a, b in pairwise(arrivals))
        _, (_, *life) = read(folder / "marks")
        arrived_ns = next(arrived for at, _, arrived in arrivals if at > killer.killed_ns)
        times_ns = [*noticed_ns, *life, arrived_ns]
        size_bytes = sum(state.bytes for state in report.statistics.states)
        return size_bytes / 1e9, [(at - killer.killed_ns) / 1e6 for at in times_ns]


@contextmanager
def noticing() -> Iterator[list[int]]:
    """For as long as the block runs, the times in nanoseconds at which the leader has logged a death."""
    times_ns: list[int] = []
    handler = logging.Handler()
    handler.emit = lambda record: times_ns.append(time.monotonic_ns())  # type: ignore[method-assign]
    handler.addFilter(lambda record: "SIGKILL" in record.getMessage())
    log = logging.getLogger("viperstorm.worker")
    log.addHandler(handler)
    try:
        yield times_ns
    finally:
        log.removeHandler(handler)


def main() -> None:
    """Measure, and print the median and the worst of all runs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.01, 1.0], help="of tables (0.01 1)")
    parser.add_argument("--runs", type=int, default=7, help="of each size, with one kill each (7)")
    parser.add_argument("--pause-ms", type=float, default=1.0, help="between two rows (1)")
    parser.add_argument("--recovery", choices=("exact", "best"), default="exact", help="(exact)")
    parser.add_argument("-o", "--option", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    print("milliseconds since the kill")
    print_row(("GB", "of", *PARTS), WIDTHS)
    for gigabytes in args.gigabytes:
        runs = [measure(gigabytes, args) for _ in range(args.runs)]
        size, found = runs[0][0], [times for _, times in runs]
        for name, of in (("median", statistics.median), ("worst", max)):
            times_ms = [of(part) for part in zip(*found, strict=True)]
            print_row((f"{size:.2f}", name, *(f"{ms:.1f}" for ms in times_ms)), WIDTHS)


if __name__ == "__main__":
    main()
