"""Bytewax, with its own command line: ``workers`` threads of a process, or so many ``processes``.

Its source hands over a batch at a time, as large as the option ``batch`` says, which decides its throughput.
With several workers the input has as many partitions. For latency the option ``poll`` says whether the
source is asked again ``at its own pace``, or ``when due``: when the next row is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import KEPT_FROM, Paced, Row

WAITS = {"at its own pace": False, "when due": True}
"""The settings of a source: true if it says when it wants to be asked again, by the option ``poll``."""


class Rows(StatefulSourcePartition):
    """A partition of the input, from memory."""

    def __init__(self, job: Job, part: int, parts: int) -> None:
        rows: list[Any] = job.task.rows(job.size, part, parts)
        # A line is an item of its own, so that the method of texts can be the function of its splitter.
        self._rows = [line for (line,) in rows] if job.workload == "words" else rows
        self._batch = job.option("batch")
        self._next = 0
        self._job = job

    def next_batch(self) -> list[Any]:
        """The next items."""
        if not self._next:
            self._job.started()
        if self._next >= len(self._rows):
            raise StopIteration
        batch = self._rows[self._next : self._next + self._batch]
        self._next += self._batch
        return batch

    def snapshot(self) -> None:
        """Nothing is recovered."""


class PacedRows(StatefulSourcePartition):
    """A partition of rows that come when they are due."""

    def __init__(self, job: Job, part: int, parts: int) -> None:
        self._job, self._part = job, (part, parts)
        self._waits = WAITS[job.option("poll")]
        self._ahead: Iterator[Row] | None = None
        self._next: Row | None = None

    def next_batch(self) -> list[Row]:
        """All rows that are due."""
        if self._ahead is None:
            task = self._job.task
            assert isinstance(task, Paced)
            self._job.started()
            self._ahead = task.schedule(self._job.size, *self._part)
            self._next = next(self._ahead)
        due: list[Row] = []
        now = time.monotonic_ns()
        while self._next is not None and self._next[1] <= now:
            due.append(self._next)
            self._next = next(self._ahead, None)
        if self._next is None and not due:
            raise StopIteration
        return due

    def next_awake(self) -> datetime | None:
        """Tell when to ask again; None leaves it to Bytewax, which then asks about once in a millisecond."""
        if not self._waits or self._next is None:
            return None
        return datetime.now(UTC) + timedelta(microseconds=(self._next[1] - time.monotonic_ns()) / 1000)

    def snapshot(self) -> None:
        """Nothing is recovered."""


class Source(FixedPartitionedSource):
    """The input, in a partition for each worker."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._parts = job.option("workers", 1) * job.option("processes", 1)

    def list_parts(self) -> list[str]:
        """Their names."""
        return [str(part) for part in range(self._parts)]

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> StatefulSourcePartition:
        """One of them."""
        kind = PacedRows if self._job.workload == "latency" else Rows
        return kind(self._job, int(for_part), self._parts)


class TallyPart(StatelessSinkPartition):
    """Counts what one worker has for the sink."""

    def __init__(self, job: Job) -> None:
        self._job, self._tally = job, job.tally()
        self._are_keyed = job.workload == "latency"

    def write_batch(self, items: list[Any]) -> None:
        """Count some; rows come with their key where no step is spent on removing it."""
        self._tally.take([row for _, row in items] if self._are_keyed else items)

    def close(self) -> None:
        """Say so."""
        self._job.ended(self._tally)


class TallySink(DynamicSink):
    """Counts, on each worker for itself."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def build(self, step_id: str, worker_index: int, worker_count: int) -> StatelessSinkPartition:
        """The part of one worker."""
        return TallyPart(self._job)


def count(state: int | None, word: str) -> tuple[int, int]:
    """A word's next count, which is also what is emitted."""
    number = (state or 0) + 1
    return number, number


def change(segment: int | None, row: Row) -> tuple[int, Row | None]:
    """An id's next segment, and the record if it has changed it."""
    return row[2], row if row[2] != segment else None


def count_paced(state: int | None, row: Row) -> tuple[int, Row]:
    """A key's next count, and the row with it."""
    number = (state or 0) + 1
    return number, (row[0], number, row[1])


def dataflow() -> Dataflow:
    """The flow of this process's job."""
    job = Job.given()
    flow = Dataflow("workload")
    stream = op.input("source", flow, Source(job))
    if job.workload == "words":
        words = op.key_on("key", op.flat_map("split", stream, str.split), lambda word: word)
        stream = op.stateful_map("count", words, count)
    elif job.workload == "changes":
        by_id = op.key_on("key", stream, lambda row: str(row[1]))  # keys are texts here
        states = op.stateful_map("change", by_id, change)
        stream = op.filter_map("changed", states, lambda keyed: keyed[1])
    elif job.workload == "latency":
        by_key = op.key_on("key", op.map("forward", stream, lambda row: row), lambda row: str(row[0]))
        stream = op.stateful_map("count", by_key, count_paced)
    else:
        stream = op.filter("keep", stream, lambda row: row[-1] >= KEPT_FROM)
    op.output("sink", stream, TallySink(job))
    return flow


def command(job: Job) -> list[str]:
    """The command line that runs the flow."""
    module = "bytewax.testing" if job.option("processes") else "bytewax.run"
    workers = {"-w": job.option("workers"), "-p": job.option("processes")}
    options = chain.from_iterable((name, str(number)) for name, number in workers.items() if number)
    return [sys.executable, "-m", module, f"{__spec__.name}:dataflow()", *options]


if __name__ == "__main__":
    told = command(Job.given())
    os.execv(told[0], told)
