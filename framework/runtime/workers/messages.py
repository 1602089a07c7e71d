"""What a parent and its worker processes say to each other, over one pipe for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import LogRecord

from framework.errors import ViperError
from framework.runtime.control.stop import StopReason
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.statistics import ExecutorStatistics, WorkerReport

# -- to a worker


@dataclass(frozen=True, slots=True)
class Begin:
    """All workers are ready: run."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Drain."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class SetActive:
    """Have the spouts asked for tuples, or not."""

    active: bool


@dataclass(frozen=True, slots=True)
class Abort:
    """Something has failed elsewhere: nothing is to go on."""


@dataclass(frozen=True, slots=True)
class Look:
    """Say how far you have come."""


@dataclass(frozen=True, slots=True)
class Dump:
    """Log where all tasks are that are in a callback."""


@dataclass(frozen=True, slots=True)
class Close:
    """All workers have run: close the components, report, and end."""


ToWorker = Begin | SetActive | Stop | Abort | Look | Dump | Close

# -- from a worker


@dataclass(frozen=True, slots=True)
class Ready:
    """All components have been initialized."""


@dataclass(frozen=True, slots=True)
class Looked:
    """How far it has come."""

    counters: Mapping[int, TaskCounters]
    """By task."""
    executors: Sequence[ExecutorStatistics]


@dataclass(frozen=True, slots=True)
class Logged:
    """A component, or the worker itself, has logged something."""

    record: LogRecord


@dataclass(frozen=True, slots=True)
class Failed:
    """It cannot go on; it closes its components all the same when it is told to."""

    error: ViperError
    traceback: str
    """Of what user code raised; empty if it did not."""
    kind: str = ""
    """The name of the type of what user code raised; empty if it did not."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Its tasks have ended."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Its components are closed; it ends."""

    report: WorkerReport
    failures: Sequence[Failed]


FromWorker = Ready | Looked | Logged | Failed | Ran | Closed
