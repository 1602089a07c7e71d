"""The executor: one thread that runs its tasks in turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from framework.errors import InternalError
from framework.runtime.control.stop import StopSignal
from framework.runtime.execution.cycles import Cycles
from framework.runtime.execution.idle import IdleStrategy
from framework.runtime.execution.live_time import LiveTime
from framework.runtime.execution.policy import Policy
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.context import TaskStopped
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task

log = logging.getLogger("viperstorm.worker")

SLICE_S = 0.005
"""The length in seconds that a slice should have; the number of tuples in slices is adapted to it."""
FIRST_SLICE = 1
"""Tuples in a task's first slice, as it is not yet known whether one takes a microsecond or a minute."""
LONGEST_WAIT_S = 0.1
"""Longest time in seconds that an idle executor waits before it looks for runnable tasks again."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules by which an executor runs its tasks."""

    policy: Policy
    """Chooses among the tasks that are runnable."""
    idle: IdleStrategy
    """Waits while no task is runnable."""
    max_slice: int
    """Most tuples that a task processes before another is chosen."""
    drain_timeout_s: float
    """Seconds after which a drain is given up."""


class Executor:
    """Runs its tasks until they have all ended, or the run is stopped.

    A spout's task ends when the spout does. A bolt's task ends when all its producers have ended, in
    whichever process they are, and it has processed everything.

    A callback may fill its output before it returns, such as a bolt that emits without end or a spout that
    never returns from `next_tuple`. It is not interrupted: its emit runs the other tasks, on top of its own
    stack, until there is room.
    """

    def __init__(
        self,
        spouts: Sequence[SourceTask],
        bolts: Sequence[BoltTask],
        *,
        rules: Rules,
        stop: StopSignal,
        fed_by_others: Sequence[Task],
        on_turn: Callable[[float], None],
    ) -> None:
        """
        Args:
            spouts: the tasks of spouts.
            bolts: all other tasks.
            rules: how they are run.
            stop: asks the executor to drain.
            fed_by_others: tasks that read from tasks of other executors, or send to them.
            on_turn: called before every turn with the monotonic time in seconds.
        """
        self.spouts = tuple(spouts)
        self.bolts = tuple(bolts)
        self.tasks: tuple[Task, ...] = (*self.spouts, *self.bolts)
        self.current: Task | None = None
        """The task whose callback runs."""
        self.calls = 0
        """The number of callbacks so far, by which another thread can tell one callback from the next."""
        self.undrained = False
        """Whether a drain was given up before everything had been processed."""
        self.turns = 0
        """Turns that found a runnable task."""
        self.rests = 0
        """Turns that found none, after which the executor waited."""
        self.rested_s = 0.0
        """Seconds that the executor has waited in all."""
        self.cpu_s = 0.0
        """CPU seconds of the run; set when the run has ended."""
        self._held_up_by = ""
        """In words, the task whose callback had to be ended because it did not return in time."""
        self._failure: Exception | None = None
        """The error that ends the run, while the callback that it was raised on top of is being unwound."""
        self._rules = rules
        self._stop = stop
        self._active = False
        """Whether the spouts have been activated, and not deactivated since."""
        self._draining = False
        """Whether the tasks have been told that the run is to drain."""
        self._fed_by_others = tuple(fed_by_others)
        self._in_callbacks: list[Task] = []
        """The tasks whose callbacks are on the stack."""
        self._cycles = Cycles(self.bolts)
        self._live_time = LiveTime(self.spouts, self.bolts, self._is_in_callback)
        self._slices = {task: min(FIRST_SLICE, rules.max_slice) for task in self.tasks}
        """For each task the most tuples of its next slice."""
        self._on_turn = on_turn

    def start(self, task: Task) -> None:
        """Initialize the component of one of the tasks.

        Raises:
            ComponentError: the component raised.
        """
        self.call(task, lambda: task.start(self))

    def run(self) -> None:
        """Run until the end.

        Raises:
            ComponentError: user code raised.
            KeyboardInterrupt: a second Ctrl-C.
        """
        began_s = time.thread_time()
        try:
            for _ in self.steps():
                pass
        finally:
            self.cpu_s = time.thread_time() - began_s

    def steps(self) -> Iterator[None]:
        """Run until the end as `run` does, and yield after each turn so that the caller can take output."""
        try:
            while not (self._given_up() or all(task.is_finished for task in self.tasks)):
                if not self._turn(self.tasks):
                    self._open_cycle_or_wait()
                yield
        except TaskStopped:
            if self._failure is not None:
                raise self._failure from self._failure.__cause__
            self.undrained = True

    # -- one turn

    def _turn(self, candidates: Sequence[Task]) -> bool:
        """Run one of the tasks; return whether any was runnable."""
        if self._rules.idle.begin_look():
            for task in self._fed_by_others:
                task.signal()
        now = time.monotonic()
        self._on_turn(now)
        self._drain_if_asked(now)
        if self._stop.active is not self._active and not any(map(self._is_in_callback, self.spouts)):
            self._change_activity(self._stop.active)
        for task in candidates:  # all of them first: handing tuples over makes other tasks runnable
            if task.is_blocked:
                task.unblock()
        on_stack = self._in_callbacks
        runnable = [task for task in candidates if task.is_runnable(now) and task not in on_stack]
        if not runnable:
            return False
        self.turns += 1
        self._cycles.something_happened()
        self._run(self._rules.policy.choose(runnable))
        return True

    def _drain_if_asked(self, now: float) -> None:
        reason = self._stop.reason
        if reason is not None and not self._draining:
            self._draining = True
            for task in self.tasks:
                task.drain(reason, now)

    def _change_activity(self, active: bool) -> None:
        self._active = active
        for spout in self.spouts:
            if not spout.is_ending:
                self.call(spout, spout.activate if active else spout.deactivate)

    def _run(self, task: Task) -> None:
        started = time.monotonic()
        limit = self._slices[task]
        try:
            count = self.call(task, lambda: task.run(limit))
        except TaskStopped:
            if self._failure is not None or self._given_up() or not isinstance(task, SourceTask):
                raise
            if not task.is_finished:  # a task that another thread has ended is finished already
                self.call(task, task.end)
            return
        self._adapt(task, limit, count, time.monotonic() - started)
        if count:
            self._live_time.something_moved()
        if isinstance(task, SourceTask):
            self._live_time.go_on()

    def _adapt(self, task: Task, limit: int, count: int, took_s: float) -> None:
        if count >= limit and took_s < SLICE_S / 2:
            self._slices[task] = min(2 * limit, self._rules.max_slice)
        elif took_s > 2 * SLICE_S:
            self._slices[task] = max(int(limit * SLICE_S / took_s), 1)

    def in_callback(self) -> bool:
        """Whether a component is being called right now."""
        return self.current is not None

    def cut_off(self, callback: str | None) -> None:
        """Note that the current callback is about to be ended, because it has not returned in time.

        It is safe to call this in a signal handler.

        Args:
            callback: the name of the callback; None if it is not known.
        """
        if self.current is not None:
            self._held_up_by = f"{self.current.name} has not returned from {callback or 'a callback'}"

    def _is_in_callback(self, task: Task) -> bool:
        return task in self._in_callbacks

    def call(self, task: Task, callback: Callable[[], int | None]) -> int:
        """Call back into a task, which is `current` meanwhile; return what the callback returned, or 0."""
        outer, self.current = self.current, task
        self.calls += 1
        self._in_callbacks.append(task)
        try:
            return callback() or 0
        finally:
            self._in_callbacks.pop()
            self.current = outer

    # -- when nothing can run

    def _open_cycle_or_wait(self) -> None:
        are_finished = all(spout.is_finished for spout in self.spouts)
        if all(spout.brings_nothing for spout in self.spouts) and self._cycles.open(rests=not are_finished):
            self._live_time.go_on()
            return
        if not (self._fed_by_others or self._restarts_later()) and are_finished:
            raise InternalError(f"nothing can run, but {self._unfinished()}")
        self._wait()

    def _restarts_later(self) -> bool:
        """Whether any component is to be restarted after a pause."""
        return any(task.slot.is_gone for task in self.tasks)

    def _wait(self) -> None:
        now = time.monotonic()
        wakes = [task.wake_at_s for task in self.tasks if not (task.is_blocked or task.is_finished)]
        until = min([now + LONGEST_WAIT_S, *wakes])
        if until > now:
            self._rules.idle.wait(until - now)
            self.rests += 1
            self.rested_s += time.monotonic() - now
        self._live_time.look()

    def _given_up(self) -> bool:
        """Whether the run ends without draining: it was aborted, or the drain has taken too long."""
        started, timeout_s = self._stop.at_s, self._rules.drain_timeout_s
        if self._stop.aborted:
            self.undrained = True
        elif not self.undrained and started is not None and time.monotonic() - started >= timeout_s:
            self.undrained = True
            log.warning("not drained within %g s: %s", timeout_s, self._held_up_by or self._unfinished())
        return self.undrained

    def _unfinished(self) -> str:
        return "; ".join(
            f"{task.name} has not returned from a callback"
            if self._is_in_callback(task)
            else f"{task.name} waits for {task.waiting_for}"
            if task.waiting_for
            else f"{task.name} is not done"
            for task in self.tasks
            if not task.is_finished
        )

    # -- callbacks that do not return

    def make_room(self, waiting: Task) -> None:
        """Run bolts until none is runnable, and then all other tasks too while the waiting task has no room.

        The other tasks may themselves wait for a task whose callback is further down the stack. Then only
        returning helps, and the waiting task keeps what it has emitted, beyond the bound of its buffer.

        Args:
            waiting: the task whose callback has filled its output.

        Raises:
            TaskStopped: the run is to stop, or has failed, and the waiting callback must end.
        """
        if self.current is not waiting:
            return  # a finalizer of the waiting task emits while another task runs: that must not be held up
        if self._failure is not None:
            raise TaskStopped  # user code has caught the first one
        try:
            self._make_room(waiting)
        except Exception as error:
            # The callback below has not caused this error, so it must neither see it nor be able to catch it.
            self.end_with(error)

    def end_with(self, error: Exception) -> NoReturn:
        """End the run with an error that another task has caused.

        The callback on the stack is unwound by `TaskStopped`, so that it does not see the error.

        Raises:
            TaskStopped: always.
        """
        self._failure = error
        raise TaskStopped from error

    def _make_room(self, waiting: Task) -> None:
        while True:
            if self._must_leave(waiting):
                raise TaskStopped
            if self._turn(self.bolts):
                continue
            if not waiting.is_blocked:
                return
            if not self._turn(self.tasks):
                if any(task is not waiting for task in self._in_callbacks):
                    return
                self._wait_for_room(waiting)

    def _must_leave(self, waiting: Task) -> bool:
        if self._stop.at_s is None:
            return False
        return self._given_up() or (isinstance(waiting, SourceTask) and waiting.leaves_now(self._stop.at_s))

    def _wait_for_room(self, waiting: Task) -> None:
        alone = not (self._fed_by_others or self._restarts_later())
        if alone and all(self._is_in_callback(spout) or spout.is_finished for spout in self.spouts):
            raise InternalError(
                f"{waiting.name} emits without returning and has no room left, but {self._unfinished()}"
            )
        self._wait()
