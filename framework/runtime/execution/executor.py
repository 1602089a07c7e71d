"""The executor: one thread of execution that runs its tasks in turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from framework.errors import InternalError
from framework.runtime.control.stop import StopSignal
from framework.runtime.execution.cycles import Cycles
from framework.runtime.execution.idle import Rest
from framework.runtime.execution.live_time import LiveTime
from framework.runtime.execution.policy import Policy
from framework.runtime.execution.timers import Timers
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import RunningTask, TaskStopped

log = logging.getLogger("viperstorm.worker")

SLICE_S = 0.005
"""Aimed length of a slice; a task's number of tuples per slice follows it."""
FIRST_SLICE = 1
"""Tuples in a task's first slice: nobody knows as yet whether one takes a microsecond or a minute."""
LONGEST_REST_S = 0.1
"""Longest time that an idle executor rests before it looks around."""


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
        policy: Policy,
        stop: StopSignal,
        timers: Timers,
        rest: Rest,
        fed_by_others: Sequence[RunningTask],
        max_slice: int,
        drain_timeout_s: float,
        on_turn: Callable[[float], None],
    ) -> None:
        """
        Args:
            spouts: the tasks that bring tuples.
            bolts: all other tasks.
            policy: chooses among the tasks that could run.
            stop: asks the executor to drain.
            timers: what is due by the wall clock.
            rest: how to wait for something to do.
            fed_by_others: tasks with something to read from, or room to wait for, at other executors.
            max_slice: most tuples that a task processes before another is chosen.
            drain_timeout_s: seconds after which a drain is given up.
            on_turn: called before every turn with the monotonic time in seconds.
        """
        self.spouts = tuple(spouts)
        self.bolts = tuple(bolts)
        self.tasks: tuple[RunningTask, ...] = (*self.spouts, *self.bolts)
        self.current: RunningTask | None = None
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
        """Seconds that it has rested then."""
        self.cpu_s = 0.0
        """CPU seconds of its run; known when that has ended."""
        self._held_up_by = ""
        """The task whose callback had to be ended as it did not return in time, in words."""
        self._failure: Exception | None = None
        """What failed on top of another task's callback, which is being unwound."""
        self._policy = policy
        self._stop = stop
        self._active = False
        """Whether the spouts have been activated, and not deactivated since."""
        self._stopping = False
        """Whether the spouts have heard that the run is to drain."""
        self.timers = timers
        self._rest = rest
        self._fed_by_others = tuple(fed_by_others)
        self._cycles = Cycles(self.bolts)
        self._live_time = LiveTime(self.spouts, self.bolts)
        self._max_slice = max_slice
        self._limits = {running: min(FIRST_SLICE, max_slice) for running in self.tasks}
        self._drain_timeout_s = drain_timeout_s
        self._on_turn = on_turn
        for running in self.tasks:
            running.let_others_run = self._let_others_run
            running.end_with = self._end_with

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
        """As `run`, but gives way after each turn, to who takes away what comes of it."""
        try:
            while not (self._given_up() or all(running.finished for running in self.tasks)):
                if not self._turn(self.tasks):
                    self._open_cycle_or_rest()
                yield
        except TaskStopped:
            if self._failure is not None:
                raise self._failure from self._failure.__cause__
            self.undrained = True

    # -- one turn

    def _turn(self, candidates: Sequence[RunningTask]) -> bool:
        """Run one of the tasks; whether there was one to run."""
        if self._rest.begin_look():
            for running in self._fed_by_others:
                running.signalled = True
        now = time.monotonic()
        self._on_turn(now)
        for owner, callback in self.timers.due(now):
            self.call(owner, callback)
            owner.unblock()
        stopping = self._asked_to_stop(now)
        if self._stop.active is not self._active and not any(spout.running for spout in self.spouts):
            self._change_activity(self._stop.active)
        for running in candidates:  # before any is asked, as what is handed over gives others something to do
            if running.blocked:
                running.unblock()
        runnable = [running for running in candidates if running.is_runnable(now, stopping)]
        if not runnable:
            return False
        self.turns += 1
        self._cycles.something_happened()
        self._run(self._policy.choose(runnable))
        return True

    def _asked_to_stop(self, now: float) -> bool:
        """Whether the run is to drain; the spouts hear of it before they are asked whether they end."""
        reason = self._stop.reason
        if reason is not None and not self._stopping:
            self._stopping = True
            for spout in self.spouts:
                spout.stop_asked(reason, now)
        return self._stopping

    def _change_activity(self, active: bool) -> None:
        self._active = active
        for spout in self.spouts:
            if not spout.ending:
                self.call(spout, spout.activate if active else spout.deactivate)

    def _run(self, running: RunningTask) -> None:
        started = time.monotonic()
        if running.has_ended or (self._stopping and running.stops(started)):
            self._end(running)
            return
        limit = self._limits[running]
        try:
            count = self.call(running, lambda: running.run(limit))
        except TaskStopped:
            if self._failure is not None or self._given_up():
                raise
            if not running.finished:  # as a task is that was left behind
                self._end(running)
            return
        self._adapt(running, limit, count, time.monotonic() - started)
        if count:
            self._live_time.something_moved()
        if isinstance(running, SourceTask):
            self._live_time.go_on()

    def _adapt(self, running: RunningTask, limit: int, count: int, took_s: float) -> None:
        if count >= limit and took_s < SLICE_S / 2:
            self._limits[running] = min(2 * limit, self._max_slice)
        elif took_s > 2 * SLICE_S:
            self._limits[running] = max(int(limit * SLICE_S / took_s), 1)

    def _end(self, running: RunningTask) -> None:
        if not running.ending:
            running.ending = True
            self.call(running, running.end)
        running.finished = bool(self.call(running, running.tell_end))

    def in_callback(self) -> bool:
        """Whether a component is being called right now."""
        return self.current is not None

    def cut_off(self, callback: str | None) -> None:
        """The current callback is about to be ended, as it has not returned in time; from a signal's handler.

        Args:
            callback: its name.
        """
        if self.current is not None:
            self._held_up_by = f"{self.current.name} has not returned from {callback or 'a callback'}"

    def call(self, running: RunningTask, callback: Callable[[], int | None]) -> int:
        """Call back into a task, which is the current one meanwhile."""
        outer, self.current = self.current, running
        self.calls += 1
        running.running = True
        try:
            return callback() or 0
        finally:
            running.running = False
            self.current = outer

    # -- when nothing can run

    def _open_cycle_or_rest(self) -> None:
        are_finished = all(spout.finished for spout in self.spouts)
        if all(spout.brings_nothing for spout in self.spouts) and self._cycles.open(rests=not are_finished):
            self._live_time.go_on()
            return
        if not (self._fed_by_others or self._restarts_later()) and are_finished:
            raise InternalError(f"nothing can run, but {self._unfinished()}")
        self._wait()

    def _restarts_later(self) -> bool:
        """Whether a component is to be made anew after a pause."""
        return any(running.restart_at_s is not None for running in self.tasks)

    def _wait(self) -> None:
        now = time.monotonic()
        looks = [running.looks_at_s for running in self.tasks if not (running.blocked or running.finished)]
        until = min(now + LONGEST_REST_S, self.timers.next_due(), *looks)
        if until > now:
            self._rest.wait(until - now)
            self.rests += 1
            self.rested_s += time.monotonic() - now
        self._live_time.look()

    def _given_up(self) -> bool:
        """Whether a drain has taken too long, or nothing is to go on."""
        started = self._stop.at_s
        if self._stop.aborted:
            self.undrained = True
        elif (
            not self.undrained and started is not None and time.monotonic() - started >= self._drain_timeout_s
        ):
            self.undrained = True
            blamed = self._held_up_by or self._unfinished()
            log.warning("not drained within %g s: %s", self._drain_timeout_s, blamed)
        return self.undrained

    def _unfinished(self) -> str:
        return "; ".join(
            f"{running.name} has not returned from a callback"
            if running.running
            else f"{running.name} waits for {running.waiting_for}"
            if running.waiting_for
            else f"{running.name} is not done"
            for running in self.tasks
            if not running.finished
        )

    # -- callbacks that do not return

    def _let_others_run(self, waiting: RunningTask) -> None:
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
            self._end_with(error)

    def _end_with(self, error: Exception) -> NoReturn:
        """Unwind the callback on the stack, which is not to see the error, and end the run with it."""
        self._failure = error
        raise TaskStopped from error

    def _make_room(self, waiting: RunningTask) -> None:
        while True:
            if self._must_leave(waiting):
                raise TaskStopped
            if self._turn(self.bolts):
                continue
            if not waiting.blocked:
                return
            if not self._turn(self.tasks):
                if any(other.running and other is not waiting for other in self.tasks):
                    return
                self._wait_for_room(waiting)

    def _must_leave(self, waiting: RunningTask) -> bool:
        if self._stop.at_s is None:
            return False
        return self._given_up() or (isinstance(waiting, SourceTask) and waiting.leaves_now(self._stop.at_s))

    def _wait_for_room(self, waiting: RunningTask) -> None:
        alone = not (self._fed_by_others or self._restarts_later())
        if alone and all(spout.running or spout.finished for spout in self.spouts):
            raise InternalError(
                f"{waiting.name} emits without returning and has no room left, but {self._unfinished()}"
            )
        self._wait()
