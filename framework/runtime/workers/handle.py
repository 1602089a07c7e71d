"""The parent's handle of one worker process: its pipe, its status, its end, and its death in words."""

from __future__ import annotations

import contextlib
import enum
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from framework.model.errors import WorkerError
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.statistics import ExecutorStatistics, WorkerReport
from framework.runtime.workers.death_watch import DeathWatch
from framework.runtime.workers.messages import Begin, ToWorker
from framework.runtime.workers.server import Server
from framework.runtime.workers.status import Status, read_status
from viper.blackbox import BlackBox
from viper.life import Life

LAST_THREADS_S = 1.0
"""Seconds that threads of the components' own may still take at the end of their process."""


class Phase(enum.IntEnum):
    """The phases of a worker process, in order."""

    STARTING = 0
    READY = 1
    RAN = 2
    CLOSED = 3


class WorkerHandle:
    """One worker process: its pipe, its status, and how far it has come."""

    def __init__(
        self,
        number: int,
        tasks: Sequence[str],
        process: BaseProcess,
        connection: Connection,
        box: BlackBox,
        before: WorkerHandle | None = None,
        life: Life | None = None,
        server: Server | None = None,
    ) -> None:
        """
        Args:
            number: of its worker, from 1.
            tasks: ``component:task id`` of its tasks.
            process: the process.
            connection: to it.
            box: where it writes its status.
            before: the handle of the process that it replaces, if there was one.
            life: its life; None where the system knows none.
            server: the process that has forked it, and with which it ends; None where there is none.
        """
        self.number = number
        """Of its worker, from 1."""
        self.tasks = tasks
        self.attempt: int = before.attempt + 1 if before else 0
        """The number of times that this worker's process was restarted."""
        self.process = process
        self.connection = connection
        self.phase = Phase.STARTING
        """The last phase that it has completed."""
        self.has_begun: bool = before is not None and before.has_begun
        """True if it was asked to run, or a process before it was: its tasks may have had effects."""
        self.gone = False
        """True if it no longer runs, and all its messages were read."""
        self.given_up = False
        """True if it has been killed, as it did not end."""
        self._box = box
        self._life = life
        self._server = server
        self._watch: DeathWatch | None = None
        self._exit_code: int | None = None
        """Set if it is known before the process has ended."""
        self._earlier: Mapping[int, TaskCounters] = before.counters if before else {}
        """The counters of the processes that it has replaced, by task."""
        self._replaced: Sequence[ExecutorStatistics] = before.executors if before else ()
        """The executors of the processes that it has replaced."""
        self._status: Status | None = None
        self._final: WorkerReport | None = None
        self._sending = threading.Lock()
        self._oom_kills = count_oom_kills()

    # -- what it reports

    @property
    def counters(self) -> Mapping[int, TaskCounters]:
        """The counters of its tasks, by task, those of the processes that it has replaced included."""
        if self._final is not None:
            return self._final.counters
        status = self._look()
        return added(self._earlier, status.counters if status else {})

    @property
    def executors(self) -> Sequence[ExecutorStatistics]:
        """The statistics of its executors, with what those have used that they have replaced."""
        if self._final is not None:
            return self._final.executors
        status = self._look()
        return all_after(self._replaced, status.executors) if status else self._replaced

    @property
    def report(self) -> WorkerReport | None:
        """Its own report, or one of all that is known if it has died; None while it runs."""
        if self._final is not None or not self.gone:
            return self._final
        return WorkerReport(counters=self.counters, results={}, executors=self.executors, drained=False)

    def note_anew(self, task: int, at_least: int) -> int:
        """Note that a spout's task begins again in the next process; to be called once this one is gone.

        Returns:
            How many tuples it had emitted since it had begun; 0 if these are tracked.

        Args:
            task: its id.
            at_least: tuples of it that consumers have got; the status may not have counted them.
        """
        counted = self.counters.get(task, TaskCounters())
        before = max(counted.emitted, at_least) - counted.anew
        self._earlier = added(self._earlier, {task: TaskCounters(anew=before)})
        return 0 if counted.tracked else before

    def reached(self, phase: Phase) -> None:
        """Note that it has completed a phase."""
        self.phase = phase

    def close_with(self, report: WorkerReport) -> None:
        """Note its own report, with which it ends."""
        self._final = replace(
            report,
            counters=added(self._earlier, report.counters),
            executors=all_after(self._replaced, report.executors),
        )

    def _look(self) -> Status | None:
        if not self.gone:
            self._status = read_status(self._box) or self._status
        return self._status

    # -- what it is told

    def begin(self) -> None:
        """Have it run its tasks as soon as they are made."""
        self.has_begun = True
        self.send(Begin())

    def send(self, message: ToWorker) -> None:
        """Send it a message, unless it is gone."""
        if not self.gone:
            # A broken pipe is ignored here: the supervisor notices it when it reads the process's messages.
            with self._sending, contextlib.suppress(OSError):
                self.connection.send(message)

    def give_up(self) -> None:
        """Kill it, as it does not end; its closed pipe then shows that it is gone."""
        self.given_up = True
        self.process.kill()

    # -- its end

    def watch(self, files: frozenset[str], tell: Callable[[int | None], None]) -> None:
        """Have a thread report its death as soon as it runs no more; arguments as of `DeathWatch`."""
        if self._life is not None and self.process.pid is not None:
            self._watch = DeathWatch(self._life, self.process.pid, files, tell)

    def stop(self, exit_code: int) -> None:
        """Note that it runs no more, though the system has not released its memory yet."""
        self._exit_code = exit_code
        self._look()
        self.gone = True

    def end(self) -> bool:
        """Its pipe is closed: wait for its end; whether that came before its time."""
        self.process.join()
        self._look()
        self.gone = True
        return self.phase is not Phase.CLOSED

    def death(self) -> Death:
        """The way in which it ended; to be called once it is gone."""
        death = death_of(
            self._exit_code or self.process.exitcode or 0,
            self._status,
            given_up=self.given_up,
            now_s=time.monotonic(),
            oom_kills=count_oom_kills() - self._oom_kills,
        )
        server = self._server
        if server is not None and server.has_ended and not self.given_up:
            how = f"was ended with the server process that had started it (pid {server.pid})"
            death = replace(death, how=how, hint="")
        return replace(death, how=" ".join(filter(None, (death.how, self.when))))

    @property
    def when(self) -> str:
        """The phase of its end, in words that follow the reason; empty while its tasks run."""
        if self.phase is Phase.STARTING:
            return "while its components were made and initialized"
        if not self.has_begun:
            return "before the run began"
        return "after its tasks had ended" if self.phase >= Phase.RAN else ""

    def error(self, refusal: str = "") -> WorkerError:
        """The error that its end before its time means for the run.

        Args:
            refusal: the reason why it is not restarted; empty to leave that out.
        """
        death = self.death()
        lost = ": what was in flight and the state of its tasks are lost" if self.has_begun else ""
        lost = f"{self._name} {death.how}{lost}"
        return WorkerError("; ".join(filter(None, [lost, refusal, death.doing, death.hint])))

    def unreadable(self, error: Exception) -> WorkerError:
        """The error for a message of the process that cannot be unpickled here."""
        return WorkerError(f"{self._name} sent what cannot be read here: {type(error).__name__}: {error}")

    def leave(self) -> None:
        """Wait for it if it has done all that it had to do or runs no more, and kill it otherwise."""
        if self.gone:
            self.process.join()  # first, as its pid may be that of another process once it has ended
        elif self.phase is Phase.CLOSED:
            self.process.join(LAST_THREADS_S)
        self.process.kill()
        self.process.join()
        if self._watch is not None:
            self._watch.end()
            self._watch = None  # which tells the leader of the handle
        self.connection.close()
        self.process.close()

    @property
    def _name(self) -> str:
        return f"worker process {self.number} (pid {self.process.pid}: {', '.join(self.tasks)})"


def added(earlier: Mapping[int, TaskCounters], now: Mapping[int, TaskCounters]) -> Mapping[int, TaskCounters]:
    """The counts of a process together with those of the ones that it has replaced, by task."""
    if not earlier:
        return now
    together = {task: TaskCounters() for task in (*earlier, *now)}
    for counted in (earlier, now):
        for task, counts in counted.items():
            together[task].add_process(counts)
    return together


def all_after(
    earlier: Sequence[ExecutorStatistics], now: Sequence[ExecutorStatistics]
) -> Sequence[ExecutorStatistics]:
    """The executors of a process, each with what that has used which it has replaced, by number.

    While they are being made, those that are missing are as they were.
    """
    found = {one.number: one for one in earlier}
    for one in now:
        found[one.number] = one.after(found[one.number]) if one.number in found else one
    return [found[number] for number in sorted(found)]


VMSTAT = Path("/proc/vmstat")
"""The file in which Linux counts the processes that it has killed for lack of memory."""


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a worker process before its time."""

    how: str
    """The way in which it ended, such as ``was killed by SIGKILL``."""
    doing: str = ""
    """The callbacks of its tasks when it last reported; empty if it never did."""
    hint: str = ""
    """A possible cause; empty if nothing points to one."""
    peak_bytes: int | None = None
    """The most memory that it had in use; None if that is not known."""


def death_of(exit_code: int, status: Status | None, *, given_up: bool, now_s: float, oom_kills: int) -> Death:
    """The death of a process.

    Args:
        exit_code: its exit status, or minus the number of the signal that killed it.
        status: what it reported last, if it did.
        given_up: whether the parent has killed it, as it did not end.
        now_s: monotonic time in seconds.
        oom_kills: how many processes the system has killed for want of memory since this one was started.
    """
    return Death(
        how=_how(exit_code, given_up),
        doing="" if status is None else _doing(status, now_s),
        hint=_hint(status, oom_kills) if exit_code == -signal.SIGKILL and not given_up else "",
        peak_bytes=None if status is None else status.peak_bytes,
    )


def count_oom_kills() -> int:
    """The number of processes that the system has killed for lack of memory since boot; 0 if not known."""
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def _how(exit_code: int, given_up: bool) -> str:
    if given_up:
        return "did not end in time, and was killed"
    if exit_code == -signal.SIGBUS:  # it touched a page of the channels that the system cannot provide
        return "was killed by SIGBUS: there is no memory left for the channels"
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended with status {exit_code}"


def _doing(status: Status, now_s: float) -> str:
    found = [f"{a.task} in {a.callback} for {status.at_s - a.since_s:.1f} s" for a in status.activities]
    what = ", ".join(found) or "no task in a callback"
    return f"its last report, {max(now_s - status.at_s, 0.0):.1f} s before: {what}"


def _hint(status: Status | None, oom_kills: int) -> str:
    return "".join(_hints(status, oom_kills))


def _hints(status: Status | None, oom_kills: int) -> Iterator[str]:
    if oom_kills:
        yield "the system was out of memory and has killed processes meanwhile"
    else:
        yield "this run did not send that signal; the system does so when it is out of memory"
    if status is not None:
        yield f", and this process had used up to {status.peak_bytes / 2**20:,.0f} MiB"
