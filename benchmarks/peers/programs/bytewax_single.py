"""Bytewax with a line or a record as an item, through the operators that its documentation begins with.

State is by key, and recovered so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bytewax.operators as op

from benchmarks.peers.jobs import Job, Tally
from benchmarks.peers.workloads import KEPT_FROM, Row


def items(job: Job, part: int, parts: int) -> tuple[list[Any], int]:
    """The items of a partition, and how many are handed over at a time."""
    rows: list[Any] = job.task.rows(job.size, part, parts)
    # A line is an item of its own, so that the method of texts can be the function of its splitter.
    return [line for (line,) in rows] if job.task.kind == "words" else rows, job.option("batch")


def count(job: Job, tally: Tally, items: Sequence[Any]) -> None:
    """Count what has come to the sink; rows come with their key where no step is spent on removing it."""
    tally.take([row for _, row in items] if job.task.kind == "latency" else items)


def counted(state: int | None, word: str) -> tuple[int, int]:
    """A word's next count, which is also what is emitted."""
    number = (state or 0) + 1
    return number, number


def changed(segment: int | None, row: Row) -> tuple[int, Row | None]:
    """An id's next segment, and the record if it has changed it."""
    return row[2], row if row[2] != segment else None


def counted_paced(state: int | None, row: Row) -> tuple[int, Row]:
    """A key's next count, and the row with it."""
    number = (state or 0) + 1
    return number, (row[0], number, row[1])


def steps(job: Job, stream: Any) -> Any:
    """The flow between source and sink."""
    kind = job.task.kind
    if kind == "words":
        words = op.key_on("key", op.flat_map("split", stream, str.split), lambda word: word)
        return op.stateful_map("count", words, counted)
    if kind == "changes":
        by_id = op.key_on("key", stream, lambda row: str(row[1]))  # keys are texts here
        states = op.stateful_map("change", by_id, changed)
        return op.filter_map("changed", states, lambda keyed: keyed[1])
    if kind == "latency":
        by_key = op.key_on("key", op.map("forward", stream, lambda row: row), lambda row: str(row[0]))
        return op.stateful_map("count", by_key, counted_paced)
    return op.filter("keep", stream, lambda row: row[-1] >= KEPT_FROM)
