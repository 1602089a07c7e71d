"""The executor that shares its tasks with other threads of its worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from framework.model.errors import InternalError
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.execution.accounting import BusyTimes, Slices
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.idle import Rests
from framework.runtime.execution.live_time import HeartbeatRequests, LiveTime
from framework.runtime.execution.policy import Rules
from framework.runtime.execution.task_list import (
    FreeTasks,
    Neighbour,
    SharedBell,
    SharedCpuTimes,
    TaskList,
)
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.context import TaskStopped
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task
from viper.bell import Bell


@dataclass(frozen=True, slots=True)
class SharedParts:
    """The arguments of executors that all of one list have in common."""

    rules: Rules
    """The rules by which the tasks are run; each executor has an idle strategy of its own."""
    bell: Bell
    """All of the executors sleep on it."""
    stop: StopSignal
    """Asks them to drain."""
    fed_by_others: Sequence[Task]
    """Tasks that read from tasks of other lists, or send to them."""
    requests: HeartbeatRequests | None
    """The requests for heartbeats of spouts; None where their time does not pass by itself."""


class Sharing:
    """All that the executors of one list have in common.

    Args:
        spouts: the tasks of spouts.
        bolts: all other tasks.
        parts: how they are run.
    """

    def __init__(self, spouts: Sequence[SourceTask], bolts: Sequence[BoltTask], parts: SharedParts) -> None:
        self.spouts = tuple(spouts)
        self.bolts = tuple(bolts)
        self.parts = parts
        self.tasks: TaskList[Executor] = TaskList((*spouts, *bolts), parts.bell.ring)
        self.slices = Slices((*spouts, *bolts), parts.rules.max_slice)
        free = FreeTasks(bolts, self.tasks)
        self.live_time = LiveTime(spouts, free, self.tasks.is_held, parts.requests)
        for task in (*spouts, *bolts):
            task.connect([Neighbour(other, self.tasks) for other in task.emitter.neighbours])

    def executor(
        self, on_turn: Callable[[float], None], on_moved: Callable[[], None] | None
    ) -> SharingExecutor:
        """Make another executor; to be called in the thread that will run it.

        Args:
            on_turn: as for `Executor`.
            on_moved: as for `Executor`.
        """
        idle = SharedBell(self.tasks, self.parts.stop, self.parts.bell)
        made = SharingExecutor(self, idle, on_turn, on_moved)
        self.tasks.join(made)
        return made


class SharingExecutor(Executor):
    """Runs whichever task of a list can run and is run by no other thread.

    It differs from an executor that has its tasks to itself in four ways. It claims a task for each turn,
    and for the moment in which it hands on what waits for room. A drain, which all tasks are to hear of,
    comes to each of them once, and not while it is in the turn of another thread. It sleeps only if it
    has found nothing to do, and is woken for what others leave to it. And it takes nothing for stuck as
    long as another thread runs a task. There are no cycles and no chains among the tasks.

    Args:
        sharing: the list, and what belongs to it.
        idle: waits for the bell of the list.
        on_turn: as in the base class.
        on_moved: as in the base class.
    """

    def __init__(
        self,
        sharing: Sharing,
        idle: SharedBell,
        on_turn: Callable[[float], None],
        on_moved: Callable[[], None] | None,
    ) -> None:
        super().__init__(
            sharing.spouts,
            sharing.bolts,
            rules=replace(sharing.parts.rules, idle=idle),
            stop=sharing.parts.stop,
            fed_by_others=sharing.parts.fed_by_others,
            on_turn=on_turn,
            on_moved=on_moved,
        )
        self.sharing = sharing
        """All that it has in common with the other executors of the list."""
        self._list = sharing.tasks
        self._live_time = sharing.live_time
        self._slices = sharing.slices
        self._cpu = SharedCpuTimes(self._list.lock)
        self.busy = BusyTimes(self.tasks, self._cpu)
        self.rests = Rests(idle, self.busy)

    def steps(self) -> Iterator[None]:
        """As in the base class."""
        self._list.begin(self)
        try:
            yield from super().steps()
        finally:
            self._list.leave(self)

    # -- one turn

    def _turn(self, candidates: Sequence[Task]) -> bool:
        """As in the base class."""
        task = self._look(candidates)
        if task is None:
            return False
        self.turns += 1
        moved = self._run(task)
        self._turns_for_nothing = 0 if moved else self._turns_for_nothing + 1
        if moved and task.is_source:
            self._on_turn(time.monotonic())
        return True

    def _look(self, candidates: Sequence[Task]) -> Task | None:
        """As in the base class; the task is claimed, and `_run` releases it."""
        tasks = self._list
        with tasks.lock:
            tasks.is_awake(self)
            if self._rules.idle.begin_look():
                for task in self._fed_by_others:
                    task.signal()
                self._live_time.answer()
            now = time.monotonic()
            self._live_time.look_if_busy(now)
            if self._stop.reason is not None:
                tasks.drain(self, self._stop.reason, now)
        self._on_turn(now)
        self._activate_all()
        while True:
            changes = tasks.changes
            has_blocked = self._unblock(candidates)
            with tasks.lock:
                if not has_blocked or changes == tasks.changes:
                    return self._chosen(candidates, now)

    def _chosen(self, candidates: Sequence[Task], now: float) -> Task | None:
        """Claim one of the tasks that can run at a monotonic time, or note that the executor is idle."""
        tasks = self._list
        # Spouts that are to hear of another activity wait until all of them can.
        waits = self._stop.active is not tasks.active
        runnable = [
            task
            for task in candidates
            if tasks.is_free(task) and task.is_runnable(now) and not (waits and task.is_source)
        ]
        if not runnable:
            waiting = self._in_callbacks
            if not waiting or (len(waiting) == 1 and waiting[0].is_blocked):  # else a callback continues
                tasks.is_idle(self, waits_for_room=bool(waiting))
            return None
        chosen = self._rules.policy.choose(runnable)
        tasks.claim(chosen, self)
        tasks.leave_to_others(runnable, now)
        return chosen

    def _unblock(self, candidates: Sequence[Task]) -> bool:
        """Hand on what waits for room, of all candidates that no other thread holds.

        Returns:
            True if there is no room for some of it.
        """
        has_blocked = False
        for task in candidates:
            if not task.emitter.blocked:
                continue
            with self._list.lock:
                is_below = self._list.holder(task) is self  # its callback is on the stack
                if not self._list.claim(task, self):
                    continue
            is_free = task.unblock()
            has_blocked |= not is_free
            if not is_below:
                self._list.release(task, may_make_room=is_free)
        return has_blocked

    def _activate_all(self) -> None:
        """Activate all spouts, or deactivate them, if that was asked for and no thread runs any of them."""
        active = self._stop.active
        spouts = self.spouts if self._list.claim_for_activity(self.spouts, self, active=active) else ()
        self._active = self._list.active
        for spout in spouts:
            if not spout.is_ending:
                spout.come_to(self)
                self.call(spout, spout.activate if active else spout.deactivate)
            self._list.release(spout)

    def _run(self, task: Task) -> int:
        """As in the base class, with a task that was claimed for it.

        A task whose turn has ended the run, with an error for instance, stays claimed: nobody runs it again.
        """
        task.come_to(self)
        count, took_s = self._timed(task)
        self._slices.adapt(task, count, took_s)
        task.context.counters.costs.had_turn(count)
        if count and not task.is_source:
            task.context.times.add(took_s, count)
        self._list.release(task)
        with self._list.lock:
            if count:
                self._live_time.something_moved()
            if task.is_source:
                self._live_time.source_had_its_turn(count)
        if count and self._on_moved is not None:
            self._on_moved()
        return count

    def _timed(self, task: Task) -> tuple[int, float]:
        """Give a task its turn; return how many tuples have moved in it, and how many seconds it took."""
        started = time.monotonic()
        interrupted = self.busy.work_for(task, started)
        try:
            count = self.call(task, task.run, self._slices.limits[task])
        except TaskStopped:
            if self._failure is not None or self._given_up() or not isinstance(task, SourceTask):
                raise
            count = self._end_stopped(task)
        finally:
            ended = time.monotonic()
            self.busy.work_for(interrupted, ended)
        return count, ended - started

    def instead_of_a_callback(self, task: Task) -> str:
        """As in the base class; whoever runs the task knows better."""
        holder = self.holder(task)
        return super().instead_of_a_callback(task) if holder is self else holder.instead_of_a_callback(task)

    def holder(self, task: Task) -> Executor:
        """As in the base class."""
        return self._list.holder(task) or self

    # -- when nothing can run

    def _make_room(self, waiting: Task) -> None:
        try:
            super()._make_room(waiting)
        finally:
            with self._list.lock:  # the callback continues
                self._list.is_awake(self)

    def _open_cycle_or_wait(self) -> None:
        if all(spout.is_finished for spout in self.spouts) and self._is_stuck():
            raise InternalError(f"nothing can run, but {self._unfinished()}")
        self._wait()

    def _wait_for_room(self, waiting: Task) -> None:
        held = self._list.is_held
        if all(held(spout) or spout.is_finished for spout in self.spouts) and self._is_stuck():
            raise InternalError(
                f"{waiting.name} emits without returning and has no room left, but {self._unfinished()}"
            )
        self._wait()

    def _is_stuck(self) -> bool:
        """True if nothing will ever happen: no thread of the list runs a task, and nobody else feeds one."""
        with self._list.lock:
            if not self._list.is_at_rest or all(task.is_finished for task in self.tasks):
                return False
        return not (self._fed_by_others or self._goes_on_later())

    def _wait(self) -> None:
        tasks = self._list
        with tasks.lock:
            now = time.monotonic()
            if self._live_time.look(now):
                return
            waiting = [t for t in self.tasks if tasks.is_free(t) and not (t.is_blocked or t.is_finished)]
            wakes = [task.wake_at_s for task in waiting]
            until_s = min([now + self._longest_wait_s(), self._live_time.due_at_s, *wakes])
            tasks.sleeps(self, until_s)
        self.rests.until(until_s)
        with tasks.lock:
            self._live_time.look_after_rest(time.monotonic())

    def let_go(self) -> None:
        """As in the base class; the last executor of the list lets go of the tasks."""
        if self._list.let_go(self):
            super().let_go()
        else:
            self._rules.idle.let_go()
            del self._live_time, self._on_turn, self._on_moved
        del self.sharing, self._list
