"""A worker process: runs its share of a plan, as its parent leads it."""

from __future__ import annotations

import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from framework.components.component import LOGGER_PREFIX
from framework.errors import ComponentError, LoadError, ViperError, WorkerError
from framework.importing import importable
from framework.prints import prints_to_stderr
from framework.runtime.assembly.network import Network
from framework.runtime.control.stop import StopReason, StopSignal
from framework.runtime.workers.logs import forward_logs
from framework.runtime.workers.messages import (
    Abort,
    Begin,
    Close,
    Closed,
    Dump,
    Failed,
    FromWorker,
    Logged,
    Look,
    Looked,
    Ran,
    Ready,
    SetActive,
    Stop,
)
from framework.runtime.workers.results import with_packed_results
from framework.runtime.workers.shipping import Job, unpack
from framework.runtime.workers.worker import Worker
from framework.tracebacks import of_user_code
from viper.arena import ArenaHandle

log = logging.getLogger("viperstorm.worker")

ORPHANED = 70
"""Exit status of a worker whose parent has died."""
LEFT_TO_PARENT = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGQUIT))
"""Signals that a worker ignores; it is started with them blocked."""


def main(connection: Connection, handle: ArenaHandle, streams: dict[int, Any], packed: bytes) -> None:
    """What a worker process executes.

    Args:
        connection: to the parent.
        handle: of the arena that the parent has made.
        streams: the parent's stdout and stderr, by number, as duplicated descriptors.
        packed: the job.
    """
    _leave_signals_to_parent()
    _take_over(streams)
    line = _Line(connection)
    try:
        with prints_to_stderr():  # as user code is imported on the way
            job = unpack(packed)
        os.environ.clear()
        os.environ.update(job.environment)
        with importable(job.plan.topology.import_paths):
            _Child(line, handle, job).live()
    except BrokenPipeError:
        os._exit(ORPHANED)
    except BaseException as error:
        line.send(failed(error))
        line.closing.wait()
    finally:
        _flush()


class _Line:
    """The child's end of the pipe; several threads may send."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._begins: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.stop = StopSignal()
        """Set by the parent."""
        self.closing = threading.Event()
        """Set when the parent asks for the components to be closed."""
        self.look: Callable[[], None] = lambda: self.send(Looked({}, ()))
        """Called when the parent asks how far this process has come; it asks again when it was answered."""
        self.dump: Callable[[], None] = lambda: None
        """Called when the parent asks where all tasks are."""
        threading.Thread(target=self._listen, name="viper-parent", daemon=True).start()

    def send(self, message: FromWorker) -> None:
        """Tell the parent."""
        with self._lock:
            self._connection.send(message)

    def may_begin(self) -> bool:
        """Wait until the parent asks for the run; False if there will be none."""
        return self._begins.get()

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os._exit(ORPHANED)  # the parent is dead, whatever happens here
            self._act(message)

    def _act(self, message: object) -> None:
        match message:
            case SetActive(active):
                self.stop.activate() if active else self.stop.deactivate()
            case Stop(reason):
                self.stop.request(reason)
            case Abort():
                self.stop.abort()
                self._begins.put(False)
            case Look():
                self.look()
            case Dump():
                self.dump()
            case Close():
                self.closing.set()
            case Begin():
                self._begins.put(True)


class _Child:
    def __init__(self, line: _Line, handle: ArenaHandle, job: Job) -> None:
        self._line = line
        self._job = job
        self._tell_counted = forward_logs(job.levels, job.limits, lambda record: line.send(Logged(record)))
        if sys.flags.hash_randomization and job.process == job.incarnation == 0:
            log.warning(
                "the processes of this run have been started by a server that multiprocessing had started "
                "for others: the order of sets of texts differs from run to run"
            )
        self._stop = line.stop
        self._network = Network.attach(job.plan, job.settings, handle, job.place, job.process)
        self._worker = Worker(
            job.plan,
            job.settings,
            self._network,
            job.process,
            incarnation=job.incarnation,
            stop=self._stop,
            tape=job.tape,
            on_look=self._on_look,
        )

    def live(self) -> None:
        """All phases of a run; what fails is told to the parent, and the components are closed anyway."""
        self._line.look, self._line.dump = self._tell_how_far, self._worker.tell_stacks
        with self._worker.surroundings():
            try:
                self._worker.prepare()
                self._line.send(Ready())
                if self._line.may_begin():
                    self._worker.run()
                self._line.send(Ran())
            except Exception as error:
                self._line.send(failed(error))
            self._line.closing.wait()
            failures = [failed(error) for error in self._worker.close()]
        self._tell_counted()
        (report,) = self._worker.reports()
        self._line.send(Closed(with_packed_results(report, self._job.plan), failures))

    def _on_look(self, now: float) -> None:
        if self._network.quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)

    def _tell_how_far(self) -> None:
        (counters,) = self._worker.counters()
        self._line.send(Looked(counters, self._worker.statistics()))


def failed(error: BaseException) -> Failed:
    """An error, with the traceback of what user code raised, so that it can be carried."""
    cause = error.__cause__ if isinstance(error, ComponentError) else error
    text = "".join(of_user_code(cause))
    if isinstance(error, ComponentError | LoadError):
        return Failed(error, text, "" if cause is None else type(cause).__name__)
    if isinstance(error, ViperError):
        return Failed(error, "")
    name = type(error).__name__
    return Failed(WorkerError(f"worker process {os.getpid()} failed: {name}: {error}"), text, name)


def _leave_signals_to_parent() -> None:
    """A terminal's Ctrl-C reaches all processes of the group, but it is the parent that drains the run."""
    for number in LEFT_TO_PARENT:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, LEFT_TO_PARENT)


def _take_over(streams: dict[int, Any]) -> None:
    """Write to where the parent writes now, which need not be where it wrote when this process was made."""
    for number, duplicate in streams.items():
        descriptor = duplicate.detach()
        os.dup2(descriptor, number)
        os.close(descriptor)


def _flush() -> None:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None stands for one that was closed
        try:
            stream.flush()
        except (OSError, ValueError):
            logging.getLogger(LOGGER_PREFIX).debug("nobody reads %s any more", stream)
