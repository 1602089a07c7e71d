"""Bytewax with a list of lines or of records as an item.

A list has rows of many keys, so that state is a dictionary of all of them. It is the function's own, and lost
with its process; with the option ``recovered`` it is a state of Bytewax under one key, and recovered as one
value. Neither can be divided among workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import bytewax.operators as op

from benchmarks.peers.jobs import Job, Tally
from benchmarks.peers.workloads import KEPT_FROM, Row

ALL = "all"
"""The key of a state that has the dictionary of all keys."""


def items(job: Job, part: int, parts: int) -> tuple[list[list[Any]], int]:
    """The lists of a partition, of which one is handed over at a time."""
    rows: list[Any] = job.task.rows(job.size, part, parts)
    rows = [line for (line,) in rows] if job.task.kind == "words" else rows
    length = job.option("batch")
    return [rows[first : first + length] for first in range(0, len(rows), length)], 1


def count(job: Job, tally: Tally, items: Sequence[list[Any]]) -> None:
    """Count the rows that have come to the sink."""
    for rows in items:
        tally.take(rows)


def counted(counts: dict[str, int], lines: list[str]) -> list[tuple[str, int]]:
    """The words of some lines, each with its next count."""
    made, before = [], counts.get
    for line in lines:
        for word in line.split():
            counts[word] = number = before(word, 0) + 1
            made.append((word, number))
    return made


def changed(segments: dict[int, int], rows: list[Row]) -> list[Row]:
    """The records that change the segment of their id."""
    made, before = [], segments.get
    for row in rows:
        if before(row[1]) != row[2]:
            segments[row[1]] = row[2]
            made.append(row)
    return made


def kept(rows: list[Row]) -> list[Row]:
    """The records of which the last value is large enough."""
    return [row for row in rows if row[-1] >= KEPT_FROM]


def with_state(stream: Any, step: Callable[[dict[Any, int], list[Any]], list[Any]]) -> Any:
    """A step with its dictionary as a state of Bytewax."""

    def next_of(state: dict[Any, int] | None, rows: list[Any]) -> tuple[dict[Any, int], list[Any]]:
        state = {} if state is None else state
        return state, step(state, rows)

    states = op.stateful_map("state", op.map("key", stream, lambda rows: (ALL, rows)), next_of)
    return op.map("rows", states, lambda keyed: keyed[1])


def steps(job: Job, stream: Any) -> Any:
    """The flow between source and sink."""
    if job.task.kind == "filter":
        return op.map("keep", stream, kept)
    step: Callable[[dict[Any, int], list[Any]], list[Any]]
    step = counted if job.task.kind == "words" else changed
    return with_state(stream, step) if job.option("recovered") else op.map("step", stream, partial(step, {}))
