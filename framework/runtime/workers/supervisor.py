"""Leads the worker processes of a run."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.connection import wait
from typing import Any, Final

from framework.model.errors import ComponentError, ViperError, WorkerError, first_of
from framework.runtime.coordination.signals import asked_by_sigquit
from framework.runtime.coordination.stop import DrainDeadline, StopReason
from framework.runtime.durability.checkpoints.states import SavedTasks
from framework.runtime.durability.recovery import RecoveryMemory
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.stacks import Stacks, TaskOutside, TaskStack
from framework.runtime.observation.statistics import ExecutorStatistics, WorkerReport
from framework.runtime.workers.context import WorkerContext
from framework.runtime.workers.going_back import Attempts
from framework.runtime.workers.handle import Phase, WorkerHandle
from framework.runtime.workers.launcher import Launcher
from framework.runtime.workers.messages import (
    Abort,
    Close,
    Closed,
    Dump,
    Failed,
    FromWorker,
    Logged,
    Ran,
    Ready,
    Reported,
    SetActive,
    StacksTold,
    Stop,
    TellStacks,
    ToWorker,
    Wanted,
    log_here,
)
from framework.runtime.workers.restarts import RestartPolicy
from framework.runtime.workers.shipping import with_results

LOOK_PERIOD_S = 0.1
"""Seconds between two looks at the clock and at the quota, while the run ends or its tuples are limited."""
LAST_CALL_S = 4.0
"""Seconds beyond the drain's that a worker has to come to its end; then it is killed."""


class Supervisor:
    """Leads worker processes through the phases of a run, all of them through one phase before the next."""

    def __init__(
        self,
        context: WorkerContext,
        *,
        on_death: Callable[[], None] = lambda: None,
        attempts: Attempts | None = None,
    ) -> None:
        """
        Args:
            context: shared by all workers; the network is in memory that processes can share.
            on_death: called when a process has died, before another one takes its place.
            attempts: what the run keeps of those from which it has gone back.
        """
        plan, settings, network = context.plan, context.settings, context.network
        memory, stop, recording = context.memory, context.stop, context.recording
        self._plan = plan
        self._settings = settings
        self._network = network
        self._stop = stop
        self._on_look = context.on_look
        recovery = RecoveryMemory.of(plan, settings, memory, network.gates())
        shared = None if memory is None else memory.shared
        self._restarts = RestartPolicy(plan, settings, network, recording, recovery, attempts, shared)
        self._on_report = context.on_report
        self._on_want = context.on_want
        self._is_drained = True
        """True if all processes that have run had all their input processed."""
        self._on_death = on_death
        self._workers: list[WorkerHandle] = []
        """The last process of each worker, by its index in the plan's placement."""
        self._left: list[WorkerHandle] = []
        """Processes that have died, and whose places others have taken."""
        self._deaths: queue.SimpleQueue[tuple[WorkerHandle, int | None]] = queue.SimpleQueue()
        """Processes that run no more, with their exit codes."""
        self._launcher = Launcher(plan, settings, network, memory, recording, context.checkpoints)
        self._standbys = self._launcher.standbys
        self._failures: list[ViperError] = []
        self._saved: dict[int, SavedTasks] = {}
        """The states that the tasks of a worker saved, by its index.

        The first process that saved them counts, as a second one may not make tasks again that have ended.
        """
        self._is_running = False
        """True if processes were asked to run their tasks."""
        self._close: Close | None = None
        """The command by which they were asked to close their components; None before that."""
        self._sent_stop = self._sent_abort = False
        self._sent_active = True
        self._deadline = DrainDeadline(stop, settings["viper.drain.timeout.secs"])
        self._dump_asked = False
        self._waker = Waker()
        self._inquiry = StackInquiry(self._waker.wake)
        stop.listen(self._waker.wake)

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """Surround all phases: when the block ends, every process has ended."""
        try:
            with asked_by_sigquit(self._ask_dump):
                yield
        finally:
            for worker in (*self._workers, *self._left):
                worker.leave()
            self._workers.clear()
            self._launcher.close()
            self._stop.unlisten(self._waker.wake)
            self._waker.close()

    def prepare(self) -> None:
        """Start all processes and have them initialize their components.

        Raises:
            TopologyError: a component cannot be made in another process.
            ComponentError: one of them raised.
            WorkerError: a process could not be started, or ended before its time; a `GoneBackError` if the
                run goes back for that.
        """
        self._workers = self._launcher.workers()
        self._wait_for(Phase.READY)
        self._raise_failures()

    def run(self) -> None:
        """Run until all tasks have ended, or the run is stopped.

        Raises:
            ComponentError: user code raised; everything else has been stopped.
            WorkerError: a process ended before its time, and no other may take its place; likewise. Or, as in
                `prepare`, a `GoneBackError`.
        """
        self._restarts.run_begins()
        self._pass_on_activity()
        self._is_running = True
        for worker in self._workers:
            worker.begin()
        self._wait_for(Phase.RAN)
        self._raise_failures()

    def saved(self) -> SavedTasks | None:
        """The states that the tasks of all processes have saved; None if any has saved nothing."""
        if len(self._saved) < len(self._workers):
            return None
        every = self._saved.values()
        tasks = {task: found for saved in every for task, found in saved.tasks.items()}
        return SavedTasks(tasks, sum(saved.lost for saved in every))

    def close(self, written: int | None = None, *, is_complete: bool = False) -> Sequence[ViperError]:
        """Close all components, even if some raise; return the errors. Arguments as of `Worker.close`."""
        self._failures.clear()
        self._close = Close(written, is_complete and self._is_drained)
        self._send_all(self._close)
        self._wait_for(Phase.CLOSED)
        return self._failures

    def reports(self) -> Sequence[WorkerReport]:
        """The reports of the processes; for one that has died, a report of all that is known of it."""
        return [worker.report for worker in self._workers if worker.report is not None]

    def let_go(self) -> None:
        """As of `WorkerGroup`."""
        self._failures.clear()
        while not self._deaths.empty():  # which nobody has heard of any more
            self._deaths.get()

    @property
    def incidents(self) -> Sequence[Incident]:
        """The processes that died and were restarted."""
        return self._restarts.incidents

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """The counters of the processes, by task, as of a moment ago."""
        return [worker.counters for worker in self._workers]

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """The statistics of all executors, as of a moment ago."""
        return [executor for worker in self._workers for executor in worker.executors]

    def stacks(self) -> Stacks:
        """Return the stacks of all tasks; any other thread may call it."""
        return self._inquiry.ask()

    # -- restarting

    def _restart_due(self, now: float) -> None:
        """Restart processes that died; the new ones run, drain and close as soon as they can if others do."""
        if self._stop.aborted:
            self._restarts.give_up()
        for index in self._restarts.due(now):
            before = self._workers[index]
            try:
                worker = self._launcher.successor(index, before)
            except WorkerError as error:
                self._note(error)
                return
            self._workers[index] = worker
            self._left.append(before)
            worker.send(SetActive(self._sent_active))
            if self._stop.reason is not None:  # first, or it may have come to its end before it hears why
                worker.send(Stop(self._stop.reason))
            if self._is_running:
                worker.begin()
            if self._close is not None:
                worker.send(self._close)

    def _keep_standbys(self) -> None:
        """Replace those that have got a place or have died, once all workers have come to run."""
        all_run = all(worker.phase is not Phase.STARTING for worker in self._workers)
        if all_run and self._restarts.may_restart and not self._stop.aborted:
            self._standbys.fill()

    # -- listening

    def _wait_for(self, phase: Phase) -> None:
        """Wait until every process has completed a phase, or is gone."""
        began = time.monotonic()
        while self._restarts.is_awaited or any(
            not worker.gone and worker.phase < phase for worker in self._workers
        ):
            if phase is Phase.RAN:
                self._keep_standbys()
            self._listen(min(self._longest_wait_s(), self._restarts.next_due_s(time.monotonic())))
            now = time.monotonic()
            self._restart_due(now)
            self._on_look(now)
            self._pass_on_activity()
            self._pass_on_stop()
            self._pass_on_dump()
            self._inquiry.pass_on(self._workers)
            if self._deadline.is_past(now, LAST_CALL_S, began):
                self._end_all(phase)

    def _raise_failures(self) -> None:
        if self._failures:
            raise first_of(self._failures)

    def _end_all(self, phase: Phase) -> None:
        """Give up on processes that have not completed a phase, as the time is over."""
        for index in self._restarts.give_up():
            self._note(self._workers[index].error("it is not restarted, as the time to drain is over"))
        for worker in self._workers:
            if worker.phase < phase:
                worker.give_up()

    def _longest_wait_s(self) -> float:
        """Seconds after which there may be something to do that nobody says."""
        limited = self._network.quota.left is not None
        return LOOK_PERIOD_S if limited or self._stop.requested else float("inf")

    def _listen(self, timeout_s: float) -> None:
        hearers: dict[Any, Callable[[], None]] = {self._waker.descriptor: self._waker.clear}
        for worker in self._workers:
            if not worker.gone:
                hearers[worker.connection] = partial(self._hear, worker)
            if not worker.gone and worker.phase is Phase.STARTING:
                # It has no watch as yet, and its pipe stays open where another process has inherited it.
                hearers[worker.process.sentinel] = partial(self._deaths.put, (worker, None))
        for connection in self._standbys.connections:
            hearers[connection] = partial(self._standbys.hear, connection)
        for left in self._left:
            hearers[left.process.sentinel] = partial(self._leave, left)
        for found in wait(list(hearers), None if timeout_s == float("inf") else timeout_s):
            hearers[found]()
        self._hear_of_deaths()

    def _tell_of_death(self, worker: WorkerHandle, exit_code: int | None) -> None:
        """Report a death; called from the thread of a `DeathWatch`."""
        self._deaths.put((worker, exit_code))
        self._waker.wake()

    def _hear_of_deaths(self) -> None:
        """Let others take the place of processes that run no more, mostly before their memory is released."""
        while not self._deaths.empty():
            worker, exit_code = self._deaths.get()
            while not worker.gone and worker.connection.poll():
                self._hear(worker)
            if worker.gone:
                continue
            if exit_code is not None:
                worker.stop(exit_code)
            else:
                worker.end()
            if worker.phase is not Phase.CLOSED:
                self._died(worker)

    def _died(self, worker: WorkerHandle) -> None:
        self._on_death()
        self._inquiry.leave_out(worker.process.pid or 0)
        index = self._workers.index(worker)
        error = self._restarts.died(
            index,
            worker,
            aborted=self._stop.aborted,
            suspended=self._stop.reason is StopReason.SUSPENDED,
            draining=self._stop.requested,
        )
        self._note(error)

    def _leave(self, worker: WorkerHandle) -> None:
        """Leave a process that has ended, and in whose place there is another one."""
        self._left.remove(worker)
        worker.leave()

    def _hear(self, worker: WorkerHandle) -> None:
        try:
            message: FromWorker = worker.connection.recv()
        except (EOFError, OSError):
            if worker.end():
                self._died(worker)
            return
        except Exception as error:  # raised by user code that pickle has called
            self._note(worker.unreadable(error))
            return
        match message:
            case Logged(record):
                log_here(record)
            case Failed():
                self._note(message.raised())
                worker.reached(Phase.RAN)
            case Closed(report, failures):
                worker.reached(Phase.CLOSED)
                worker.close_with(self._read(report))
                for found in failures:
                    self._note(found.raised())
            case Reported(report):
                self._on_report(report)
            case Ready(files):
                worker.reached(Phase.READY)
                self._restarts.came_to_run()
                worker.watch(files, partial(self._tell_of_death, worker))
            case Wanted():
                self._on_want()
            case StacksTold(stacks):
                self._inquiry.hear(worker.process.pid or 0, stacks)
            case Ran(saved, drained):
                worker.reached(Phase.RAN)
                self._is_drained = self._is_drained and drained
                if saved is not None:
                    self._saved.setdefault(self._workers.index(worker), saved)

    def _read(self, report: WorkerReport) -> WorkerReport:
        try:
            return with_results(report, self._plan, self._launcher.main)
        except ComponentError as error:
            self._note(error)
            return replace(report, results={})

    def _note(self, error: ViperError | None) -> None:
        if error is not None:
            self._failures.append(error)
            self._stop.abort()

    # -- stopping

    def _send_all(self, message: ToWorker) -> None:
        for worker in self._workers:
            worker.send(message)

    def _pass_on_stop(self) -> None:
        if self._stop.aborted and not self._sent_abort:
            self._sent_abort = True
            self._send_all(Abort())
        elif self._stop.reason is not None and not self._sent_stop:
            self._sent_stop = True
            self._send_all(Stop(self._stop.reason))

    def _pass_on_activity(self) -> None:
        if self._stop.active is not self._sent_active:
            self._sent_active = self._stop.active
            self._send_all(SetActive(self._sent_active))

    def _ask_dump(self) -> None:
        self._dump_asked = True  # a signal handler must not send, because it may have interrupted a send
        self._waker.wake()

    def _pass_on_dump(self) -> None:
        if self._dump_asked:
            self._dump_asked = False
            self._send_all(Dump())


PATIENCE_S: Final = 3.0
"""Seconds in which a process that runs Python at all has answered."""


class StackInquiry:
    """One inquiry at a time: a thread asks, and the one that leads the processes sends and hears.

    Args:
        wake: has the leading thread look soon.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._one_at_a_time = threading.Lock()
        self._complete = threading.Event()
        self._is_asked = False
        self._awaited: set[int] = set()
        """The numbers of processes that have not answered yet."""
        self._told: list[TaskStack] = []
        self._others: list[TaskOutside] = []

    def ask(self, patience_s: float = PATIENCE_S) -> Stacks:
        """Return the stacks of all tasks; any thread but the leading one may call it.

        Args:
            patience_s: seconds after which processes that have not answered are given up.
        """
        with self._one_at_a_time:
            self._complete.clear()
            self._told, self._others = [], []
            self._is_asked = True
            self._wake()
            self._complete.wait(patience_s)
            told = sorted(self._told, key=lambda found: found.task)
            others = sorted(self._others, key=lambda found: found.task)
            return Stacks(told, sorted(self._awaited), others)

    # -- in the leading thread

    def pass_on(self, workers: Iterable[WorkerHandle]) -> None:
        """Ask the processes, if that is to be done."""
        if not self._is_asked:
            return
        self._is_asked = False
        alive = [worker for worker in workers if not worker.gone]
        self._awaited = {worker.process.pid or 0 for worker in alive}
        for worker in alive:
            worker.send(TellStacks())
        self._look()

    def hear(self, process: int, stacks: Stacks) -> None:
        """Note the answer of a process."""
        if process in self._awaited:
            self._told.extend(stacks.tasks)
            self._others.extend(stacks.others)
            self._awaited.discard(process)
            self._look()

    def leave_out(self, process: int) -> None:
        """Note that a process has ended."""
        self._awaited.discard(process)
        self._look()

    def _look(self) -> None:
        if not self._awaited:
            self._complete.set()


class Waker:
    """A socket to wait for beside pipes, which becomes readable when somebody has called `wake`."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)

    @property
    def descriptor(self) -> int:
        """The file descriptor to wait for; readable after a call of `wake`."""
        return self._read.fileno()

    def wake(self) -> None:
        """Wake the thread that waits, or that waits next; from any thread, and in a signal handler."""
        with contextlib.suppress(OSError):  # it is full of calls that have not been seen yet, or closed
            self._write.send(b"!")

    def clear(self) -> None:
        """Forget the calls so far; to be called before the waiting thread finds out why it was woken."""
        with contextlib.suppress(BlockingIOError):
            while self._read.recv(4096):
                pass

    def close(self) -> None:
        """Give the descriptors back; later calls of `wake` have no effect."""
        self._write.close()
        self._read.close()
