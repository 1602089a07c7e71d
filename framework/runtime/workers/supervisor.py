"""The worker processes of a run, as their parent leads them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import wait

from framework.config import Settings
from framework.errors import ComponentError, ViperError, WorkerError
from framework.log import active_limits
from framework.planning import Plan
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import Tape
from framework.runtime.control.signals import asked_by_sigquit
from framework.runtime.control.stop import StopSignal
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.statistics import ExecutorStatistics, WorkerReport
from framework.runtime.workers import main as child
from framework.runtime.workers.handle import Member, Phase
from framework.runtime.workers.logs import current_levels, log_here
from framework.runtime.workers.messages import (
    Abort,
    Begin,
    Close,
    Closed,
    Dump,
    Failed,
    FromWorker,
    Logged,
    Looked,
    Ran,
    Ready,
    SetActive,
    Stop,
    ToWorker,
)
from framework.runtime.workers.restarts import Succession
from framework.runtime.workers.results import with_results
from framework.runtime.workers.shipping import Job, pack
from framework.runtime.workers.starting import make_context, start
from framework.tracebacks import RemoteTraceback

LOOK_PERIOD_S = 0.1
"""Seconds between two looks at the clock and at who asks for the end."""
COUNT_PERIOD_S = 1.0
"""Seconds between two looks at what the processes have counted; of one that dies these remain."""
LAST_CALL_S = 4.0
"""Seconds, beyond the drain's, that a worker has to come to its end; then it is killed."""


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
        self._succession = Succession(plan, settings, network, tape)
        self._workers: list[Member] = []
        """The last process of each place, by its index in the plan's placement."""
        self._failures: list[ViperError] = []
        self._told_stop = self._told_abort = False
        self._told_active = True
        self._asks_at = 0.0
        """Monotonic time in seconds at which all are asked how far they are, in case one of them dies."""
        self._dump_asked = False

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """For as long as the block runs; no process outlives it."""
        try:
            with asked_by_sigquit(self._ask_dump):
                yield
        finally:
            for worker in self._workers:
                worker.leave()
            self._workers.clear()

    def prepare(self) -> None:
        """Start all processes and have them initialize their components.

        Raises:
            TopologyError: a component cannot be made in another process.
            ComponentError: one of them raised.
            WorkerError: a process could not be started, or ended before its time.
        """
        jobs = [pack(self._job(index)) for index in range(len(self._plan.placement.processes))]
        self._context = make_context()
        for index, packed in enumerate(jobs):
            self._workers.append(self._started(index, packed))
        self._wait_for(Phase.READY)

    def run(self) -> None:
        """Run until all tasks have ended, or the run is stopped.

        Raises:
            ComponentError: user code raised; everything else has been stopped.
            WorkerError: a process ended before its time, and no other may take its place; likewise.
        """
        self._succession.run_begins()
        self._pass_on_activity()
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

    @property
    def incidents(self) -> Sequence[Incident]:
        """The processes that died, and that others have replaced."""
        return self._succession.incidents

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """How far the processes had come when they last said so; from any thread."""
        return [worker.counters for worker in self._workers]

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """How all executors were doing when their processes last said so; from any thread."""
        return [executor for worker in self._workers for executor in worker.executors]

    def refresh(self) -> None:
        """Ask the processes how far they have come."""
        self._ask_all()

    # -- starting

    def _job(self, index: int, incarnation: int = 0) -> Job:
        return Job(
            plan=self._plan,
            settings=self._settings,
            place=self._network.place,
            process=index,
            incarnation=incarnation,
            tape=self._tape,
            levels=current_levels(),
            limits=active_limits(),
            environment=dict(os.environ),
        )

    def _started(self, index: int, packed: bytes, before: Member | None = None) -> Member:
        handle = self._network.arena.handle()
        try:
            name = f"viper-worker-{index + 1}"
            process, connection = start(self._context, name, child.main, handle, packed)
        except (OSError, EOFError) as error:
            raise WorkerError(
                f"worker process {index + 1} of {len(self._plan.placement.processes)} cannot be started: "
                f"{error}; use fewer (topology.workers, viper.isolated)"
            ) from error
        return Member(index + 1, self._names(index), process, connection, before)

    def _names(self, index: int) -> list[str]:
        executors = self._plan.placement.executors
        mine = {task for e in self._plan.placement.processes[index] for task in executors[e].tasks}
        return [f"{task.component}:{task.id}" for task in self._plan.tasks if task.id in mine]

    def _start_successors(self, now: float) -> None:
        """Put others in the place of those that died; they run as soon as they can, and hear of the end."""
        if self._stop.aborted:
            self._succession.give_up()
        for index in self._succession.due(now):
            before = self._workers[index]
            try:
                member = self._started(index, pack(self._job(index, before.incarnation + 1)), before)
            except WorkerError as error:
                self._note(error)
                return
            self._workers[index] = member
            before.leave()
            member.send(SetActive(self._told_active))
            member.send(Begin())
            if self._stop.reason is not None:
                member.send(Stop(self._stop.reason))

    # -- hearing

    def _wait_for(self, phase: Phase) -> None:
        """Until every process has completed a phase; then the first failure is raised."""
        began = time.monotonic()
        while self._succession.is_awaited or any(
            not worker.gone and worker.phase < phase for worker in self._workers
        ):
            self._listen(min(LOOK_PERIOD_S, self._succession.next_due_s(time.monotonic())))
            now = time.monotonic()
            self._start_successors(now)
            self._on_look(now)
            self._pass_on_activity()
            self._pass_on_stop()
            self._pass_on_dump()
            if phase is Phase.RAN and now >= self._asks_at:
                self._asks_at = now + COUNT_PERIOD_S
                self._ask_all()
            if self._is_over(now, began):
                self._end_all(phase)
        if self._failures:
            raise self._failures[0]

    def _end_all(self, phase: Phase) -> None:
        """There is no time left to complete a phase."""
        for index in self._succession.give_up():
            self._note(self._workers[index].error("it is not restarted, as the time to drain is over"))
        for worker in self._workers:
            if worker.phase < phase:
                worker.give_up()  # which its closed pipe then tells

    def _listen(self, timeout_s: float) -> None:
        listening = {worker.connection: worker for worker in self._workers if not worker.gone}
        for connection in wait(list(listening), timeout_s):
            self._hear(listening[connection])  # type: ignore[index]

    def _hear(self, worker: Member) -> None:
        try:
            message: FromWorker = worker.connection.recv()
        except (EOFError, OSError):
            if worker.end():
                index = self._workers.index(worker)
                self._note(self._succession.died(index, worker, aborted=self._stop.aborted))
            return
        except Exception as error:  # of the user's code, which has been asked to make something of it
            self._note(worker.unreadable(error))
            return
        match message:
            case Logged(record):
                log_here(record)
            case Looked(counters, executors):
                worker.heard(counters, executors)
            case Failed():
                self._note(_raised(message))
                worker.phase = Phase.RAN
            case Closed(report, failures):
                worker.phase = Phase.CLOSED
                worker.heard(report.counters, report.executors)
                worker.report = self._read(replace(report, counters=worker.counters))
                for found in failures:
                    self._note(_raised(found))
            case Ready():
                worker.phase = Phase.READY
            case Ran():
                worker.phase = Phase.RAN

    def _read(self, report: WorkerReport) -> WorkerReport | None:
        try:
            return with_results(report, self._plan)
        except ComponentError as error:
            self._note(error)
            return None

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

    def _pass_on_activity(self) -> None:
        if self._stop.active is not self._told_active:
            self._told_active = self._stop.active
            self._tell_all(SetActive(self._told_active))

    def _ask_dump(self) -> None:
        self._dump_asked = True  # a signal's handler may not send: it may have interrupted who does

    def _pass_on_dump(self) -> None:
        if self._dump_asked:
            self._dump_asked = False
            self._tell_all(Dump())

    def _is_over(self, now: float, began: float) -> bool:
        """Whether a phase that began at a time takes too long, once the end was asked for."""
        if self._stop.at_s is None:
            return False
        drain_s = 0 if self._stop.aborted else self._settings["viper.drain.timeout.secs"]
        return now > max(self._stop.at_s, began) + drain_s + LAST_CALL_S


def _raised(failed: Failed) -> ViperError:
    error = failed.error
    if failed.kind:
        error.__cause__ = RemoteTraceback(failed.traceback, failed.kind)
    return error
