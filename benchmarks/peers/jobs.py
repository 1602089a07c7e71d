"""The job of a program in the comparison, and its report of its run.

A program runs in a process of its own, maybe in several and in a peer's own environment. It reads its job
from the environment, and writes marks into the job's folder: when its first row left the source, and when its
last sink had ended. Times are monotonic, and so the same for all processes of a machine. The module uses the
standard library only.
"""

from __future__ import annotations

import json
import os
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.workloads import WORKLOADS, Paced, Row, Workload, digest
from benchmarks.processes import tree

VARIABLE = "BENCHMARK_JOB"
"""Environment variable that carries the job."""
LAUNCHER = "BENCHMARK_LAUNCHER"
"""Environment variable that carries the process which has launched the job, and no other at this time."""


watchers: list[Callable[[bool], None]] = []
"""Called where the first row leaves the source, with True, and where the sink has ended, with False."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one program."""

    workload: str
    """Its name."""
    size: int
    """Rows of input."""
    folder: str
    """The folder to which marks and delays are written; a job's own."""
    exact: bool = False
    """True if the sink computes a digest of what it receives, instead of counting it only."""
    options: Mapping[str, Any] | None = None
    """The program's options beside that, as plain values of JSON."""

    @property
    def task(self) -> Workload:
        """The workload."""
        return WORKLOADS[self.workload]

    def option(self, name: str, default: Any = None) -> Any:
        """One of the options."""
        return (self.options or {}).get(name, default)

    def to_json(self) -> str:
        """As text, for an environment variable or the constructor of a component."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        """The same again."""
        return Job(**json.loads(text))

    @staticmethod
    def given() -> Job:
        """The job of this process."""
        return Job.from_json(os.environ[VARIABLE])

    def started(self) -> None:
        """Mark that the first row is about to leave the source."""
        cpu_s = _others_cpu_s() + time.process_time()
        self._mark({"started_ns": time.monotonic_ns(), "cpu_s": cpu_s})
        for watcher in watchers:
            watcher(True)

    def ended(self, tally: Tally) -> None:
        """Mark that a sink has received everything, and what that was."""
        for watcher in watchers:
            watcher(False)
        now_ns, own_s = time.monotonic_ns(), time.process_time()
        self._mark({"ended_ns": now_ns, "cpu_s": own_s + _others_cpu_s(), **tally.summary()})
        if isinstance(tally, DelayTally):
            with Path(self.folder, f"{os.getpid()}-{id(tally)}.delays").open("wb") as file:
                tally.delays_ns.tofile(file)

    def tally(self) -> Tally:
        """Make the tally by which the job's sink counts."""
        return (DelayTally if isinstance(self.task, Paced) else Tally)(self)

    def _mark(self, mark: Mapping[str, Any]) -> None:
        # A write of a line at the end of a file is whole, also where several processes write.
        with Path(self.folder, "marks").open("a", encoding="utf-8") as file:
            file.write(json.dumps(mark) + "\n")


def _others_cpu_s() -> float:
    """Seconds of processor time of all processes of the job but this one, as far as they are alive."""
    launcher = os.environ.get(LAUNCHER)
    pids = tree(int(launcher))[1:] if launcher else []
    return sum(_cpu_s(pid) for pid in pids if pid != os.getpid())


def _cpu_s(pid: int) -> float:
    """Seconds of processor time of a process; 0 of one that has ended."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) makes it, which Python has not
    except OSError:
        return 0.0


class Tally:
    """The rows that a sink has received."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._rows = 0
        self._digest = 0
        self._newest: dict[Any, Row] = {}

    def take(self, rows: Sequence[Row]) -> None:
        """Count some rows, and digest them if the job asks for it."""
        self._rows += len(rows)
        if self._job.exact:
            self._inspect(rows)

    def count(self, rows: int) -> None:
        """Count so many rows that somebody has counted already."""
        self._rows += rows

    def _inspect(self, rows: Iterable[Row]) -> None:
        for row in map(tuple, rows):
            self._digest += digest([row])
            self._newest[self._job.task.key(row)] = row

    def summary(self) -> dict[str, Any]:
        """For the mark at the end; the newest rows as pairs with their keys, if they were inspected."""
        return {
            "rows": self._rows,
            "digest": self._digest,
            "newest": [list(row) for row in self._newest.values()],
        }


class DelayTally(Tally):
    """A tally of rows that end with the time for which they were scheduled; it keeps how late they are."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.delays_ns = array("q")

    def take(self, rows: Sequence[Row]) -> None:
        """Note the delays of some rows."""
        now = time.monotonic_ns()
        self.delays_ns.extend([now - row[-1] for row in rows])
        super().take(rows)

    def _inspect(self, rows: Iterable[Row]) -> None:
        super()._inspect(row[:-1] for row in rows)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures that the marks of a run give."""

    seconds: float
    """From the first row at the source to the end of the last sink."""
    rows: int
    """Rows that all sinks received."""
    digest: int
    """Of all these rows, where the job asked for it."""
    newest: int
    """Digest of the newest row of each key, where the job asked for it."""
    delays_us: Sequence[float] = ()
    """Percentiles of delays in microseconds, as `PERCENTILES` names them; empty where none are measured."""
    cpu_s: float = 0.0
    """Processor time of all processes meanwhile, in seconds."""


PERCENTILES = {"p50": 0.5, "p99": 0.99}


def outcome_of(job: Job) -> Outcome:
    """Read what a run has written into its job's folder.

    Raises:
        ValueError: it has no mark of its beginning, or none of its end.
    """
    marks = [json.loads(line) for line in Path(job.folder, "marks").read_text(encoding="utf-8").splitlines()]
    starts = [mark for mark in marks if "started_ns" in mark]
    ends = [mark for mark in marks if "ended_ns" in mark]
    if not starts or not ends:
        raise ValueError(
            f"the run marked {len(starts)} beginnings and {len(ends)} ends: expected some of both"
        )
    first = min(starts, key=lambda mark: mark["started_ns"])
    last = max(ends, key=lambda mark: mark["ended_ns"])
    newest = {job.task.key(tuple(row)): tuple(row) for mark in ends for row in mark["newest"]}
    return Outcome(
        seconds=(last["ended_ns"] - first["started_ns"]) / 1e9,
        rows=sum(mark["rows"] for mark in ends),
        digest=sum(mark["digest"] for mark in ends),
        newest=digest(newest.values()),
        delays_us=_percentiles(job),
        cpu_s=last["cpu_s"] - first["cpu_s"],
    )


def _percentiles(job: Job) -> Sequence[float]:
    delays = array("q")
    for path in Path(job.folder).glob("*.delays"):
        with path.open("rb") as file:
            part = array("q")
            part.frombytes(file.read())
            # A sink's rows come nearly in the order of their schedule, so the warm-up is left out by number.
            delays.extend(part[round(len(part) * _warm_up(job)) :])
    ordered = sorted(delays)
    return [ordered[int(share * len(ordered))] / 1e3 for share in PERCENTILES.values()] if ordered else []


def _warm_up(job: Job) -> float:
    """The part of a run whose delays do not count, at most a half."""
    task = job.task
    if not isinstance(task, Paced):
        return 0.0
    return min(float(job.option("warm_up_s", task.warm_up_s)) * task.rate / job.size, 0.5)
