"""BriskStream's applications from end to end: events per CPU second, beside its paper's figures for a core.

Each application runs tuple by tuple and in batches. It runs in one inline worker with a task for each
component, and in two worker processes with two tasks for each of them but the sinks. Lines are drawn before
time counts. The measure is the CPU time of all workers from then on to the end, so that other work on the
machine matters little. Each run is in fresh processes, all of them in turn, and the best of all rounds is
shown. Runs must agree in how many events come to the sinks. Events are counted twice: lines that come in, and
events at sinks, which the paper's figures are of.

The paper's figures are those of 144 cores with 1.2 GHz, divided by 144. The cores reach 96.4 million words,
7.17 million events of fraud detection, 12.8 of spike detection and 8.74 of Linear Road a second. Its work
differs:

- Its word count splits sentences of ten numbers that are drawn, at commas, and counts by a hash of the
  characters. Here there are ten words of a text in a sentence, counted by the words themselves.
- Its fraud detection reports each transaction, here those above the threshold only; and judges by ten
  transactions of an entity, here five.
- Its spike detection emits each reading twice after the parser, and reports each of them; here spikes only.
  So its lines are half as many as its events.
- Its Linear Road neither finds accidents nor answers queries, and gives each task a share of the reports
  whatever their vehicles, so that nothing adds up. Here all but travel times is answered.
- Log processing is no application of the paper. Its events at sinks are those of all three.

    python -m benchmarks.brisk [--only NAME ...] [--form NAME ...] [--rounds N] [--share X]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

from benchmarks.running import in_turn, printed_by, run_with
from framework.model.topology import Stream, Topology
from framework.operators.components import BatchBolt, Rows
from framework.operators.sinks import CountingSink, Sink

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER / "topologies"))
brisk_spouts: Any = importlib.import_module("brisk.spouts")
brisk_columns: Any = importlib.import_module("brisk.columns")
road_spouts: Any = importlib.import_module("linear_road.spouts")
road_batches: Any = importlib.import_module("linear_road.batches")
ORIGINAL: Any = importlib.import_module("linear_road.generator").ORIGINAL

MARKS = "BRISK_MARKS"
"""The environment variable with the folder in which processes note their CPU time."""


def mark(moment: str) -> None:
    """Note the CPU time of this process at a moment."""
    Path(os.environ[MARKS], f"{os.getpid()} {moment}").write_text(str(time.process_time()))


def spent_s() -> tuple[int, float]:
    """Read from the marks how many processes have noted both moments, and the sum of CPU seconds between."""
    begun, ended = (
        {
            path.name.split()[0]: float(path.read_text())
            for path in Path(os.environ[MARKS]).glob(f"* {moment}")
        }
        for moment in ("begin", "end")
    )
    return len(begun), sum(ended[process] - began for process, began in begun.items())


class Held:
    """Draws all lines of a partition before their time counts."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Any]:
        """All of them."""
        drawn: Any = super()
        held = list(drawn.blocks(partition, start_us))
        gc.collect()
        gc.freeze()  # or a million lines, which no stream would hold, are looked through again and again
        mark("begin")
        yield from held

    def close(self) -> None:
        """All workers have ended their work."""
        mark("end")
        closed: Any = super()
        closed.close()


class Sentences(Held, brisk_spouts.Sentences):  # type: ignore[misc]
    """Of word count."""


class SentencesInColumns(Held, brisk_columns.Sentences):  # type: ignore[misc]
    """Likewise."""


class Transactions(Held, brisk_spouts.Transactions):  # type: ignore[misc]
    """Of fraud detection."""


class TransactionsInColumns(Held, brisk_columns.Transactions):  # type: ignore[misc]
    """Likewise."""


class Readings(Held, brisk_spouts.Readings):  # type: ignore[misc]
    """Of spike detection."""


class ReadingsInColumns(Held, brisk_columns.Readings):  # type: ignore[misc]
    """Likewise."""


class Requests(Held, brisk_spouts.Requests):  # type: ignore[misc]
    """Of log processing."""


class RequestsInColumns(Held, brisk_columns.Requests):  # type: ignore[misc]
    """Likewise."""


class Cars(Held, road_spouts.Generated):  # type: ignore[misc]
    """Of Linear Road."""


class CarsInColumns(Held, road_batches.Generated):  # type: ignore[misc]
    """Likewise."""


class Counted(BatchBolt):
    """Counts the reports in columns, as bolts have made them: rows of Python would be most of the work."""

    outputs = [Stream(schema={"count": "int64 not null"})]
    config = {"viper.stateless": True}

    def process_rows(self, rows: Rows) -> None:
        """Emit how much there is."""
        self.emit_rows([(len(rows),)], of=[len(rows) - 1])


class Total(Sink):
    """Adds up what several `Counted` have counted."""

    def __init__(self) -> None:
        super().__init__()
        self._total = 0

    def consume(self, rows: Sequence[Any]) -> None:
        """Add it up."""
        self._total += sum(row[0] for row in rows)

    def result(self) -> int:
        """The sum."""
        return self._total


class Application(NamedTuple):
    """One of them."""

    spouts: tuple[str, str]
    """Tuple by tuple and in columns, names of this module."""
    lines: int
    """Of a run; of Linear Road the seconds, after those in which traffic begins."""
    sinks: tuple[str, ...]
    paper: float | None = None
    """Thousands of events at sinks, a second and core; None for what the paper does not have."""
    of_each: int | None = None
    """The number of them that come of each line there; None if it is not known."""


APPLICATIONS: Mapping[str, Application] = {
    "word_count": Application(("Sentences", "SentencesInColumns"), 400_000, ("sink",), 669.4, 10),
    "fraud_detection": Application(("Transactions", "TransactionsInColumns"), 1_000_000, ("sink",), 49.8, 1),
    "spike_detection": Application(("Readings", "ReadingsInColumns"), 1_000_000, ("sink",), 88.7, 2),
    "log_processing": Application(
        ("Requests", "RequestsInColumns"), 500_000, ("volumes", "statuses", "places")
    ),
    "linear_road": Application(("Cars", "CarsInColumns"), 600, ("answers",), 60.7),
}
XWAYS = 2
"""Expressways of Linear Road."""
_OF_BATCHES: Mapping[str, Any] = {"viper.channel.tuples": 65_536}
"""A channel has room for several blocks of columns."""
FORMS: Mapping[str, tuple[bool, int, Mapping[str, Any]]] = {
    "tuples": (False, 1, {"viper.worker": "inline"}),
    "tuples-apart": (False, 2, {"viper.worker": "process", "topology.workers": 2}),
    "batches": (True, 1, {"viper.worker": "inline", **_OF_BATCHES}),
    "batches-apart": (True, 2, {"viper.worker": "process", "topology.workers": 2, **_OF_BATCHES}),
}
"""The forms: true for batches, the tasks of each component and the injectors, and the workers."""


def built(name: str, batches: bool, tasks: int, lines: int) -> Topology:
    """An application that brings so many lines, and counts what comes of them."""
    from benchmarks import brisk  # as other processes import it, and not as __main__

    spout, sink = (
        getattr(brisk, APPLICATIONS[name].spouts[batches]),
        brisk.Counted if batches else CountingSink,
    )
    if name == "linear_road":
        module = "linear_road_batches" if batches else "linear_road_builder"
        cars = spout(lines, XWAYS, 1, tasks, vars(ORIGINAL) | {"peak_s": 300.0})
        builder = getattr(importlib.import_module(module), module.replace("_builder", ""))(
            cars, CountingSink, tasks
        )
    else:
        made = spout(lines, 1, tasks)
        builder = getattr(importlib.import_module("brisk_builder"), name)(made, sink, tasks, batches)
        if batches:
            total = builder.set_bolt("total", brisk.Total())
            for each in APPLICATIONS[name].sinks:
                total.global_grouping(each)
    return cast(Topology, builder.build(name.replace("_", "-")))


def once(name: str, form: str, share: float) -> Mapping[str, Any]:
    """Lines, events at sinks, and the CPU seconds that they took, of a run from this process."""
    batches, tasks, options = FORMS[form]
    topology = built(name, batches, tasks, max(1, round(APPLICATIONS[name].lines * share)))
    with TemporaryDirectory() as folder:
        os.environ[MARKS] = folder
        report = run_with(topology, dict(options))
        processes, cpu_s = spent_s()
    if processes != tasks:
        raise SystemExit(f"{name}, {form}: {processes} processes have brought lines: expected {tasks}")
    sinks = ("total",) if batches and name != "linear_road" else APPLICATIONS[name].sinks
    spout = "cars" if name == "linear_road" else "lines"
    return {
        "lines": report.components[spout].emitted,
        "events": sum(report.result(sink) for sink in sinks),
        "cpu_s": cpu_s,
    }


def apart(name: str, form: str, share: float) -> Mapping[str, Any]:
    """Measure a run in a process of its own."""
    found: Mapping[str, Any] = printed_by("benchmarks.brisk", "--once", name, form, "--share", str(share))
    return found


def measured(args: argparse.Namespace) -> Iterator[Mapping[str, Any]]:
    """The rates of each application in each form; ends the program if runs differ in their reports."""
    found = in_turn(args.only, args.form, args.rounds, lambda name, form: apart(name, form, args.share))
    for name in args.only:
        outcomes = {(run["lines"], run["events"]) for form in args.form for run in found[name, form]}
        if len(outcomes) != 1:
            raise SystemExit(f"{name}: runs differ in their lines, or in what they tell: {outcomes}")
        for form in args.form:
            yield told(name, form, found[name, form])


def told(name: str, form: str, runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The rates of some runs: the best of all, beside the paper's, and the slowest."""
    lines, events = runs[0]["lines"], runs[0]["events"]
    paper, each = APPLICATIONS[name].paper or 0.0, APPLICATIONS[name].of_each
    seconds = [run["cpu_s"] for run in runs]
    best = min(seconds)
    return {
        "application": name,
        "form": form,
        "lines": lines,
        "events": events,
        "lines_per_cpu_s": round(lines / best),
        "slowest_lines_per_cpu_s": round(lines / max(seconds)),
        "events_per_cpu_s": round(events / best),
        "paper_events_per_core_s": round(paper * 1000) or None,
        "events_share_of_paper": round(events / best / paper / 1000, 2) if paper else None,
        "lines_share_of_paper": None if each is None else round(lines / best * each / paper / 1000, 2),
    }


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = list(APPLICATIONS)
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="applications (all)")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS), help="(all)")
    parser.add_argument("--rounds", type=int, default=3, help="of each (3)")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual number of lines (1.0)")
    parser.add_argument("--once", nargs=2, metavar=("NAME", "FORM"), help="measure one in this process")
    return parser.parse_args()


def main() -> None:
    """Measure, and print it as JSON, a line for each."""
    args = arguments()
    if args.once:
        name, form = args.once
        print(json.dumps(once(name, form, args.share)))
        return
    for line in measured(args):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
