"""A worker process: runs its share of a plan, as its parent leads it."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from setproctitle import setproctitle

from framework.common.breakpoints import refuse_breakpoints
from framework.common.lifeline import ORPHANED, ReceivedLifeline
from framework.common.prints import prints_to_stderr
from framework.model.importing import importable, source_folder
from framework.model.topology import PythonImplementation
from framework.operators.components.component import LOGGER_PREFIX
from framework.planning import Plan
from framework.planning.traits import class_of, is_ported
from framework.runtime.coordination.signals import leave_signals_to_parent
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.observation.stacks import Stacks
from framework.runtime.workers.context import WorkerContext
from framework.runtime.workers.death_watch import open_files
from framework.runtime.workers.messages import (
    Abort,
    Begin,
    Close,
    Closed,
    Dump,
    Failed,
    FromWorker,
    Handles,
    Logged,
    Ran,
    Ready,
    Reported,
    SetActive,
    StacksTold,
    StandsBy,
    Stop,
    TakePlace,
    TellStacks,
    Wanted,
    forward_logs,
)
from framework.runtime.workers.same_code import differences
from framework.runtime.workers.shipping import NO_PLACE, Job, unpack, with_packed_results
from framework.runtime.workers.standby import import_components
from framework.runtime.workers.status import StatusWriter
from framework.runtime.workers.worker import Worker
from viper.arena import Arena

log = logging.getLogger("viperstorm.worker")

IMPORTED_IN = os.getpid()
"""The server that this process was forked from, or this process, if it was not forked."""


def main(
    connection: Connection,
    lifeline: ReceivedLifeline,
    handles: Handles,
    streams: dict[int, Any],
    packed: bytes,
) -> None:
    """Execute a worker process, from its job to its report.

    Args:
        connection: to the parent.
        lifeline: of the parent.
        handles: of the memory that the parent has made.
        streams: the parent's stdout and stderr, by number, as duplicated descriptors.
        packed: the job.
    """
    lifeline.end_with_it()
    if IMPORTED_IN not in (os.getpid(), os.getppid()):
        os._exit(ORPHANED)  # the server has ended before the kernel was asked to end this process with it
    leave_signals_to_parent()
    _take_over(streams)
    refuse_breakpoints()
    line = _Line(connection)
    try:
        with prints_to_stderr():  # as user code is imported on the way
            job = unpack(packed)
        # Before the environment changes, as the title takes the room of the one that the process began with.
        take_title(job.plan, STANDING_BY if job.process == NO_PLACE else job.process)
        os.environ.clear()
        os.environ.update(job.environment)
        with importable(job.plan.topology.import_paths):
            memory = SharedMemory.attach(handles)
            if job.process == NO_PLACE:
                job = _stand_by(line, job)
                take_title(job.plan, job.process)
            _Child(line, memory, job).live()
    except BaseException as error:
        line.send(Failed.of(error))
        line.closing.wait()
    finally:
        _flush()


def _stand_by(line: _Line, job: Job) -> Job:
    """Import what the components need, and wait for the place of a worker that has died; returns its job."""
    with prints_to_stderr():
        import_components(job.plan.topology)
    line.send(StandsBy())
    place = line.place()
    os.environ.clear()
    os.environ.update(place.environment)
    job = replace(job, process=place.process, levels=place.levels)
    return replace(job, attempt=place.attempt, has_run=place.has_run)


class _Line:
    """The child's end of the pipe; several threads may send."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._places: queue.SimpleQueue[TakePlace] = queue.SimpleQueue()
        self._begins: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self.stop = StopSignal()
        """Set by the parent."""
        self.closing = threading.Event()
        """Set when the parent asks for the components to be closed."""
        self.close = Close()
        """The parent's last request to close the components."""
        self._dump: Callable[[], None] = lambda: None
        self._stacks: Callable[[], Stacks] = lambda: Stacks(())
        threading.Thread(target=self._listen, name="viper-parent", daemon=True).start()

    def send(self, message: FromWorker) -> None:
        """Send the parent a message."""
        data = ForkingPickler.dumps(message)
        try:
            with self._lock:
                self._connection.send_bytes(data)
        except ConnectionError:
            os._exit(ORPHANED)  # nobody reads it any more

    def on_dump(self, log: Callable[[], None], tell: Callable[[], Stacks]) -> None:
        """Set the functions that log, or return, the stacks of all tasks when the parent asks for them."""
        self._dump, self._stacks = log, tell

    def place(self) -> TakePlace:
        """Wait until the parent assigns this process a place in the run."""
        return self._places.get()

    def may_begin(self) -> bool:
        """Wait until the parent starts the run; False if it will not."""
        return self._begins.get()

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os._exit(ORPHANED)  # the parent has ended
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
            case Dump():
                self._dump()
            case TellStacks():
                self.send(StacksTold(self._stacks()))
            case Close():
                self.close = message
                self.closing.set()
            case Begin():
                self._begins.put(True)
            case TakePlace():
                self._places.put(message)


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """The memory that the parent has made, as this process sees it."""

    network: Arena
    state: Arena | None
    """None where no component declares state."""

    @classmethod
    def attach(cls, handles: Handles) -> SharedMemory:
        """Attach to all of it."""
        state = None if handles.state is None else Arena.attach(handles.state)
        return cls(Arena.attach(handles.network), state)


class _Child:
    """This process, from its job to its report."""

    def __init__(self, line: _Line, shared: SharedMemory, job: Job) -> None:
        self._line = line
        self._job = job
        self._send_counted = forward_logs(job.levels, job.limits, lambda record: line.send(Logged(record)))
        if sys.flags.hash_randomization and job.process == job.attempt == 0:
            log.warning(
                "the processes of this run have been started by a server that other code has had "
                "multiprocessing start: the order of sets of strings differs from run to run"
            )
        self._stop = line.stop
        self._network = Network(job.plan, job.settings, shared.network, job.network, job.process)
        life = self._network.life(job.process)
        if life is not None:
            life.begin()
        memory = None
        if job.state is not None and shared.state is not None:
            memory = StateMemory(job.plan, job.settings, shared.state, job.state)
        context = WorkerContext(
            job.plan,
            job.settings,
            self._network,
            memory=memory,
            stop=self._stop,
            recording=job.recording,
            on_look=self._on_look,
            on_report=lambda report: line.send(Reported(report)),
            on_want=lambda: line.send(Wanted()),
            checkpoints=job.checkpoints,
        )
        self._worker = Worker(
            context,
            job.process,
            attempt=job.attempt,
            has_run=job.has_run,
            on_moved=lambda: self._status.moved(),
        )
        self._status = StatusWriter(self._worker, self._network.black_box(job.process))

    def live(self) -> None:
        """Go through all phases of a run; a failure is sent to the parent, and components are closed."""
        self._line.on_dump(self._worker.tell_stacks, self._worker.stacks)
        with self._worker.surroundings():
            enter_sources(self._job.plan, self._job.process)  # log files have been opened
            with self._status.writing():
                try:
                    files = open_files()
                    self._compare_code()
                    self._worker.prepare()
                    self._line.send(Ready(files))
                    if self._line.may_begin():
                        self._worker.run()
                    ran = Ran(self._worker.saved(), self._worker.is_drained)
                    self._status.write()  # all that was counted, whatever becomes of this process now
                    self._line.send(ran)
                except Exception as error:
                    self._line.send(Failed.of(error))
                self._line.closing.wait()
            close = self._line.close
            errors = self._worker.close(close.written, is_complete=close.is_complete)
            failures = [Failed.of(error) for error in errors]
        self._send_counted()
        (report,) = self._worker.reports()
        self._line.send(Closed(with_packed_results(report, self._job.plan), failures))

    def _compare_code(self) -> None:
        """Refuse code that is not what is meant; a process for all of them, and each that takes a place."""
        if self._job.process == 0 or self._job.attempt:
            for difference in differences(self._job.plan.topology, self._job.code):
                log.warning("%s", difference)

    def _on_look(self, now: float) -> None:
        if self._network.quota.used_up:
            self._stop.request(StopReason.MAX_TUPLES)


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


def enter_sources(plan: Plan, process: int) -> None:
    """Have this process run where the sources of its components are, if all of them are streamparse's.

    Storm runs them in its copy of the project's ``src``. A process has but one working directory, so it
    changes only where all that the process has to do agrees on one.

    Args:
        plan: of the run.
        process: the index of this process in the plan's placement.
    """
    folder = folder_of_sources(plan, process)
    if folder is not None:
        os.chdir(folder)


def folder_of_sources(plan: Plan, process: int) -> str | None:
    """The folder that the components of a process expect to run in; None for the current one.

    Args:
        plan: of the run.
        process: the index of the process in the plan's placement.
    """
    placement = plan.placement
    tasks = {task for number in placement.processes[process] for task in placement.executors[number].tasks}
    folders = {_folder_of(plan, task.component) for task in plan.tasks if task.id in tasks}
    return folders.pop() if len(folders) == 1 else None


def _folder_of(plan: Plan, name: str) -> str | None:
    component = plan.topology.component(name)
    if not isinstance(component.implementation, PythonImplementation):
        return None
    cls = class_of(component)
    return source_folder(cls, plan.topology.import_paths) if is_ported(cls) else None


STANDING_BY = -1
"""In place of the index of a process: one that waits for the place of another."""


def take_title(plan: Plan, process: int) -> None:
    """Have this process show which worker it is, of which topology, and which tasks it runs.

    Args:
        plan: what is run.
        process: the index of the process in its placement, or `STANDING_BY`.
    """
    setproctitle(title_of(plan, process))


def title_of(plan: Plan, process: int) -> str:
    """``viper worker 2 of wordcount: split:4 count:6``."""
    if process == STANDING_BY:
        return f"viper worker of {plan.topology.name}, standing by"
    executors = [plan.placement.executors[number] for number in plan.placement.processes[process]]
    components = {task.id: task.component for task in plan.tasks}
    tasks = [f"{components[id]}:{id}" for executor in executors for id in executor.tasks]
    return f"viper worker {executors[0].worker} of {plan.topology.name}: {' '.join(tasks)}"
