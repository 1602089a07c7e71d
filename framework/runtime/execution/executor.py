"""The executor: one thread that runs its tasks in turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from framework.model.errors import InternalError
from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.execution.accounting import BusyTimes, CpuTimes, Slices
from framework.runtime.execution.idle import Rests, exact_timers, first_asked
from framework.runtime.execution.live_time import HeartbeatRequests, LiveTime
from framework.runtime.execution.policy import LOOK_PERIOD_S, Rules
from framework.runtime.order.positions.clocks import repeat_time_us
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.context import TaskStopped
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Progress, Task

log = logging.getLogger("viperstorm.worker")


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
        on_moved: Callable[[], None] | None = None,
        requests: HeartbeatRequests | None = None,
    ) -> None:
        """
        Args:
            spouts: the tasks of spouts.
            bolts: all other tasks.
            rules: how they are run.
            stop: asks the executor to drain.
            fed_by_others: tasks that read from tasks of other executors, or send to them.
            on_turn: called with the monotonic time in seconds at every look at the tasks, every few turns,
                and when a source has brought something.
            on_moved: called after every turn in which tuples have moved; None if nobody is to know.
            requests: how heartbeats of spouts are asked for; None where their time does not pass by itself.
        """
        self.spouts = tuple(spouts)
        self.bolts = tuple(bolts)
        self.tasks: tuple[Task, ...] = (*self.spouts, *self.bolts)
        self.current: Task | None = None
        """The task whose callback runs."""
        self.calls = 0
        """The number of callbacks so far, by which another thread distinguishes one callback from the
        next."""
        self.undrained = False
        """True if a drain was given up before everything had been processed."""
        self.turns = 0
        """Turns that found a runnable task."""
        self._cpu = CpuTimes()
        self.busy = BusyTimes(self.tasks, self._cpu)
        """The time that it has worked for each of its tasks."""
        self.rests = Rests(rules.idle, self.busy)
        """Turns that found none, after which the executor waited."""
        self._held_up_by = ""
        """In words, the task whose callback had to be ended because it did not return in time."""
        self._failure: Exception | None = None
        """The error that ends the run, while the callback that it was raised on top of is being unwound."""
        self._rules = rules
        self._stop = stop
        self._active = False
        """True if the spouts have been activated, and not deactivated since."""
        self._draining = False
        """True if the tasks have heard that the run is to drain."""
        self._fed_by_others = tuple(fed_by_others)
        self._in_callbacks: list[Task] = []
        """The tasks whose callbacks are on the stack."""
        self._follower: Task | None = None
        """The task that runs next, without a look at the others."""
        self._asked: SourceTask | None = None
        """The source that was asked in the middle of the last rest, and has brought something."""
        self._turns_for_nothing = 0  # in a row: turns that have moved no tuple
        self._was_alone = False  # whether the last look has found one runnable task only
        self._cycles = Cycles(self.bolts)
        self._live_time = LiveTime(self.spouts, self.bolts, self._is_in_callback, requests)
        self._slices = Slices(self.tasks, rules.max_slice)
        self._on_turn = on_turn
        self._on_moved = on_moved

    def start(self, task: Task) -> None:
        """Initialize the component of one of the tasks.

        Raises:
            ComponentError: the component raised.
        """
        self.call(task, task.start, self)

    def run(self) -> None:
        """Run until the end.

        Raises:
            ComponentError: user code raised.
            KeyboardInterrupt: a second Ctrl-C.
        """
        with exact_timers():
            for _ in self.steps():
                pass

    def steps(self) -> Iterator[None]:
        """Run until the end as `run` does, and yield after each turn so that the caller can take output."""
        self.busy.begin(time.monotonic())
        try:
            while self._stop.at_s is None or not self._given_up():
                if not self._turn(self.tasks):
                    if all(task.is_finished for task in self.tasks):
                        break
                    self._open_cycle_or_wait()
                yield
        except TaskStopped:
            if self._failure is not None:
                raise self._failure from self._failure.__cause__
            self.undrained = True
        finally:
            self.busy.end(time.monotonic())

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the run so far, its tasks' turns included; from any thread, right to a turn."""
        return self._cpu.total_s

    # -- one turn

    def _turn(self, candidates: Sequence[Task]) -> bool:
        """Run one of the tasks; return whether there may be more to do."""
        task, self._follower = self._follower, None
        if task is None and self._asked is not None:
            asked, self._asked = self._asked, None
            if self._is_at_rest(asked):
                return False
        if task is None and (task := self._look(candidates)) is None:
            return False
        self.turns += 1
        if self._cycles.exist:
            self._cycles.something_happened()
        moved = self._run(task)
        self._turns_for_nothing = 0 if moved else self._turns_for_nothing + 1
        if task.is_source:
            if moved:  # its tuples may have been the last, and the next callback may be stuck
                self._on_turn(time.monotonic())
            elif self._was_alone and self._changes_nothing(task):
                return False
        self._follower = self._rules.policy.follow(task, self._in_callbacks)
        return True

    def _changes_nothing(self, source: Task) -> bool:
        """True if a source that was the only runnable task has brought nothing, so that none is runnable now.

        A look at all tasks would find that out, too, for a third of what it costs to ask an idle spout.
        """
        if any(reader.is_signalled for reader in source.emitter.neighbours):
            return False
        return not source.is_runnable(time.monotonic())

    def _is_at_rest(self, source: SourceTask) -> bool:
        """True if all is done that has come of a source which was asked in the middle of a rest.

        The rest can continue then. A look at all tasks would find that, too, but a tuple takes 6 % more CPU
        time with it (`benchmarks/turns.py`, source). Others who have done something meanwhile have rung the
        bell, which ends the rest at once.
        """
        if source.emitter.blocked or source.is_finished or self._stop.reason is not None:
            return False
        if source.is_runnable(time.monotonic()):  # as so much time has passed
            return False
        return all(bolt.is_at_rest for bolt in self.bolts)

    def _look(self, candidates: Sequence[Task]) -> Task | None:
        """Take note of what was asked of the executor, and choose a task; None if none is runnable."""
        if self._rules.idle.begin_look():
            for task in self._fed_by_others:
                task.signal()
            self._live_time.answer()
        now = time.monotonic()
        self._live_time.look_if_busy(now)
        self._on_turn(now)
        if self._stop.reason is not None and not self._draining:
            self._drain(self._stop.reason, now)
        if self._stop.active is not self._active and not any(map(self._is_in_callback, self.spouts)):
            self._change_activity(self._stop.active)
        for task in candidates:  # all of them first: handing tuples over makes other tasks runnable
            if task.emitter.blocked:
                task.unblock()
        runnable = [t for t in candidates if t.is_runnable(now) and t not in self._in_callbacks]
        self._was_alone = len(runnable) == 1
        return self._rules.policy.choose(runnable) if runnable else None

    def _drain(self, reason: StopReason, now: float) -> None:
        self._draining = True
        for task in self.tasks:
            task.drain(reason, now)

    def _change_activity(self, active: bool) -> None:
        self._active = active
        for spout in self.spouts:
            if not spout.is_ending:
                self.call(spout, spout.activate if active else spout.deactivate)

    def _run(self, task: Task) -> int:
        """Give a task its turn; return how many tuples have moved in it."""
        started = time.monotonic()
        interrupted = self.busy.work_for(task, started)
        try:
            count = self.call(task, task.run, self._slices.limits[task])
        except TaskStopped:
            if self._failure is not None or self._given_up() or not isinstance(task, SourceTask):
                raise
            return self._end_stopped(task)
        finally:
            ended = time.monotonic()
            self.busy.work_for(interrupted, ended)
        self._slices.adapt(task, count, ended - started)
        task.context.counters.costs.had_turn(count)
        if count:
            if not task.is_source:
                task.context.times.add(ended - started, count)
            self._live_time.something_moved()
            if self._on_moved is not None:
                self._on_moved()
        if task.is_source:
            self._live_time.source_had_its_turn(count)
        return count

    def _end_stopped(self, source: SourceTask) -> int:
        """End a source whose callback was ended; return what counts for the turn."""
        if not source.is_finished:  # a task that another thread has ended is finished already
            self.call(source, source.end)
        return 1

    def instead_of_a_callback(self, task: Task) -> str:
        """Describe in words what one of its tasks that is in no callback waits for; any thread may call
        it."""
        current = self.current
        if task.is_finished:
            return "has ended"
        if task in tuple(self._in_callbacks):
            return "is in a callback that has no room for its output; other tasks run on top of it"
        if task.emitter.blocked:
            return "waits for room for its output: those behind it are slower"
        if task.slot.restart_at_s is not None:
            return "waits until its component is made again, as it has raised"
        if task.in_flight:
            return f"awaits its coroutines for {task.in_flight} tuples"
        if task.is_source and not self._active:
            return "waits until the spouts are activated"
        if current is not None and current is not task:
            turn = "waits for its turn" if task.is_source else "waits for its turn, or for input"
            return f"{turn}: its thread is in {current.name}"
        if task.is_source:
            return "is between two turns, has nothing to bring now, or waits for acks of what it has brought"
        return "is between two turns" if current is task else "waits for input"

    def holder(self, task: Task) -> Executor:
        """The executor that is to call back into one of the tasks: this one, unless another one is in it."""
        return self

    def in_callback(self) -> bool:
        """True if a component is being called right now."""
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

    def call(self, task: Task, callback: Callable[..., int | None], *args: Any) -> int:
        """Call back into a task, which is `current` meanwhile; return what the callback returned, or 0."""
        outer, self.current = self.current, task
        self.calls += 1
        self._in_callbacks.append(task)
        try:
            return callback(*args) or 0
        finally:
            self._in_callbacks.pop()
            self.current = outer

    # -- when nothing can run

    def _open_cycle_or_wait(self) -> None:
        are_finished = all(spout.is_finished for spout in self.spouts)
        if all(spout.brings_nothing for spout in self.spouts) and self._cycles.open(rests=not are_finished):
            self._live_time.go_on()
            return
        if not (self._fed_by_others or self._goes_on_later()) and are_finished:
            raise InternalError(f"nothing can run, but {self._unfinished()}")
        self._wait()

    def _goes_on_later(self) -> bool:
        """True if any component is to be restarted after a pause, or to answer something, or has tuples in
        flight."""
        return any(task.slot.is_gone or task.awaits_answers or task.in_flight for task in self.tasks)

    def _wait(self) -> None:
        now = time.monotonic()
        if self._live_time.look(now):
            return
        waiting = [task for task in self.tasks if not (task.is_blocked or task.is_finished)]
        is_simple = not (self._in_callbacks or self._cycles.exist) and self._stop.at_s is None
        asked = first_asked(waiting) if is_simple else None
        wakes = [task.wake_at_s for task in waiting if task is not asked]
        until = min([now + self._longest_wait_s(), self._live_time.due_at_s, *wakes])
        while self.rests.until(until if asked is None else min(until, asked.wake_at_s)):
            if asked is None or time.monotonic() >= until or not self._asks_in_vain(asked):
                break
        self._live_time.look_after_rest(time.monotonic())

    def _asks_in_vain(self, source: SourceTask) -> bool:
        """Ask a source when its pause is over; return whether it has had nothing, so that the rest can
        continue.

        A look at all tasks and the way back to the rest take as many calls as the source itself, and an idle
        topology does little else.
        """
        self.turns += 1
        if self._run(source):
            self._asked = source
            self._on_turn(time.monotonic())
            self._follower = self._rules.policy.follow(source, self._in_callbacks)
            return False
        return self._changes_nothing(source)

    def _longest_wait_s(self) -> float:
        longest_s = self._rules.longest_wait_s
        if self._stop.requested or self._cycles.are_ending or self._live_time.passes_by_itself:
            return min(longest_s, LOOK_PERIOD_S)
        return longest_s

    def _given_up(self) -> bool:
        """True if the run ends without draining: it was aborted, or the drain has taken too long."""
        started, timeout_s = self._stop.at_s, self._rules.drain_timeout_s
        if started is None:
            return self.undrained
        if self._stop.aborted:
            self.undrained = True
        elif (
            not self.undrained
            and self._stop.reason is not StopReason.SUSPENDED
            and time.monotonic() - started >= timeout_s
        ):
            self.undrained = True
            log.warning("not drained within %g s: %s", timeout_s, self._held_up_by or self._unfinished())
        return self.undrained

    def _unfinished(self) -> str:
        return "; ".join(
            f"{task.name} has not returned from a callback"
            if self._is_in_callback(task)
            else f"{task.name} has raised, and is made again only after its pause"
            if task.slot.is_gone
            else f"{task.name} has not answered all tuples"
            if task.awaits_answers
            else f"{task.name} awaits its coroutines for {task.in_flight} tuples"
            if task.in_flight
            else f"{task.name} waits for {task.waiting_for}"
            if task.waiting_for
            else f"{task.name} is not done"
            for task in self.tasks
            if not task.is_finished
        )

    def wake(self) -> None:
        """Look for runnable tasks soon; from any thread."""
        self._rules.idle.wake()

    def let_go(self) -> None:
        """Let go of what its tasks are made of, once the run has ended; what it has counted stays.

        To be called where its thread is in no callback.
        """
        for task in self.tasks:
            task.let_go()
        self._rules.idle.let_go()
        self._rules.policy.let_go()
        del self._live_time, self._on_turn, self._on_moved

    # -- callbacks that do not return

    def make_room(self, waiting: Task) -> None:
        """Run bolts until none moves anything; then all other tasks too, while the waiting task has no room.

        A bolt that another process asks for its progress may have turns for nothing until that task
        continues. Other tasks may themselves wait for a task whose callback is further down the stack. Then
        only returning helps, and the waiting task keeps what it has emitted, beyond the bound of its buffer.

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

        Raises:
            TaskStopped: always.
        """
        self._failure = error
        raise TaskStopped from error

    def _make_room(self, waiting: Task) -> None:
        self._turns_for_nothing = 0
        while True:
            if self._must_leave(waiting):
                raise TaskStopped
            if self._turns_for_nothing <= len(self.bolts) and self._turn(self.bolts):
                continue
            if not waiting.is_blocked:
                return
            self._turns_for_nothing = 0
            if not self._turn(self.tasks):
                # The look may have found the room that others had just made, whose ring is over.
                if not waiting.is_blocked or any(task is not waiting for task in self._in_callbacks):
                    return
                self.busy.work_for(None, time.monotonic())
                self._wait_for_room(waiting)
                self.busy.work_for(waiting, time.monotonic())

    def _must_leave(self, waiting: Task) -> bool:
        if self._stop.at_s is None:
            return False
        return self._given_up() or (isinstance(waiting, SourceTask) and waiting.leaves_now(self._stop.at_s))

    def _wait_for_room(self, waiting: Task) -> None:
        alone = not (self._fed_by_others or self._goes_on_later())
        if alone and all(self._is_in_callback(spout) or spout.is_finished for spout in self.spouts):
            raise InternalError(
                f"{waiting.name} emits without returning and has no room left, but {self._unfinished()}"
            )
        self._wait()


class Cycles:
    """The cycles of one executor; their heads are the tasks that tuples come back to.

    The input of a task in a cycle has ended when no tuple is on its way round any more. All tasks of a cycle
    belong to one executor, which can therefore see that.
    """

    def __init__(self, bolts: Sequence[BoltTask]) -> None:
        self._heads = tuple(bolt for bolt in bolts if bolt.is_cyclic)
        self._bolts = tuple(bolts)
        self.exist = bool(self._heads)
        """True if the executor has any cycles."""
        self._went_round = False
        """True if heartbeats were sent round since a task last ran."""

    @property
    def are_ending(self) -> bool:
        """True if a cycle has not ended although no more input comes from outside it."""
        return any(head.progress >= Progress.QUIET and not head.is_finished for head in self._heads)

    def something_happened(self) -> None:
        """Note that a task is going to run."""
        self._went_round = False

    def open(self, rests: bool) -> bool:
        """Give the cycles that have not ended something to do, when no task is runnable.

        Args:
            rests: whether time passes by itself if this has no effect, as some spout has not ended.

        Returns:
            True if there was a head to advance or to end.
        """
        waiting = [h for h in self._heads if h.progress >= Progress.QUIET and not h.is_finished]
        if waiting and any(bolt.is_blocked or bolt.waits_with_input for bolt in self._bolts):
            return self._go_round(waiting, rests)
        waiting = [head for head in waiting if head.progress >= Progress.DRAINED]
        if not waiting:
            return False
        # Nothing is in flight any more, so nothing will come back to the heads that still wait for it.
        first = min(head.context.spec.depth for head in waiting)
        for head in waiting:
            if head.context.spec.depth == first:
                head.end_cycle()
        return True

    def _go_round(self, waiting: Sequence[BoltTask], rests: bool) -> bool:
        """Send heartbeats round, for tasks that wait for the heads.

        The heads themselves cannot know that no tuple will come back to them before the present time.
        """
        now_us = repeat_time_us()
        if not rests:
            now_us = max(now_us, *(head.emitter.published.ts + 1 for head in waiting))
        late = [head for head in waiting if head.emitter.published.ts < now_us and not head.is_paused]
        if self._went_round or not late:
            return False
        self._went_round = True
        for head in late:
            head.go_round(now_us)
        return True
