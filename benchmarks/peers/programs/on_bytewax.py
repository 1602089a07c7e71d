"""Bytewax, with its own command line: ``workers`` threads of a process, or so many ``processes``.

The option ``shape`` says what an item of its streams is, and so how its programs are written:

===========  ====================================================================================
single       a line or a record, through the operators that its documentation begins with
by hand      likewise, through a `StatefulBatchLogic` and functions that take a batch of the source
lists        a list of so many lines or records
Arrow        a record batch of so many
===========  ====================================================================================

The option ``batch`` is the number of items that the source hands over at a time; of lists and record batches
it is their length, and one is handed over. With several workers the input has as many partitions. For latency
the option ``poll`` says whether the source is asked again ``at its own pace``, or ``when due``: when the next
row is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import Paced, Row

SHAPES = {"single": "single", "by hand": "by_hand", "lists": "lists", "Arrow": "arrow"}
"""The modules of the shapes, each with its ``items``, ``steps`` and ``count``."""

WAITS = {"at its own pace": False, "when due": True}
"""The settings of a source: true if it says when it wants to be asked again, by the option ``poll``."""


def shape_of(job: Job) -> Any:
    """The module of a job's shape, as not every one needs Arrow."""
    return import_module(f"{__package__}.bytewax_{SHAPES[job.option('shape', 'single')]}")


class Items(StatefulSourcePartition):
    """A partition of the input, from memory."""

    def __init__(self, job: Job, part: int, parts: int) -> None:
        self._items: Sequence[Any]
        self._at_once: int
        self._items, self._at_once = shape_of(job).items(job, part, parts)
        self._next = 0
        self._job = job

    def next_batch(self) -> Sequence[Any]:
        """The next items."""
        if not self._next:
            self._job.started()
        if self._next >= len(self._items):
            raise StopIteration
        batch = self._items[self._next : self._next + self._at_once]
        self._next += self._at_once
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
        kind = PacedRows if self._job.task.kind == "latency" else Items
        return kind(self._job, int(for_part), self._parts)


class TallyPart(StatelessSinkPartition):
    """Counts what one worker has for the sink."""

    def __init__(self, job: Job) -> None:
        self._job, self._tally = job, job.tally()
        self._count = shape_of(job).count

    def write_batch(self, items: list[Any]) -> None:
        """Count some."""
        self._count(self._job, self._tally, items)

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


def dataflow() -> Dataflow:
    """The flow of this process's job."""
    job = Job.given()
    flow = Dataflow("workload")
    stream = shape_of(job).steps(job, op.input("source", flow, Source(job)))
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
