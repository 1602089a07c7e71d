"""The worker: the executors of one process, from making their tasks to closing and reporting them."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from framework.model.errors import ComponentError
from framework.model.instantiate import Beans
from framework.operators.log import (
    Origin,
    ask_in_this_thread,
    attached_origins,
    printing_to_log,
    speaking_as,
    task_files,
)
from framework.operators.sinks import Sink
from framework.planning import Plan
from framework.runtime.coordination.cut_record import CutState
from framework.runtime.coordination.signals import asked_by_sigquit
from framework.runtime.coordination.stop import DrainDeadline, StopReason
from framework.runtime.durability.checkpoints.states import SavedTask, SavedTasks, TaskReport
from framework.runtime.execution.accounting import added
from framework.runtime.execution.alarm import ending_in_time
from framework.runtime.execution.assembly.recording import RecordingIO
from framework.runtime.execution.assembly.task_factory import TaskFactory, make_executor
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.sharing import SharingExecutor
from framework.runtime.execution.stand_in import standing_in
from framework.runtime.execution.watchdog import Watch
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.stacks import Stacks
from framework.runtime.observation.statistics import ExecutorStatistics, LongCallback, WorkerReport
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.task import Task
from framework.runtime.workers.context import WorkerContext
from framework.runtime.workers.executor_thread import ExecutorThreads

YOUNG_OBJECTS = 50_000
"""New objects between two young collections."""


class Worker:
    """Runs the executors of one process: the first in the calling thread, each other one in its own.

    All calls to a component are made in the thread of its executor, that of its constructor included.
    """

    def __init__(
        self,
        context: WorkerContext,
        process: int = 0,
        *,
        attempt: int = 0,
        has_run: bool = False,
        on_moved: Callable[[], None] | None = None,
    ) -> None:
        """
        Args:
            context: shared by all workers.
            process: index of this process in the plan's placement.
            attempt: the number of times that the process was restarted; after a restart, tasks continue from
                the last commit of the dead process.
            has_run: whether a process before this one was asked to run its tasks. If not, its work has stayed
                within it, and tasks begin where those of a first process would.
            on_moved: called by the executors' threads after each turn in which tuples have moved; None if
                nobody is to know.
        """
        plan, settings, network = context.plan, context.settings, context.network
        memory, stop, recording = context.memory, context.stop, context.recording
        self._plan = plan
        self._settings = settings
        self._network = network
        self._stop = stop
        self._on_look = context.on_look
        self._on_moved = on_moved
        self._on_report = context.on_report
        self._on_want = context.on_want
        self._checkpoints = context.checkpoints
        self._memory = memory
        self._recording_io = RecordingIO(recording, plan)
        beans = Beans(plan.topology.beans)
        self._factory = TaskFactory(plan, settings, network, beans, self._recording_io, memory)
        self._resumes = attempt > 0
        self._has_run = has_run
        self._numbers = [
            number
            for number in plan.placement.processes[process]
            for _ in range(plan.placement.executors[number].threads)
        ]
        """The executors' indexes in the placement; as many times as each has threads."""
        self._deadline = DrainDeadline(stop, settings["viper.drain.timeout.secs"])
        self._threads = ExecutorThreads(
            self._numbers, self._deadline, self._name_in_callback, self._is_left, context.on_look
        )
        self._executors: dict[int, Executor] = {}
        """By their index here, which is that of their thread."""
        self._begun: list[tuple[int, Task]] = []
        """The tasks whose `start` was called, with the indexes of their executors."""
        self._by_thread: dict[int, Executor] = {}
        stuck_after_s = {name: conf["viper.stuck.after.secs"] for name, conf in plan.confs.items()}
        self._watch = Watch(self._by_thread, stuck_after_s)

    @property
    def executors(self) -> list[Executor]:
        """All executors, in the placement's order."""
        return [self._executors[index] for index in sorted(self._executors)]

    @property
    def tasks(self) -> list[Task]:
        """All tasks, by id."""
        found = {task for executor in self.executors for task in executor.tasks}
        return sorted(found, key=lambda task: task.context.spec.id)

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        """Surround all phases: printed lines go to the log, and the garbage collector runs less often."""
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
            self._threads.end()
            if self._memory is not None:
                self._memory.shared.end_threads()
            self._recording_io.close()

    def prepare(self) -> None:
        """Make all tasks, then initialize all components.

        Raises:
            ComponentError: one of them raised.
        """
        self._threads.everywhere(self._make)
        if len(set(self._numbers)) < len(self._numbers):
            self._threads.everywhere(self._share)
        self._threads.everywhere(self._start)

    def run(self) -> None:
        """Run until every task has ended, or the run is stopped.

        Raises:
            ComponentError: user code raised; the other executors have been stopped.
        """
        blocking = [task for task in self.tasks if task.slot.presence.is_blocking]
        with (
            ending_in_time(self._stop, self._deadline, self._executors[0]),
            standing_in(blocking, self._stop, self._network.stand_in_bell),
        ):
            self._threads.everywhere(self._run)

    def saved(self) -> SavedTasks | None:
        """The states that its tasks have saved; None without checkpoints, or if not everything was processed.

        The run may be suspended after all tasks of this process have come to their end.

        Raises:
            ComponentError: a sink has raised while it made lasting what it had taken.
        """
        record = self._network.cut
        if record is None or not self._network.makes_checkpoints or not self.is_drained:
            return None
        # A process may be done before it hears the reason.
        is_suspended = record.state is CutState.CLOSED or self._stop.reason is StopReason.SUSPENDED
        for index, task in self._held() if is_suspended else ():
            self._threads.in_thread(index, partial(self._cut, index, task))
        lost = sum(task.context.counters.lost for task in self.tasks)
        return SavedTasks({task.context.spec.id: task.save() for task in self.tasks}, lost)

    @property
    def is_drained(self) -> bool:
        """True if all input of its tasks was processed; valid once it has run."""
        return not (self._threads.any_unfinished or any(e.undrained for e in self.executors))

    def close(self, written: int | None = None, *, is_complete: bool = False) -> list[ComponentError]:
        """Close every task that was started, even if others raise; return the errors.

        Args:
            written: the id of the checkpoint that was written before; None for none.
            is_complete: whether the run has come to its end without an error, and without a rest anywhere.
        """
        failures: list[ComponentError] = []
        is_last = is_complete and self.is_drained and written is None
        for index, task in self._held():
            try:
                self._threads.in_thread(index, partial(self._close, index, task, written, is_last=is_last))
            except ComponentError as error:
                with speaking_as(Origin(error.component, error.task)):
                    task.context.logger.debug("%s", error, exc_info=error.__cause__ or error)
                failures.append(error)
            if self._threads.left_behind(index):
                task.slot.abandon()
        self._begun.clear()
        return failures

    def reports(self) -> Sequence[WorkerReport]:
        """The report of this process, from all that its tasks have done so far."""
        return [worker_report(self.executors, self.statistics(), self._threads.any_unfinished)]

    def let_go(self) -> None:
        """Release the parts of the tasks; their counts can still be read.

        To be called after `surroundings`. If a callback is left behind, its executor's tasks stay until it
        returns.
        """
        self._threads.end_with({index: executor.let_go for index, executor in self._executors.items()})
        self._by_thread.clear()
        del self._threads, self._factory, self._recording_io, self._network, self._memory

    @property
    def incidents(self) -> Sequence[Incident]:
        """None: this process would have died with its worker."""
        return ()

    def statistics(self) -> Sequence[ExecutorStatistics]:
        """The statistics of its executors; from any thread."""
        made = dict(self._executors)  # which their threads may still be making
        executors: dict[int, list[Executor]] = {}
        for index in sorted(made):
            executors.setdefault(self._numbers[index], []).append(made[index])
        return executor_statistics(self._plan, executors, self._watch.long_callbacks(time.monotonic()))

    def counters(self) -> Sequence[Mapping[int, TaskCounters]]:
        """The counters of its tasks, by task."""
        return [{task.context.spec.id: task.context.counters for task in self.tasks}]

    def threads(self) -> Mapping[int, Executor]:
        """Its executors by the identifiers of their threads; some may be missing before all are made."""
        return self._by_thread

    def tell_stacks(self) -> None:
        """Log where all its tasks are; from any thread."""
        self._watch.tell_stacks()

    def stacks(self) -> Stacks:
        """Return the stacks of all its tasks; any thread may call it."""
        return self._watch.stacks()

    def _log_files(self) -> AbstractContextManager[None]:
        mine = {task for number in self._numbers for task in self._plan.placement.executors[number].tasks}
        here = [task for task in self._plan.tasks if task.id in mine]
        origins = [(Origin(task.component, task.id), self._plan.confs[task.component]) for task in here]
        return task_files(self._plan.topology.name, origins)

    # -- in the executors' threads

    def _make(self, index: int) -> None:
        number = self._numbers[index]
        if index != self._numbers.index(number):
            return  # it is made when the first one has made the tasks that they share
        on_turn = self._on_look if index == 0 else lambda now: None
        executor = make_executor(
            self._plan,
            self._settings,
            self._network,
            self._factory,
            number,
            self._stop,
            on_turn,
            self._on_moved,
            resumes=self._resumes,
        )
        self._has(index, executor)

    def _share(self, index: int) -> None:
        first = self._numbers.index(self._numbers[index])
        if index != first:
            owner = self._executors[first]
            assert isinstance(owner, SharingExecutor)
            executor = owner.sharing.executor(lambda now: None, self._on_moved)
            if self._factory.components is not None:
                self._factory.components.join(executor, ())
            self._has(index, executor)

    def _has(self, index: int, executor: Executor) -> None:
        self._executors[index] = self._by_thread[threading.get_ident()] = executor
        ask_in_this_thread(partial(_current_of, executor))

    def _held(self) -> Iterator[tuple[int, Task]]:
        """The tasks that were started, with the indexes of the executors that are to call back into them.

        A thread that is left behind may have a callback of the task on its stack. Then it is that one's, and
        else the one's that has started the task.
        """
        for index, task in self._begun:
            holder = self._executors[index].holder(task)
            yield next(i for i, executor in self._executors.items() if executor is holder), task

    def _start(self, index: int) -> None:
        if index != self._numbers.index(self._numbers[index]):
            return
        executor = self._executors[index]
        for task in (*executor.bolts, *executor.spouts):
            if self._resumes:
                task.resume(self._network.floor(task.context.spec.id), has_run=self._has_run)
            # A source that begins anew does so where the run has begun.
            has_gone_on = self._has_run and not task.is_source
            if task.commits is not None:
                has_gone_on = task.commits.has_begun
            if not has_gone_on and task.context.spec.id in self._plan.saved:
                task.restore(self._plan.saved[task.context.spec.id])
            if self._checkpoints is not None and self._network.cut is not None:
                told = partial(self._report, task), self._checkpoints, self._network.cut
                task.context.checkpoints.listen(*told, self._on_want)
            self._begun.append((index, task))
            executor.start(task)

    def _run(self, index: int) -> None:
        try:
            self._executors[index].run()
        except BaseException:
            self._stop.abort()  # so that the others stop, too
            raise

    def _report(self, task: Task, found: SavedTask) -> None:
        self._on_report(TaskReport(task.context.spec.id, found, task.context.counters.lost))

    def _cut(self, index: int, task: Task) -> None:
        record = self._network.cut
        assert record is not None
        task.come_to(self._executors[index])
        self._executors[index].call(task, task.cut, record.number)

    def _close(self, index: int, task: Task, written: int | None, *, is_last: bool) -> None:
        executor = self._executors[index]
        task.come_to(executor)
        try:
            if is_last:
                executor.call(task, task.last)
            if written is not None:
                executor.call(task, task.complete, written)
        finally:
            executor.call(task, task.close)

    def _is_left(self, index: int) -> bool:
        """True if an executor's thread is in a callback of a task that was ended without it."""
        executor = self._executors.get(index)
        current = executor.current if executor is not None else None
        return current is not None and current.is_finished and current.slot.presence.is_left

    def _name_in_callback(self, index: int) -> str | None:
        """The name of an executor's task that is in a callback; None if there is none."""
        executor = self._executors.get(index)
        current = executor.current if executor is not None else None
        return current.name if current is not None else None


def _current_of(executor: Executor) -> Origin | None:
    """The task that an executor is calling."""
    current = executor.current
    if current is None:
        return None
    return Origin(current.context.spec.component, current.context.spec.id)


@contextlib.contextmanager
def _calm_collector() -> Iterator[None]:
    """Collect young objects less often in the block: tuples come and go by the million, and form no cycles.

    Older objects, modules for the most part, are left out: 100,000 objects, and 20 ms of each full
    collection.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], YOUNG_OBJECTS), *before[1:])
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def executor_statistics(
    plan: Plan, executors: Mapping[int, Sequence[Executor]], callbacks: Mapping[Executor, LongCallback]
) -> list[ExecutorStatistics]:
    """The statistics of executors; from any thread.

    Args:
        plan: what is run.
        executors: by the number in its placement, the executors that share the tasks.
        callbacks: those of them that have been in a callback for long.
    """
    now = time.monotonic()
    all_s = sum(executor.cpu_s for shared in executors.values() for executor in shared)
    return [
        ExecutorStatistics(
            worker=plan.placement.executors[number].worker,
            tasks=[task.name for task in shared[0].tasks],
            at_s=now,
            busy_s=list(added(*(executor.busy for executor in shared), now=now).values()),
            waited_s=_waited(shared, now, all_s - sum(executor.cpu_s for executor in shared)),
            times=[task.context.times.counts() for task in shared[0].tasks],
            turns=sum(executor.turns for executor in shared),
            rests=sum(executor.rests.count for executor in shared),
            rested_s=sum(executor.rests.seconds for executor in shared),
            cpu_s=sum(executor.cpu_s for executor in shared),
            callback=next((callbacks[executor] for executor in shared if executor in callbacks), None),
            number=number,
        )
        for number, shared in executors.items()
    ]


def _waited(shared: Sequence[Executor], now: float, others_s: float) -> list[float]:
    """For how many seconds each task of executors that share them has waited; a program's, nobody knows.

    A bolt that is a program is taken to compute, and a spout to wait: nothing shows what the program does.
    """
    executor, *beside = shared
    waited = executor.busy.waited(now, others_s, [other.busy for other in beside])
    known = [task.is_source or task.slot.host.computes_here for task in executor.tasks]
    return [seconds if is_known else 0.0 for seconds, is_known in zip(waited.values(), known, strict=True)]


def worker_report(
    executors: Sequence[Executor], statistics: Sequence[ExecutorStatistics], left_behind: bool
) -> WorkerReport:
    """The report of a process's executors.

    Args:
        executors: all of them.
        statistics: how they were doing.
        left_behind: whether a callback was not waited for.

    Raises:
        ComponentError: a sink has raised instead of giving its result.
    """
    results: dict[int, Any] = {}
    tasks = list(dict.fromkeys(task for executor in executors for task in executor.tasks))
    for task in tasks:
        if (result := _result_of(task)) is not None:
            results[task.context.spec.id] = result
    return WorkerReport(
        counters={task.context.spec.id: task.context.counters for task in tasks},
        results=results,
        executors=statistics,
        drained=not (left_behind or any(executor.undrained for executor in executors)),
    )


def _result_of(task: Task) -> Any:
    sink, spec = task.slot.host.component, task.context.spec
    try:
        return sink.result() if isinstance(sink, Sink) else None
    except user_errors() as error:
        detail = f"{type(error).__name__}: {error}"
        raise ComponentError(spec.component, spec.id, "result", detail) from error
