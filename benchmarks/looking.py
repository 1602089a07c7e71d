"""The cost of observing a run: word count, side by side in one run.

The word count of the other benchmarks, each word with its count into a counting sink:

    plain     nobody looks
    no times  the same, and tasks do not count how long their tuples take (inline only)
    no costs  the same, and CPU time by task, turns, and tuples by stream are not counted (inline only)
    viewed    the web view runs beside it, and a page asks it for everything once a second

They are measured in turn, several times, in fresh processes; the result is the ratio of their medians to the
first one's. The server of the view needs a processor, too: on a machine with no more processors than the run
has workers it takes some of theirs. The CPU time of all workers is compared as well.

Costs are counted at each turn, so they cost most where turns are short, as with `--slice 16`.

    python benchmarks/looking.py [--rounds N] [--words N] [--workers N] [--slice N]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counting_words import wordcount
from running import output_of, print_rates_by_cpu, run_with

from framework.cli.ui import WebView
from framework.runtime.execution.accounting import CpuTimes
from framework.runtime.observation import TimeHistogram
from framework.runtime.observation.counters import CostCounters, StreamCounters
from framework.web.address import Address

KINDS = ("plain", "no times", "no costs", "viewed")
PAGE = """
import sys, time, urllib.request
number = 0
while True:
    with urllib.request.urlopen(f"{sys.argv[1]}api/run?since={number}") as answer:
        answer.read()
    number += 1
    time.sleep(1)
"""


@contextlib.contextmanager
def viewed(control: Path) -> Iterator[None]:
    """Have a page poll the run for as long as the block runs."""
    view = WebView(Address(port=0))
    page = [sys.executable, "-c", PAGE, view.url]
    with view.beside(control), subprocess.Popen(page, stderr=subprocess.DEVNULL) as looking:
        try:
            yield
        finally:
            looking.kill()
    view.close()


def count_no_costs() -> None:
    """Have executors and outputs of this process count nothing of what tasks cost."""
    CpuTimes.spent = CpuTimes.rest = CpuTimes.settle = lambda *_: None  # type: ignore[method-assign]
    CostCounters.had_turn = StreamCounters.emitted = lambda *_: None  # type: ignore[method-assign]


def run_kind(kind: str, words: int, workers: int, most: int) -> tuple[int, float, float]:
    """Words, seconds, and CPU seconds of all workers, of one kind, with so many tuples in a slice at most."""
    options: dict[str, Any] = {"topology.workers": workers, "viper.slice.tuples": most}
    options |= {"viper.worker": "inline"} if workers == 1 else {}
    if kind == "no times":
        TimeHistogram.add = lambda self, seconds, times=1: None  # type: ignore[method-assign]
    if kind == "no costs":
        count_no_costs()
    began_s = time.thread_time()
    with tempfile.TemporaryDirectory() as folder:
        control = Path(folder, "control")
        with viewed(control) if kind == "viewed" else contextlib.nullcontext():
            report = run_with(wordcount(words, 1, sink=True), options, control=control)
    cpu = time.thread_time() - began_s  # of which an inline run takes nearly all, whoever counts it
    if workers > 1:
        cpu = sum(executor.cpu_s for executor in report.statistics.executors)
    return int(report.result("sink")), report.elapsed_s, cpu


def main() -> None:
    """Measure, and print words per second and the ratios."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each kind (9)")
    parser.add_argument("--words", type=int, default=6_000_000, help="words to count (6,000,000)")
    parser.add_argument("--workers", type=int, default=1, help="worker processes; 1: inline (1)")
    parser.add_argument("--slice", type=int, default=4096, help="most tuples of a slice (4,096)")
    parser.add_argument("--kinds", choices=KINDS, nargs="+", help="which ones, with plain (all)")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    args = parser.parse_args()
    if args.kind:
        print(json.dumps(run_kind(args.kind, args.words, args.workers, args.slice)))
        return
    kinds = args.kinds or (KINDS if args.workers == 1 else ("plain", "viewed"))
    rates: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for kind, found in rates.items():
            size = "--words", args.words, "--workers", args.workers, "--slice", args.slice
            words, seconds, cpu = output_of(__file__, "--kind", kind, *size)
            found.append((words / seconds, words / cpu))
    print_rates_by_cpu(rates, "plain", 3)


if __name__ == "__main__":
    main()
