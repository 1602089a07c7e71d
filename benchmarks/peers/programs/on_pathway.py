"""Pathway: its tables hold the newest row of each key, and updates come once per commit and not per row.

So the number of its outputs depends on when it commits; what it ends with is compared instead. It reads from
Python, or with the option ``file`` the lines from a file, of which it knows the whole from the beginning.
Threads are its own command's matter: ``pathway spawn``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pathway as pw

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import KEPT_FROM

COMMIT_MS = 100
"""Milliseconds from one commit of the source to the next; longer ones make no difference to the rate."""


class Lines(pw.Schema):
    """Input of the word count."""

    line: str


class Records(pw.Schema):
    """Input of the filter. No column may be called id: that is the row's own."""

    ts: int
    key: int
    value: float


class States(pw.Schema):
    """Input of keyed state."""

    ts: int
    key: int
    segment: int


SCHEMAS: dict[str, Any] = {"words": Lines, "filter": Records, "changes": States}


class Source(pw.io.python.ConnectorSubject):
    """Hands over the input row by row."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        self._rows = job.task.rows(job.size)

    def run(self) -> None:
        """All of it."""
        names = list(SCHEMAS[self._job.workload].column_names())
        self._job.started()
        for row in self._rows:
            self.next(**dict(zip(names, row, strict=True)))


def lines_of_file(job: Job) -> Any:
    """The lines, from a file."""
    path = Path(job.folder, "lines.txt")
    path.write_text("".join(f"{line}\n" for (line,) in job.task.rows(job.size)), encoding="utf-8")
    return pw.io.fs.read(path, format="plaintext", mode="static").select(line=pw.this.data)


def words(job: Job, lines: Any) -> Any:
    """Word count."""
    is_first = bool(job.option("file"))

    @pw.udf
    def split(line: str) -> list[str]:
        nonlocal is_first
        if is_first:  # of a file nobody tells when it begins
            is_first = False
            job.started()
        return line.split()

    found = lines.select(word=split(pw.this.line)).flatten(pw.this.word)
    return found.groupby(pw.this.word).reduce(pw.this.word, count=pw.reducers.count())


def kept(records: Any) -> Any:
    """The filter, as a Python function."""

    @pw.udf(deterministic=True)
    def is_kept(value: float) -> bool:
        return value >= KEPT_FROM

    return records.filter(is_kept(pw.this.value))


def changes(states: Any) -> Any:
    """Keyed state."""
    return states.deduplicate(
        value=pw.this.segment, instance=pw.this.key, acceptor=lambda new, old: bool(new != old)
    )


def result_of(job: Job) -> Any:
    """The table that a job ends with."""
    if job.option("file"):
        return words(job, lines_of_file(job))
    source = pw.io.python.read(Source(job), schema=SCHEMAS[job.workload], autocommit_duration_ms=COMMIT_MS)
    return (
        words(job, source)
        if job.workload == "words"
        else {"filter": kept, "changes": changes}[job.workload](source)
    )


def run(job: Job) -> None:
    """Run a job, in a process that Pathway has started."""
    tally = job.tally()
    result = result_of(job)
    names = result.column_names()

    def take(key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        if is_addition:
            tally.take([tuple(row[name] for name in names)])

    pw.io.subscribe(result, on_change=take, on_end=lambda: job.ended(tally))
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


def spawned(job: Job) -> list[str]:
    """The command that runs this program with so many threads."""
    pathway = str(Path(sys.executable).with_name("pathway"))
    program = [sys.executable, "-m", str(__spec__.name)]
    return [pathway, "spawn", "--threads", str(job.option("threads")), *program]


if __name__ == "__main__":
    given = Job.given()
    if given.option("threads", 1) > 1 and "PATHWAY_THREADS" not in os.environ:
        told = spawned(given)
        os.execv(told[0], told)
    run(given)
