"""The status that a worker process reports while it runs, in shared memory that outlives the process.

A thread of the process writes its counters, and the present work of its tasks, into a black box in shared
memory. It does so several times a second while tuples move, and once a second while none do. The parent reads
them from there, for its progress as well as for its message when the process has died. So no process has to
be asked, and one that is too busy to answer is known as well.
"""

from __future__ import annotations

import pickle
import resource
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import callback_of
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.statistics import ExecutorStatistics
from viper.blackbox import BlackBox

PERIOD_S = 0.1
"""Seconds between two reports while tuples move."""
LONGEST_PAUSE_S = 1.0
"""Seconds between two reports while none do; the first that moves ends the pause. A callback that is stuck
shows as late as that."""


_SHORT_MESSAGE = 60


@dataclass(frozen=True, slots=True)
class Activity:
    """A callback that has not returned."""

    task: str
    """``component:task id``."""
    callback: str
    """The name of the callback, such as ``process``."""
    since_s: float
    """Monotonic time in seconds at which it was first seen."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a worker process at one moment."""

    at_s: float
    """The moment, as monotonic time in seconds."""
    counters: Mapping[int, TaskCounters]
    """By task."""
    executors: Sequence[ExecutorStatistics]
    activities: Sequence[Activity]
    peak_bytes: int
    """The most memory that the process has had in use."""


class Reporting(Protocol):
    """The source of a status, which `Worker` is."""

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """The progress of each process; here there is only one."""

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """The statistics of its executors."""

    def threads(self) -> Mapping[int, Executor]:
        """Its executors by the identifiers of their threads."""


class StatusWriter:
    """Keeps the status of this process up to date.

    Args:
        worker: whose status it is.
        box: where the parent reads it.
    """

    def __init__(self, worker: Reporting, box: BlackBox) -> None:
        self._worker = worker
        self._box = box
        self._calls: dict[int, tuple[tuple[str, int], float]] = {}
        """By thread: which call of which task was seen last, and when it was first seen."""
        self._over = threading.Event()
        self._has_moved = True
        """True if tuples have moved since the last report."""
        self._writing = threading.Lock()
        """Held while the box is written to, which has one writer."""
        self._called = threading.Event()
        """Set when tuples move, to end a long pause."""
        self._called.set()

    def moved(self) -> None:
        """Note that tuples have moved; called by executors' threads after each turn in which some have."""
        if not self._has_moved:
            self._has_moved = True
            self._called.set()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """For as long as the block runs, a thread writes the status."""
        thread = threading.Thread(target=self._run, name="viper-status", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._called.set()
            thread.join()

    def write(self) -> None:
        """Write the status as it is now."""
        with self._writing:
            for status in _shorter_and_shorter(self._status(time.monotonic())):
                packed = _packed(status)
                if packed is not None and self._box.write(packed):
                    return

    def _run(self) -> None:
        while not self._over.wait(PERIOD_S):
            self._called.wait(LONGEST_PAUSE_S - PERIOD_S)
            # Cleared first: what moves from now on may be missing in this report, and leads to another one.
            self._called.clear()
            self._has_moved = False
            self.write()

    def _status(self, now_s: float) -> Status:
        (counters,) = self._worker.counters()
        return Status(
            at_s=now_s,
            counters=counters,
            executors=self._worker.statistics(),
            activities=list(self._activities(now_s)),
            peak_bytes=_peak_bytes(),
        )

    def _activities(self, now_s: float) -> Iterator[Activity]:
        for thread, executor in list(self._worker.threads().items()):
            current = executor.current
            if current is None:
                self._calls.pop(thread, None)
                continue
            call = (current.name, executor.calls)
            if self._calls.get(thread, (None, 0.0))[0] != call:
                self._calls[thread] = (call, now_s)
            yield Activity(current.name, callback_of(thread, Executor.call.__code__), self._calls[thread][1])


def read_status(box: BlackBox) -> Status | None:
    """The last status that a process has written; None if it has not written any."""
    record = box.read()
    if record is None:
        return None
    status: Status = pickle.loads(record)
    return status


def _packed(status: Status) -> bytes | None:
    try:
        return pickle.dumps(status, pickle.HIGHEST_PROTOCOL)
    except Exception:  # a component changes a metric that it has reported, just now
        return None


def _shorter_and_shorter(status: Status) -> Iterator[Status]:
    """A status, and then less and less of what may be of any size; what people miss least goes first."""
    yield status
    left: Mapping[str, Any] = {"metrics": {}, "reasons": {}, "places": {}}
    plain = {
        task: replace(counted, **left, costs=replace(counted.costs, streams={}))
        for task, counted in status.counters.items()
    }
    yield replace(status, counters=plain)
    for most in (_SHORT_MESSAGE, 0):
        short = {task: _with_messages_of(most, counted) for task, counted in plain.items()}
        yield replace(status, counters=short)
    nothing = {task: replace(counted, error_sites={}) for task, counted in plain.items()}
    yield replace(status, counters=nothing)
    yield replace(status, counters=nothing, executors=())


def _with_messages_of(most: int, counted: TaskCounters) -> TaskCounters:
    sites = {place: replace(site, message=site.message[:most]) for place, site in counted.error_sites.items()}
    return replace(counted, error_sites=sites)


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
