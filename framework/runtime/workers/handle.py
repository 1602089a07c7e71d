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
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.statistics import ExecutorStatistics, WorkerReport
from framework.runtime.workers.messages import Look, ToWorker

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

    def __init__(
        self,
        number: int,
        tasks: Sequence[str],
        process: BaseProcess,
        connection: Connection,
        before: Member | None = None,
    ) -> None:
        """
        Args:
            number: of its worker, from 1.
            tasks: ``component:task id`` of its tasks.
            process: the process.
            connection: to it.
            before: the one that died in its place, if one did.
        """
        self.tasks = tasks
        self.incarnation: int = before.incarnation + 1 if before else 0
        """How many have died in its place."""
        self._before: Mapping[int, TaskCounters] = before.counters if before else {}
        self.process = process
        self.connection = connection
        self.phase = Phase.STARTING
        """The last phase that it has completed."""
        self.report: WorkerReport | None = None
        self.counters: Mapping[int, TaskCounters] = self._before
        """How far its tasks have come, by task, with what those before it had done."""
        self.executors: Sequence[ExecutorStatistics] = ()
        self.asked = False
        """Whether it has been asked how far it is, and has not answered."""
        self.gone = False
        self.given_up = False
        """Whether it has been killed, as it did not end."""
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
        self.given_up = True
        self.process.kill()

    def heard(self, counters: Mapping[int, TaskCounters], executors: Sequence[ExecutorStatistics]) -> None:
        """It has said how far it is."""
        self.counters, self.executors, self.asked = with_those_of(self._before, counters), executors, False

    def end(self) -> bool:
        """Its pipe is closed: wait for its end; whether that came before its time."""
        self.gone = True
        self.process.join()
        return self.phase is not Phase.CLOSED

    def error(self, refusal: str = "") -> WorkerError:
        """What its end before its time means for the run.

        Args:
            refusal: why nobody takes its place, where that has to be said.
        """
        lost = "what was in flight and the state of its tasks are lost"
        return WorkerError("; ".join(filter(None, [f"{self._name} {self.how()}: {lost}", refusal])))

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
        return f"worker process {self._number} (pid {self.process.pid}: {', '.join(self.tasks)})"

    def how(self) -> str:
        """How it ended, in words."""
        code = self.process.exitcode or 0
        if self.given_up:
            return "did not end in time, and was killed"
        if code == -signal.SIGBUS:  # a page of the channels, which nothing is left for
            return "was killed by SIGBUS: there is no memory left for the channels"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def with_those_of(
    before: Mapping[int, TaskCounters], now: Mapping[int, TaskCounters]
) -> Mapping[int, TaskCounters]:
    """The counts of a process together with those of the ones before it, by task."""
    if not before:
        return now
    together = {task: TaskCounters() for task in (*before, *now)}
    for counted in (before, now):
        for task, counts in counted.items():
            together[task].add(counts)
    return together
