"""The worker processes of a run, as their parent sees them."""

from __future__ import annotations

import contextlib
import enum
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd

from framework.config import Settings
from framework.errors import ViperError, WorkerError
from framework.planning import Plan
from framework.runtime.counters import TaskCounters
from framework.runtime.network import Network
from framework.runtime.processes import child
from framework.runtime.processes.logs import current_levels, log_here
from framework.runtime.processes.messages import (
    Abort,
    Begin,
    Close,
    Closed,
    Failed,
    FromWorker,
    Logged,
    Look,
    Looked,
    Ran,
    Ready,
    Stop,
    ToWorker,
)
from framework.runtime.processes.shipping import Job, pack
from framework.runtime.report import WorkerReport
from framework.runtime.statistics import ExecutorStatistics
from framework.runtime.stop import StopSignal
from framework.runtime.tape import Tape
from framework.tracebacks import RemoteTraceback

LOOK_PERIOD_S = 0.05
"""Seconds between two looks at the clock and at who asks for the end."""
LAST_CALL_S = 4.0
"""Seconds, beyond the drain's, that a worker has to come to its end; then it is killed."""
HASH_SEED = "0"
"""Python's hashes of texts are the same in all worker processes and runs, and so is the order of sets."""


class Phase(enum.IntEnum):
    """The phases of a worker process, in order."""

    STARTING = 0
    READY = 1
    RAN = 2
    CLOSED = 3


class _Process:
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
            f"worker process {self._number} (pid {self.process.pid}: {self.tasks}) {self._how()}: "
            "what was in flight and the state of its tasks are lost"
        )

    def _how(self) -> str:
        code = self.process.exitcode or 0
        if self._given_up:
            return "did not end in time, and was killed"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


class Fleet:
    """Leads worker processes through the phases of a run, all of them through one before the next."""

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        *,
        stop: StopSignal,
        tape: Tape,
        on_look: Callable[[float], None],
    ) -> None:
        """
        Args:
            plan: the whole run.
            settings: the configuration it was planned with.
            network: its channels, in memory that processes can share.
            stop: asks for the end.
            tape: what is recorded, and what is replayed.
            on_look: called many times a second, with the monotonic time in seconds.
        """
        self._plan = plan
        self._settings = settings
        self._network = network
        self._stop = stop
        self._tape = tape
        self._on_look = on_look
        self._workers: list[_Process] = []
        self._failures: list[ViperError] = []
        self._told_stop = self._told_abort = False

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """For as long as the block runs; no process outlives it."""
        try:
            yield
        finally:
            for worker in self._workers:
                if worker.process.is_alive():
                    worker.process.kill()
                worker.process.join()
                worker.connection.close()
                worker.process.close()
            self._workers.clear()

    def prepare(self) -> None:
        """Start all processes and have them initialize their components.

        Raises:
            TopologyError: a component cannot be made in another process.
            ComponentError: one of them raised.
            WorkerError: a process ended before its time.
        """
        jobs = [pack(self._job(index)) for index in range(len(self._plan.placement.processes))]
        context = _context()
        with _fixed_hashes():
            for index, packed in enumerate(jobs):
                self._workers.append(self._started(context, index, packed))
        self._wait_for(Phase.READY)

    def run(self) -> None:
        """Run until all tasks have ended, or the run is stopped.

        Raises:
            ComponentError: user code raised; everything else has been stopped.
            WorkerError: a process ended before its time; likewise.
        """
        self._tell_all(Begin())
        self._wait_for(Phase.RAN)

    def close(self) -> Sequence[ViperError]:
        """Close all components, whatever happens to some; returns what went wrong there."""
        self._failures.clear()
        self._tell_all(Close())
        with contextlib.suppress(ViperError):
            self._wait_for(Phase.CLOSED)
        return self._failures

    def reports(self) -> Sequence[WorkerReport]:
        """What the processes did, of those that have come to their end."""
        return [worker.report for worker in self._workers if worker.report is not None]

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """How far the processes had come when they last said so; asks them to say it again."""
        self._ask_all()
        return [worker.counters for worker in self._workers]

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """How all executors were doing when their processes last said so; asks them to say it again."""
        self._ask_all()
        return [executor for worker in self._workers for executor in worker.executors]

    # -- starting

    def _job(self, index: int) -> Job:
        return Job(
            plan=self._plan,
            settings=self._settings,
            place=self._network.place,
            process=index,
            tape=self._tape,
            levels=current_levels(),
            environment=dict(os.environ),
        )

    def _started(self, context: BaseContext, index: int, packed: bytes) -> _Process:
        ours, theirs = context.Pipe()
        process = context.Process(  # type: ignore[attr-defined]
            target=child.main,
            args=(theirs, self._network.arena.handle(), _Streams(), packed),
            name=f"viper-worker-{index + 1}",
        )
        process.start()
        theirs.close()
        return _Process(index + 1, self._names(index), process, ours)

    def _names(self, index: int) -> str:
        executors = self._plan.placement.executors
        mine = {task for e in self._plan.placement.processes[index] for task in executors[e].tasks}
        return ", ".join(f"{task.component}:{task.id}" for task in self._plan.tasks if task.id in mine)

    # -- hearing

    def _wait_for(self, phase: Phase) -> None:
        """Until every process has completed a phase; then the first failure is raised."""
        began = time.monotonic()
        while any(not worker.gone and worker.phase < phase for worker in self._workers):
            listening = {worker.connection: worker for worker in self._workers if not worker.gone}
            for connection in wait(list(listening), LOOK_PERIOD_S):
                self._hear(listening[connection])  # type: ignore[index]
            now = time.monotonic()
            self._on_look(now)
            self._pass_on_stop()
            if self._is_over(now, began):
                for worker in self._workers:
                    if worker.phase < phase:
                        worker.give_up()  # which its closed pipe then tells
        if self._failures:
            raise self._failures[0]

    def _hear(self, worker: _Process) -> None:
        try:
            message: FromWorker = worker.connection.recv()
        except (EOFError, OSError):
            self._note(worker.end())
            return
        match message:
            case Logged(record):
                log_here(record)
            case Looked(counters, executors):
                worker.counters, worker.executors, worker.asked = counters, executors, False
            case Failed():
                self._note(_raised(message))
                worker.phase = Phase.RAN
            case Closed(report, failures):
                worker.report, worker.counters, worker.executors = report, report.counters, report.executors
                for found in failures:
                    self._note(_raised(found))
                worker.phase = Phase.CLOSED
            case Ready():
                worker.phase = Phase.READY
            case Ran():
                worker.phase = Phase.RAN

    def _note(self, error: ViperError | None) -> None:
        if error is not None:
            self._failures.append(error)
            self._stop.abort()

    # -- stopping

    def _tell_all(self, message: ToWorker) -> None:
        for worker in self._workers:
            worker.send(message)

    def _ask_all(self) -> None:
        for worker in self._workers:
            worker.look()

    def _pass_on_stop(self) -> None:
        if self._stop.aborted and not self._told_abort:
            self._told_abort = True
            self._tell_all(Abort())
        elif self._stop.reason is not None and not self._told_stop:
            self._told_stop = True
            self._tell_all(Stop(self._stop.reason))

    def _is_over(self, now: float, began: float) -> bool:
        """Whether a phase that began at a time takes too long, once the end was asked for."""
        if self._stop.at_s is None:
            return False
        drain_s = 0 if self._stop.aborted else self._settings["viper.drain.timeout.secs"]
        return now > max(self._stop.at_s, began) + drain_s + LAST_CALL_S


class _Streams:
    """Stdout and stderr as they are now, for a process that is about to be started."""

    def __reduce__(self) -> tuple[type, tuple[list[tuple[int, object]]]]:
        return dict, ([(number, DupFd(number)) for number in (1, 2) if _is_open(number)],)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _context() -> BaseContext:
    """How processes are started: from a server that has imported what they need, or each anew."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    ported = ["framework.adapters.ported_host", "streamparse"] if "streamparse" in sys.modules else []
    context.set_forkserver_preload([child.__name__, *ported])
    return context


@contextlib.contextmanager
def _fixed_hashes() -> Iterator[None]:
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = HASH_SEED
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONHASHSEED"]
        else:
            os.environ["PYTHONHASHSEED"] = before


def _raised(failed: Failed) -> ViperError:
    error = failed.error
    if failed.traceback:
        error.__cause__ = RemoteTraceback(failed.traceback)
    return error
