"""The systems, the workloads that each runs, and the ways in which it does.

A further variant of ours takes a line in the lists below, ``ours("columns", "filter")``, beside its topology
in `benchmarks.peers.programs.ours`. If it is so fast that its run would be over at once, a ``share`` above
one gives it more of the same input. `benchmarks.peers.pairs` sets beside each other what does the same in the
same shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.entries import (
    BYTEWAX,
    PLAIN,
    TWO,
    Entry,
    State,
    bytewax,
    bytewax_paced,
    ours,
    ours_on_default_two,
    ours_on_two,
    pathway,
    plain,
    pyflink,
)
from benchmarks.peers.pairs import PAIRS, Pair, entries_of
from benchmarks.peers.workloads import WIDTHS, WORKLOADS

YARDSTICKS = (PLAIN, "ViperStorm tuples", BYTEWAX, f"{BYTEWAX}, 2 processes")
"""Systems that the tables give ratios to, each in its fastest setting."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Entries that are run in alternation and shown in one table and one figure."""

    name: str
    title: str
    entries: Sequence[Entry]
    axis: str = ""
    """The quantity that grows, if one does."""
    pairs: Sequence[Pair] = ()
    """The pairs that its table shows, in place of single entries."""

    @property
    def is_latency(self) -> bool:
        """True if delays are what counts, and not rates."""
        return any(entry.task.kind == "latency" for entry in self.entries)

    def label(self, entry: Entry) -> str:
        """The name of one of its entries, with the workload where that is another than the experiment."""
        return entry.name if entry.workload == self.name else f"{entry.workload}: {entry.name}"


ONE_WORKER = "one worker"
TWO_WORKERS = "two process workers"

PLANS: Mapping[str, tuple[Mapping[str, int], Mapping[str, Any]]] = {
    "split 1, count 1": ({}, {"source": 1, "split": 1, "count": 2, "sink": 2}),
    "split 1, count and sink apart": ({}, {"source": 1, "split": 1, "count": 2, "sink": 1}),
    "two of each, sink with the source": (
        {"split": 2, "count": 2},
        {"source": 1, "split": [1, 2], "count": [1, 2], "sink": 1},
    ),
    "two of each, sink apart": (
        {"split": 2, "count": 2},
        {"source": 1, "split": [1, 2], "count": [1, 2], "sink": 2},
    ),
    "split 2, count 1": ({"split": 2}, {"source": 1, "split": [1, 2], "count": 2, "sink": 2}),
    "split 1, count 2": ({"count": 2}, {"source": 1, "split": 1, "count": [1, 2], "sink": 2}),
}
"""The placements of word count on two workers: the parallelism of each bolt, and its tasks' workers."""

VARIANTS = ("tuples", "functions", "batches")
THREADS: Mapping[str, int] = {"workers": 2}
PROCESSES: Mapping[str, int] = {"processes": 2}

WORDS = [
    plain("words"),
    ours("tuples", "words", "one of each"),
    ours("tuples", "words", "two of each", par=2),
    *(ours(variant, "words") for variant in (*VARIANTS[1:], "tuples with state", "batches with state")),
    *(ours(variant, "words", share=4) for variant in ("columns", "columns with state")),
    ours_on_default_two("tuples", "words"),
    *(ours_on_two("tuples", "words", name, *plan) for name, plan in PLANS.items()),
    *(
        ours_on_two("batches", "words", name, *PLANS[name])
        for name in ("split 1, count 1", "split 2, count 1")
    ),
    ours_on_two("functions", "words", "split 1, count 1", *PLANS["split 1, count 1"]),
    ours_on_two("columns", "words", "split 1, count 1", *PLANS["split 1, count 1"], share=4),
    *bytewax("words", 10, 100, 1000),
    *bytewax("words", 100, 4000, shape="by hand"),
    *bytewax("words", 10, 50, 1000, shape="lists"),
    *bytewax("words", 50, shape="lists", recovered=True),
    *bytewax("words", 4096, 16_384, shape="Arrow", share=4),
    *bytewax("words", 100, kinds=[THREADS, PROCESSES]),
    pathway("words"),
    pathway("words", "from a file", file=True),
    pathway("words", "from a file, 2 threads", file=True, threads=2),
    pyflink("words", 0.25),
]

FILTER = [
    plain("filter"),
    *(ours(variant, "filter") for variant in VARIANTS),
    ours("columns", "filter", share=40),
    ours_on_two("tuples", "filter", "", 1, {"source": 1, "keep": 2, "sink": 2}),
    *bytewax("filter", 100, 1000, 4000),
    *bytewax("filter", 1000, 4000, shape="by hand"),
    *bytewax("filter", 1000, 10_000, shape="lists", share=4),
    *bytewax("filter", 16_384, shape="Arrow", share=60),
    *bytewax("filter", 1000, kinds=[PROCESSES]),
    pathway("filter", share=0.5),
    pyflink("filter", 0.25),
]

CHANGES = [
    plain("changes"),
    *(ours(variant, "changes") for variant in (*VARIANTS, "tuples with state", "batches with state")),
    ours("columns", "changes", share=10),
    ours_on_two("tuples", "changes", "", 1, {"source": 1, "change": 2, "sink": 2}),
    *bytewax("changes", 100, 1000),
    *bytewax("changes", 1000, 4000, shape="by hand"),
    *bytewax("changes", 100, 1000, shape="lists"),
    *bytewax("changes", 1000, shape="lists", recovered=True),
    *bytewax("changes", 16_384, shape="Arrow", share=10),
    *bytewax("changes", 1000, kinds=[PROCESSES]),
    pathway("changes"),
    pyflink("changes", 0.2),
]

ONE_HOP = {"source": 1, "forward": 1, "count": 2, "sink": 2}

LATENCY = [
    ours("tuples", "latency"),
    ours("tuples with state", "latency"),
    ours_on_two("tuples", "latency", "one hop", 1, ONE_HOP),
    *(
        bytewax_paced("latency", poll, kind)
        for kind in (None, PROCESSES)
        for poll in ("at its own pace", "when due")
    ),
    # Java compiles while it runs, and the first seconds are many times slower.
    Entry(
        "PyFlink, thread mode",
        "pyflink",
        "latency",
        "buffers of 1 ms",
        {"buffer_ms": 1, "warm_up_s": 5},
        share=2,
        state=State.BY_KEY,
    ),
]

RARE = "latency-1000"
LATENCY_RARE = [
    ours("tuples", RARE),
    ours("tuples with state", RARE),
    *(bytewax_paced(RARE, poll) for poll in ("at its own pace", "when due")),
]


def parallelism() -> Sequence[Entry]:
    """Word count with several splitters and counters, in one worker and on two."""
    entries = []
    for par in (1, 2, 4):
        for variant in ("tuples", "batches"):
            for setting, config in ((ONE_WORKER, {}), (TWO_WORKERS, TWO)):
                options = {"variant": variant, "par": par, "config": config}
                name = f"ViperStorm {variant}"
                entries.append(Entry(name, "ours", "words", setting, options, share=0.5, x=par))
    for workers in (1, 2):
        options = {"batch": 100, "processes": workers}
        entries.append(Entry(BYTEWAX, "bytewax", "words", "processes", options, share=0.5, x=workers))
    return entries


def jumbo_sizes() -> Sequence[Entry]:
    """Word count with jumbo tuples of several sizes, and with batches of Bytewax's source."""
    entries = []
    for size in (1, 16, 64, 256, 1024, 4096):
        share = 0.5 if size >= 16 else 0.1
        for name, par, config in ((ONE_WORKER, 1, {}), (TWO_WORKERS, 2, TWO)):
            options = {"variant": "tuples", "par": par, "config": {**config, "viper.jumbo.size": size}}
            entries.append(Entry("ViperStorm tuples", "ours", "words", name, options, share=share, x=size))
        entries.append(Entry(BYTEWAX, "bytewax", "words", "its batches", {"batch": size}, share=0.25, x=size))
    return entries


def widths() -> Sequence[Entry]:
    """The filter on records of several widths."""
    entries = []
    for width in WIDTHS:
        workload = f"width {width}"
        entries += [plain(workload, x=width), *(ours(variant, workload, x=width) for variant in VARIANTS)]
        entries.append(ours("columns", workload, x=width, share=4))
        placement = {"source": 1, "keep": 2, "sink": 2}
        entries.append(ours_on_two("tuples", workload, "", 1, placement, x=width))
        entries.append(Entry(BYTEWAX, "bytewax", workload, "", {"batch": 1000}, x=width))
        for shape, length in (("lists", 1000), ("Arrow", 16_384)):
            entries += bytewax(workload, length, shape=shape, x=width, share=4)
    return entries


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("alike", "Like beside like, and the goals", entries_of(PAIRS), pairs=PAIRS),
        Experiment("words", WORKLOADS["words"].title, WORDS),
        Experiment("filter", WORKLOADS["filter"].title, FILTER),
        Experiment("changes", WORKLOADS["changes"].title, CHANGES),
        Experiment("latency", WORKLOADS["latency"].title, LATENCY),
        Experiment(RARE, WORKLOADS[RARE].title, LATENCY_RARE),
        Experiment("parallelism", "Word count with more tasks", parallelism(), "tasks of each bolt"),
        Experiment("jumbo", "Word count with larger jumbo tuples", jumbo_sizes(), "tuples"),
        Experiment("width", "Filter of wider records", widths(), "fields"),
    )
}
"""By name."""
