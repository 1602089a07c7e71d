"""The executor: one thread of execution that runs its tasks in turn."""

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
"""Aimed length of a slice; a task's number of tuples per slice follows it."""
FIRST_SLICE = 1
"""Tuples in a task's first slice: nobody knows as yet whether one takes a microsecond or a minute."""
LONGEST_WAIT_S = 0.1
"""Longest time that an idle executor waits before it looks around."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How an executor runs its tasks."""

    policy: Policy
    """Chooses among the tasks that could run."""
    idle: IdleStrategy
    """How to wait for something to do."""
    max_slice: int
    """Most tuples that a task processes before another is chosen."""
    drain_timeout_s: float
    """Seconds after which a drain is given up."""


class Executor:
    """Runs its tasks until they have all ended, or the run is stopped.

    A spout's task ends when the spout does, a bolt's when its producers have ended, wherever these
    are, and everything has been processed.

    A callback that fills its output in the middle (a bolt that emits without end, a spout
    that never returns from `next_tuple`) is not interrupted: its emit runs the other tasks
    until there is room, on top of its own stack.
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
            spouts: the tasks that bring tuples.
            bolts: all other tasks.
            rules: how they are run.
            stop: asks the executor to drain.
            fed_by_others: tasks with something to read from, or room to wait for, at other executors.
            on_turn: called before every turn with the monotonic time in seconds.
        """
        self.spouts = tuple(spouts)
        self.bolts = tuple(bolts)
        self.tasks: tuple[Task, ...] = (*self.spouts, *self.bolts)
        self.current: Task | None = None
        """The task whose callback runs."""
        self.calls = 0
        """How often tasks were called back, so that another thread can tell one call from the next."""
        self.undrained = False
        """Whether a drain was given up before everything had been processed."""
        self.turns = 0
        """Turns that found a task to run."""
        self.rests = 0
        """Times that none did."""
        self.rested_s = 0.0
        """Seconds that it has waited then."""
        self.cpu_s = 0.0
        """CPU seconds of its run; known when that has ended."""
        self._failure: Exception | None = None
        """What failed on top of another task's callback, which is being unwound."""
        self._rules = rules
        self._stop = stop
        self._active = False
        """Whether the spouts have been activated, and not deactivated since."""
        self._draining = False
        """Whether the tasks have heard that the run is to drain."""
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
            ComponentError: it raised.
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
        """As `run`, but gives way after each turn, to whoever takes away what comes of it."""
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
        """Run one of the tasks; whether there was one to run."""
        if self._rules.idle.begin_look():
            for task in self._fed_by_others:
                task.signal()
        now = time.monotonic()
        self._on_turn(now)
        self._drain_if_asked(now)
        if self._stop.active is not self._active and not any(map(self._is_in_callback, self.spouts)):
            self._change_activity(self._stop.active)
        for task in candidates:  # before any is asked, as what is handed over gives others something to do
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

    def _is_in_callback(self, task: Task) -> bool:
        return task in self._in_callbacks

    def call(self, task: Task, callback: Callable[[], int | None]) -> int:
        """Call back into a task, which is the current one meanwhile."""
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
        """Whether a component is to be made anew after a pause."""
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
        """Whether a drain has taken too long, or nothing is to go on."""
        started, timeout_s = self._stop.at_s, self._rules.drain_timeout_s
        if self._stop.aborted:
            self.undrained = True
        elif not self.undrained and started is not None and time.monotonic() - started >= timeout_s:
            self.undrained = True
            log.warning("not drained within %g s: %s", timeout_s, self._unfinished())
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
        """Run bolts until none can go on, and then others too while the waiting task has no room.

        Where the others wait for a task that itself waits further down the stack, only a return
        can help: the waiting task then keeps what it has emitted, beyond the bound.

        Raises:
            TaskStopped: the run is to stop, or has failed, and the waiting callback is not to go on.
        """
        if self.current is not waiting:
            return  # a finalizer emits while something else is at work, which it must not hold up
        if self._failure is not None:
            raise TaskStopped  # user code has caught the one before
        try:
            self._make_room(waiting)
        except Exception as error:
            # The callback below is not at fault, so it must not see this, nor keep it from the run.
            self.end_with(error)

    def end_with(self, error: Exception) -> NoReturn:
        """Unwind the callback on the stack, which is not to see the error, and end the run with it."""
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
