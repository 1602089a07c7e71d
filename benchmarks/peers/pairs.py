"""Pairs of entries whose ratio is a goal of ours: what does the same in the same shape, side by side.

Both of a pair run in the same rounds, and the ratio is taken in each round. Entries say how their state is
recovered: by key, as one value, or not at all. Both have it alike where that can be had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.peers.entries import Entry, bytewax, bytewax_paced, ours, ours_on_default_two


class Measure(StrEnum):
    """A figure of a run."""

    RATE = "rate"
    """Units per second."""
    P50 = "p50"
    P99 = "p99"
    CPU = "CPU"
    """Processor time of all processes from the first row to the last, of the time that passed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An entry of ours, the entry that it is compared with, and what is wanted of their ratio."""

    work: str
    """For people."""
    ours: Entry
    other: Entry
    goal: float | None = None
    """Ours divided by the other: at least this for a rate, and at most this for others."""
    measure: Measure = Measure.RATE
    limit: float | None = None
    """Ours, at most."""


def entries_of(pairs: Sequence[Pair]) -> Sequence[Entry]:
    """Each entry of the pairs once, those of a pair near each other."""
    found: list[Entry] = []
    for pair in pairs:
        found += [entry for entry in (pair.ours, pair.other) if entry not in found]
    return found


def _words() -> Iterator[Pair]:
    (usual,) = bytewax("words", 100)
    (by_hand,) = bytewax("words", 4000, shape="by hand")
    (lists,) = bytewax("words", 50, shape="lists", share=4)
    (recovered,) = bytewax("words", 50, shape="lists", recovered=True, share=4)
    (arrow,) = bytewax("words", 16_384, shape="Arrow", share=8)
    tuples, functions = ours("tuples", "words", share=2), ours("functions", "words", share=2)
    yield Pair("words", tuples, usual)
    yield Pair("words", functions, usual)
    yield Pair("words", tuples, by_hand, 3.5)
    yield Pair("words", ours("tuples with state", "words", share=2), by_hand)
    yield Pair("words", functions, by_hand, 5)
    yield Pair("words", ours("batches", "words", share=2), lists, 1.5)
    yield Pair("words", ours("batches with state", "words", share=2), recovered)
    yield Pair("words", columns := ours("columns", "words", share=8), arrow, 3)
    yield Pair("words", ours("columns with state", "words", share=8), arrow)
    yield Pair("words, a second process", ours_on_default_two("tuples", "words", share=2), tuples, 1.5)
    yield Pair("words, a second process", ours_on_default_two("columns", "words", share=8), columns, 1.8)


def _filter() -> Iterator[Pair]:
    (usual,) = bytewax("filter", 1000, share=4)
    (by_hand,) = bytewax("filter", 4000, shape="by hand", share=8)
    (lists,) = bytewax("filter", 1000, shape="lists", share=10)
    (arrow,) = bytewax("filter", 16_384, shape="Arrow", share=120)
    yield Pair("filter", ours("tuples", "filter", share=3), usual, 1)
    yield Pair("filter", ours("functions", "filter", share=3), usual)
    batches = ours("batches", "filter", share=4)
    yield Pair("filter", batches, by_hand)
    yield Pair("filter", batches, lists)
    yield Pair("filter", ours("columns", "filter", share=100), arrow, 1)


def _wide() -> Iterator[Pair]:
    wide, work = "width 100", "filter, 100 fields"
    (usual,) = bytewax(wide, 1000, share=10)
    (lists,) = bytewax(wide, 1000, shape="lists", share=50)
    (arrow,) = bytewax(wide, 16_384, shape="Arrow", share=20)
    columns = ours("columns", wide, share=12)
    yield Pair(work, ours("tuples", wide, share=3), usual, 0.6)
    yield Pair(work, columns, usual, 1.2)
    yield Pair(work, columns, arrow)
    yield Pair(work, ours("batches", wide, share=4), lists)


def _changes() -> Iterator[Pair]:
    (usual,) = bytewax("changes", 1000, share=0.5)
    (by_hand,) = bytewax("changes", 1000, shape="by hand", share=0.75)
    (lists,) = bytewax("changes", 1000, shape="lists", share=9)
    (recovered,) = bytewax("changes", 1000, shape="lists", recovered=True, share=9)
    (arrow,) = bytewax("changes", 16_384, shape="Arrow", share=15)
    functions = ours("functions", "changes", share=1.5)
    yield Pair("changes", ours("tuples", "changes", share=3), by_hand)
    yield Pair("changes", ours("tuples with state", "changes", share=2), by_hand)
    yield Pair("changes", functions, usual)
    yield Pair("changes", functions, by_hand, 4)
    yield Pair("changes", ours("batches", "changes", share=4), lists)
    yield Pair("changes", ours("batches with state", "changes", share=2), recovered)
    yield Pair("changes", ours("columns", "changes", share=30), arrow)


def _latency(work: str, workload: str, limit: float | None) -> Iterator[Pair]:
    other = bytewax_paced(workload, "when due")
    for variant in ("tuples", "tuples with state"):
        entry = ours(variant, workload)
        yield Pair(work, entry, other, 1, Measure.P50)
        yield Pair(work, entry, other, 1, Measure.P99)
        yield Pair(work, entry, other, 1, Measure.CPU, limit)


PAIRS = [
    *_words(),
    *_filter(),
    *_wide(),
    *_changes(),
    *_latency("20,000 a second", "latency", None),
    *_latency("1,000 a second", "latency-1000", 0.1),
]
"""All of them, in the order of the table."""
