"""Bytewax with a line or a record as an item, and with steps that take as many items as there are.

State is by key, and recovered so. A step by key takes what a key has in a batch of the source, so that longer
batches save calls of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bytewax.operators as op
from bytewax.operators import StatefulBatchLogic

from benchmarks.peers.jobs import Job, Tally
from benchmarks.peers.programs.bytewax_single import items
from benchmarks.peers.workloads import KEPT_FROM, Row

__all__ = ["count", "items", "steps"]


def count(job: Job, tally: Tally, items: Sequence[Any]) -> None:
    """Count what has come to the sink; records come with their key, as no step is spent on removing it."""
    tally.take([row for _, row in items] if job.task.kind == "changes" else items)


class Count(StatefulBatchLogic):
    """Counts a word."""

    def __init__(self, state: int | None) -> None:
        self._count = state or 0

    def on_batch(self, values: list[Any]) -> tuple[Iterable[int], bool]:
        """Its next counts."""
        before = self._count
        self._count += len(values)
        return range(before + 1, self._count + 1), StatefulBatchLogic.RETAIN

    def snapshot(self) -> int:
        """The count, for its recovery."""
        return self._count


class Change(StatefulBatchLogic):
    """Keeps an id's segment, and has the records that change it."""

    def __init__(self, state: int | None) -> None:
        self._segment = state

    def on_batch(self, values: list[Row]) -> tuple[Iterable[Row], bool]:
        """The records."""
        changed = []
        for row in values:
            if row[2] != self._segment:
                self._segment = row[2]
                changed.append(row)
        return changed, StatefulBatchLogic.RETAIN

    def snapshot(self) -> int | None:
        """The segment, for its recovery."""
        return self._segment


def words_of(lines: list[str]) -> list[tuple[str, None]]:
    """The words of some lines as keys."""
    return [(word, None) for line in lines for word in line.split()]


def by_id(rows: list[Row]) -> list[tuple[str, Row]]:
    """The records with their ids as keys, which are texts here."""
    return [(str(row[1]), row) for row in rows]


def kept(rows: list[Row]) -> list[Row]:
    """The records of which the last value is large enough."""
    return [row for row in rows if row[-1] >= KEPT_FROM]


def steps(job: Job, stream: Any) -> Any:
    """The flow between source and sink."""
    kind = job.task.kind
    if kind == "words":
        return op.stateful_batch("count", op.flat_map_batch("split", stream, words_of), Count)
    if kind == "changes":
        return op.stateful_batch("change", op.flat_map_batch("key", stream, by_id), Change)
    return op.flat_map_batch("keep", stream, kept)
