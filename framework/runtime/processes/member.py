"""One worker process, as its parent sees it."""

from __future__ import annotations

import contextlib
import enum
import signal
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from framework.errors import WorkerError
from framework.runtime.counters import TaskCounters
from framework.runtime.processes.messages import Look, ToWorker
from framework.runtime.report import WorkerReport
from framework.runtime.statistics import ExecutorStatistics

LAST_THREADS_S = 1.0
"""Seconds that threads of the components' own may still take at the end of their process."""


class Phase(enum.IntEnum):
    """The phases of a worker process, in order."""

    STARTING = 0
    READY = 1
    RAN = 2
    CLOSED = 3


class Member:
    """One worker process: its pipe, and how far it has come."""

    def __init__(self, number: int, tasks: str, process: BaseProcess, connection: Connection) -> None:
        self.tasks = tasks
        self.process = process
        self.connection = connection
        self.phase = Phase.STARTING
        """The last phase that it has completed."""
        self.report: WorkerReport | None = None
        self.counters: Mapping[int, TaskCounters] = {}
        self.executors: Sequence[ExecutorStatistics] = ()
        self.asked = False
        """Whether it has been asked how far it is, and has not answered."""
        self.gone = False
        self._given_up = False
        self._sending = threading.Lock()
        self._number = number

    def send(self, message: ToWorker) -> None:
        """Tell it something, unless it is gone."""
        if not self.gone:
            # That it is gone is noticed where its messages are read.
            with self._sending, contextlib.suppress(OSError):
                self.connection.send(message)

    def look(self) -> None:
        """Ask it how far it is, but once: its pipe must not fill up while it is too busy to answer."""
        if not self.asked:
            self.asked = True
            self.send(Look())

    def give_up(self) -> None:
        """Kill it, as it does not end."""
        self._given_up = True
        self.process.kill()

    def end(self) -> WorkerError | None:
        """Its pipe is closed: how it ended, if that was not as it should."""
        self.gone = True
        self.process.join()
        if self.phase is Phase.CLOSED:
            return None
        return WorkerError(
            f"{self._name} {self._how()}: what was in flight and the state of its tasks are lost"
        )

    def unreadable(self, error: Exception) -> WorkerError:
        """It has sent something that cannot be made sense of here."""
        return WorkerError(f"{self._name} sent what cannot be read here: {type(error).__name__}: {error}")

    def leave(self) -> None:
        """Have done with it: it may end by itself if it has done all it had to do."""
        if self.phase is Phase.CLOSED:
            self.process.join(LAST_THREADS_S)
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.process.close()

    @property
    def _name(self) -> str:
        return f"worker process {self._number} (pid {self.process.pid}: {self.tasks})"

    def _how(self) -> str:
        code = self.process.exitcode or 0
        if self._given_up:
            return "did not end in time, and was killed"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
