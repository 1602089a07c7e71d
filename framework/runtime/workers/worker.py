"""The worker: the executors of one process, from making their tasks to closing them."""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import AbstractContextManager
from functools import partial

from framework.config import Settings
from framework.errors import ComponentError
from framework.instantiate import Beans
from framework.log import (
    Origin,
    ask_in_this_thread,
    attached_origins,
    log_error,
    printing_to_log,
    speaking_as,
    task_files,
)
from framework.planning import Plan
from framework.runtime.assembly.executors import make_executor
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.recording import Deck, Tape
from framework.runtime.assembly.task_factory import TaskFactory
from framework.runtime.control.signals import asked_by_sigquit
from framework.runtime.control.stop import StopSignal
from framework.runtime.execution.alarm import looked_after
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.speaking import speaking_for
from framework.runtime.execution.watchdog import Watch
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.metrics.incidents import Incident
from framework.runtime.metrics.statistics import ExecutorStatistics
from framework.runtime.report import WorkerReport, executor_statistics, worker_report
from framework.runtime.tasks.task import Task
from framework.runtime.workers.executor_thread import Lane

log = logging.getLogger("viperstorm.worker")

LOOK_PERIOD_S = 0.1
"""Seconds between two looks while only other threads work."""
LAST_CALL_S = 1.0
"""Seconds that a callback in another thread may still take when the time is up; then it is left behind."""
YOUNG_OBJECTS = 50_000
"""New objects between two young collections."""


class Worker:
    """Runs the executors of one process: the first in the calling thread, each other one in its own.

    Everything that is called back of a task is called in its executor's thread, its constructor included.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        network: Network,
        process: int = 0,
        *,
        incarnation: int = 0,
        stop: StopSignal,
        tape: Tape,
        duration_s: float | None = None,
        on_look: Callable[[float], None] = lambda now: None,
    ) -> None:
        """
        Args:
            plan: the whole run.
            settings: the configuration it was planned with.
            network: its channels, as this process sees them.
            process: index of this process in the plan's placement.
            incarnation: how many processes have died in its place; it goes on where they had come to.
            stop: asks for the end.
            tape: what is recorded, and what is replayed.
            duration_s: seconds after which to drain; None runs until the spouts have ended.
            on_look: called at every turn of the first executor, with the monotonic time in seconds.
        """
        self._plan = plan
        self._settings = settings
        self._network = network
        self._stop = stop
        self._duration_s = duration_s
        self._on_look = on_look
        self._deck = Deck(tape, plan)
        self._factory = TaskFactory(plan, settings, network, Beans(plan.topology.beans), self._deck)
        self._resumes = incarnation > 0
        self._numbers = plan.placement.processes[process]
        """The executors' indexes in the placement."""
        self._lanes = [Lane(f"viper-executor-{number}") for number in self._numbers[1:]]
        self._executors: dict[int, Executor] = {}
        """By their index here, which is that of their lane, from 1, or 0."""
        self._begun: list[tuple[int, Task]] = []
        """The tasks whose `start` was called, with the indexes of their executors."""
        self._by_thread: dict[int, Executor] = {}
        stuck_after_s = {name: conf["viper.stuck.after.secs"] for name, conf in plan.confs.items()}
        self._watch = Watch(self._by_thread, stuck_after_s)
        self._left_behind = False

    @property
    def executors(self) -> list[Executor]:
        """All executors, in the placement's order."""
        return [self._executors[index] for index in sorted(self._executors)]

    @property
    def tasks(self) -> list[Task]:
        """All tasks, by id."""
        found = [task for executor in self.executors for task in executor.tasks]
        return sorted(found, key=lambda task: task.context.spec.id)

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """What is around everything else: printed lines go to the log, the collector is calm."""
        try:
            with (
                _calm_collector(),
                attached_origins(),
                self._log_files(),
                printing_to_log(),
                self._watch.watching(),
                asked_by_sigquit(self._watch.ask),
            ):
                yield
        finally:
            ask_in_this_thread(None)
            for lane in self._lanes:
                lane.end()
            self._deck.close()

    def prepare(self) -> None:
        """Make all tasks, then initialize all components.

        Raises:
            ComponentError: one of them raised.
        """
        self._everywhere(self._make)
        self._everywhere(self._start)

    def run(self) -> None:
        """Run until every task has ended, or the run is stopped.

        Raises:
            ComponentError: user code raised; the other executors have been stopped.
        """
        drain_s = self._settings["viper.drain.timeout.secs"]
        blocking = [task for task in self.tasks if task.slot.presence.is_blocking]
        with (
            looked_after(self._stop, self._duration_s, drain_s, self._executors[0].in_callback),
            speaking_for(blocking, self._stop),
        ):
            self._everywhere(self._run)

    def close(self) -> list[ComponentError]:
        """Close every task that was started, whatever happens to the others; what went wrong is logged."""
        failures: list[ComponentError] = []
        for index, running in self._begun:
            try:
                self._in_executor(index, partial(self._close, index, running))
            except ComponentError as error:
                with speaking_as(Origin(error.component, error.task)):
                    log_error(running.context.logger, error.__cause__ or error, "%s", error)
                failures.append(error)
            if index and self._lanes[index - 1].left_behind:
                running.slot.abandon()
        self._begun.clear()
        return failures

    def reports(self) -> Sequence[WorkerReport]:
        """What its tasks have done so far."""
        return [worker_report(self.executors, self.statistics(), self._left_behind)]

    @property
    def incidents(self) -> Sequence[Incident]:
        """None: who calls this has died with it otherwise."""
        return ()

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """How its executors are doing."""
        return executor_statistics(self._plan, self._numbers, self.executors)

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """How far its tasks have come, by task."""
        return [{task.context.spec.id: task.context.counters for task in self.tasks}]

    def tell_stacks(self) -> None:
        """Log where all its tasks are that are in a callback; from any thread."""
        self._watch.tell_stacks()

    def _log_files(self) -> AbstractContextManager[None]:
        mine = {task for number in self._numbers for task in self._plan.placement.executors[number].tasks}
        here = [task for task in self._plan.tasks if task.id in mine]
        origins = [(Origin(task.component, task.id), self._plan.confs[task.component]) for task in here]
        return task_files(self._plan.topology.name, origins)

    # -- in the executors' threads

    def _make(self, index: int) -> None:
        number = self._numbers[index]
        on_turn = self._on_look if index == 0 else lambda now: None
        executor = make_executor(
            self._plan,
            self._settings,
            self._network,
            self._factory,
            number,
            self._stop,
            on_turn,
            resumes=self._resumes,
        )
        self._executors[index] = self._by_thread[threading.get_ident()] = executor
        ask_in_this_thread(partial(_current_of, executor))

    def _start(self, index: int) -> None:
        executor = self._executors[index]
        for running in (*executor.bolts, *executor.spouts):
            if self._resumes:
                running.resume(self._network.floor(running.context.spec.id))
            self._begun.append((index, running))
            executor.start(running)

    def _run(self, index: int) -> None:
        try:
            self._executors[index].run()
        except BaseException:
            self._stop.abort()  # the others are not to go on
            raise

    def _close(self, index: int, running: Task) -> None:
        self._executors[index].call(running, running.close)

    # -- threads

    def _everywhere(self, phase: Callable[[int], None]) -> None:
        """Call a phase for each executor, in its thread; the first error is raised when all have returned."""
        others = [lane.call(partial(phase, index)) for index, lane in enumerate(self._lanes, 1)]
        failure: Exception | None = None
        try:
            phase(0)
        except Exception as error:
            failure = error
        self._wait_for(others)
        failures = [failure, *(future.exception() for future in others if future.done())]
        for found in failures:
            if found is not None:
                raise found

    def _in_executor(self, index: int, call: Callable[[], None]) -> None:
        if index == 0:
            call()
        elif not self._lanes[index - 1].left_behind:
            future = self._lanes[index - 1].call(call)
            self._wait_for([future])
            if future.done():
                future.result()

    def _wait_for(self, others: Sequence[futures.Future[None]]) -> None:
        while futures.wait(others, LOOK_PERIOD_S).not_done:
            now = time.monotonic()
            self._on_look(now)
            if self._is_over(now):
                self._leave_behind()
                return

    def _is_over(self, now: float) -> bool:
        if self._stop.at_s is None:
            return False
        drain_s = 0 if self._stop.aborted else self._settings["viper.drain.timeout.secs"]
        return now > self._stop.at_s + drain_s + LAST_CALL_S

    def _leave_behind(self) -> None:
        """Callbacks that do not return are in threads that end with the process."""
        for index, lane in enumerate(self._lanes, 1):
            current = self._executors[index].current if index in self._executors else None
            if current is not None:
                lane.left_behind = self._left_behind = True
                log.warning("%s has not returned from a callback; it is left behind", current.name)


def _current_of(executor: Executor) -> Origin | None:
    """Who is being called by an executor."""
    current = executor.current
    if current is None:
        return None
    return Origin(current.context.spec.component, current.context.spec.id)


@contextlib.contextmanager
def _calm_collector() -> Iterator[None]:
    """Fewer young collections while tuples, which are no garbage in cycles, come and go by the million."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], YOUNG_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
