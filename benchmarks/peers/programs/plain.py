"""The yardstick: a plain Python loop that calls a Python function for each step, as any framework has to.

The sink is a function, too, although the systems that are measured receive rows many at a time. So the loop
is what a user would write, and not the fastest that can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import KEPT_FROM, Row

Sink = Callable[[Row], None]


def words(rows: Sequence[Row], sink: Sink) -> None:
    """Word count."""
    counts: dict[str, int] = {}

    def split(line: str) -> list[str]:
        return line.split()

    def count(word: str) -> Row:
        number = counts[word] = counts.get(word, 0) + 1
        return word, number

    for (line,) in rows:
        for word in split(line):
            sink(count(word))


def kept(rows: Sequence[Row], sink: Sink) -> None:
    """The filter, for records of any width."""

    def is_kept(row: Row) -> Any:
        return row[-1] >= KEPT_FROM

    for row in rows:
        if is_kept(row):
            sink(row)


def changes(rows: Sequence[Row], sink: Sink) -> None:
    """Keyed state."""
    segments: dict[int, int] = {}

    def has_changed(row: Row) -> bool:
        if segments.get(row[1]) == row[2]:
            return False
        segments[row[1]] = row[2]
        return True

    for row in rows:
        if has_changed(row):
            sink(row)


LOOPS: dict[str, Callable[[Sequence[Row], Sink], None]] = {"words": words, "changes": changes}
"""By workload; all others are filters."""


def run(job: Job) -> None:
    """Run a job, counting in the simplest way, or with a digest."""
    loop = LOOPS.get(job.workload, kept)
    rows = job.task.rows(job.size)
    tally = job.tally()
    received = 0

    def count(row: Row) -> None:
        nonlocal received
        received += 1

    def inspect(row: Row) -> None:
        tally.take([row])

    job.started()
    loop(rows, inspect if job.exact else count)
    tally.count(received)
    job.ended(tally)


if __name__ == "__main__":
    run(Job.given())
