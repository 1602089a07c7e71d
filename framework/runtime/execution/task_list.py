"""The list of tasks that the threads of one worker share: who runs which, and who has nothing to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Generic, TypeVar

from framework.runtime.coordination.stop import StopReason, StopSignal
from framework.runtime.execution.accounting import CpuTimes
from framework.runtime.execution.idle import BellIdleStrategy
from framework.runtime.tasks.task import Task
from viper.bell import Bell

E = TypeVar("E", bound=Hashable)
"""An executor."""

AWAKE: Final = 0.0
"""The time until which a thread sleeps that has found nothing to do, and does not sleep yet."""


class TaskList(Generic[E]):
    """Says which executor holds which task, and wakes executors that have nothing to do.

    An executor claims a task, gives it a turn, and releases it, so a task is run by one of them at a time.
    The lock is held while tasks are looked at and claimed, and never during a turn. Through it, the thread
    that claims a task sees all that the thread has done that released it.

    No wake-up is lost, by four rules. Whoever has held a task looks at all tasks itself before it sleeps. A
    look that has found no room for a task looks again if another task was released meanwhile. A look that
    finds nothing notes in the same step that its executor is idle, so whatever comes later finds it so, and
    rings. And the ticket of the bell is taken before the look, so a ring after it ends the sleep.

    Args:
        tasks: all of them.
        ring: rings the bell that all of the executors sleep on.
    """

    def __init__(self, tasks: Sequence[Task], ring: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        """To be held for all methods; those that may be called in a turn take it themselves."""
        self.rings = 0
        """The number of times that the executors have rung the bell themselves."""
        self.changes = 0
        """The number of times that a task was released after which there may be room for others."""
        self.active = False
        """True if the spouts have been activated, and not deactivated since."""
        self._tasks = tuple(tasks)
        self._ring = ring
        self._holders: dict[Task, E] = {}
        self._idle: dict[E, float] = {}
        """The executors that have found nothing to do, and until when each sleeps, as monotonic seconds."""
        self._held_up: set[E] = set()
        """The idle executors that wait for room for a task of theirs, whose callback is on the stack."""
        self._drained: set[Task] = set()
        """The tasks that have heard that the run is to drain."""
        self._running: set[E] = set()
        self._members: list[E] = []

    # -- the executors

    def join(self, executor: E) -> None:
        """Add an executor, before any of them runs."""
        self._members.append(executor)

    def begin(self, executor: E) -> None:
        """Note that an executor runs."""
        with self.lock:
            self._running.add(executor)

    def leave(self, executor: E) -> None:
        """Note that an executor runs no more; all others look whether they have reason to."""
        with self.lock:
            self._running.discard(executor)
            self.is_awake(executor)
            self.wake()

    def let_go(self, executor: E) -> bool:
        """Let go of an executor, once the run has ended; true if it was the last one."""
        with self.lock:
            self._members.remove(executor)
            if self._members:
                return False
            self._holders.clear()
            return True

    # -- claims

    def holder(self, task: Task) -> E | None:
        """The executor that holds a task; None if nobody does."""
        return self._holders.get(task)

    def is_free(self, task: Task) -> bool:
        """True if nobody holds a task."""
        return task not in self._holders

    def is_held(self, task: Task) -> bool:
        """True if an executor holds a task."""
        return task in self._holders

    def claim(self, task: Task, executor: E) -> bool:
        """Hold a task, as before if the executor holds it already; false if another one does."""
        return self._holders.setdefault(task, executor) is executor

    def claim_for_activity(self, spouts: Sequence[Task], executor: E, *, active: bool) -> bool:
        """Hold all spouts, which are to hear that they are active, or not.

        Args:
            spouts: those of the list.
            executor: the one that informs them.
            active: whether they are active from now on.

        Returns:
            True if the executor holds them now; false if they know, or somebody holds one of them.
        """
        with self.lock:
            if active is self.active or any(map(self.is_held, spouts)):
                return False
            self._holders.update(dict.fromkeys(spouts, executor))
            self.active = active
            return True

    def release(self, task: Task, *, may_make_room: bool = True) -> None:
        """Hold a task no more.

        Args:
            task: the task.
            may_make_room: whether others may have room now that had none before.
        """
        with self.lock:
            del self._holders[task]
            if may_make_room:
                self.changes += 1
                if self._held_up:
                    self.wake()

    # -- idle executors

    def is_idle(self, executor: E, *, waits_for_room: bool) -> None:
        """Note that an executor has found nothing to do.

        Args:
            executor: the executor.
            waits_for_room: whether a callback on its stack does.
        """
        self._idle[executor] = AWAKE
        if waits_for_room:
            self._held_up.add(executor)

    def sleeps(self, executor: E, until_s: float) -> None:
        """Note until when an idle executor sleeps, as monotonic time in seconds."""
        if executor in self._idle:  # else it was woken since, and only seems to go to sleep
            self._idle[executor] = until_s

    def is_awake(self, executor: E) -> None:
        """Note that an executor looks for something to do."""
        self._idle.pop(executor, None)
        self._held_up.discard(executor)

    @property
    def is_at_rest(self) -> bool:
        """True if no executor runs a task, or is about to: all have looked, and found nothing.

        An executor that has left with a task, as an error in it ends the run, is no reason for others to take
        that for stuck.
        """
        return len(self._idle) == len(self._running) and self._running.issuperset(self._holders.values())

    def wake(self) -> None:
        """Wake the executors that have nothing to do; until they have looked, they count as awake."""
        if self._idle:
            self._idle.clear()
            self._held_up.clear()
            self.rings += 1
            self._ring()

    def signalled(self, task: Task) -> None:
        """Have a task run that has got something, if there is an idle executor; in the middle of a turn."""
        with self.lock:
            if task not in self._holders:  # else its holder looks at it again
                self.wake()

    def leave_to_others(self, runnable: Iterable[Task], now_s: float) -> None:
        """Wake idle executors for tasks that the one which has just claimed one does not run meanwhile.

        Args:
            runnable: the tasks that can run now.
            now_s: monotonic time in seconds.
        """
        if not self._idle:
            return
        awake_at_s = min(self._idle.values())
        if any(task not in self._holders for task in runnable) or any(
            now_s < task.wake_at_s < awake_at_s
            for task in self._tasks
            if task not in self._holders and not (task.is_blocked or task.is_finished)
        ):
            self.wake()

    # -- what every task hears once

    def drain(self, executor: E, reason: StopReason, now_s: float) -> None:
        """Drain the tasks that have not heard of it; those in the turns of others hear of it later."""
        if len(self._drained) == len(self._tasks):
            return
        for task in self._tasks:
            if task not in self._drained and self._holders.get(task) in (None, executor):
                self._drained.add(task)
                task.drain(reason, now_s)


class FreeTasks:
    """Yields those of some tasks that nobody holds, whenever it is iterated over.

    Args:
        tasks: of these.
        among: says which.
    """

    def __init__(self, tasks: Sequence[Any], among: TaskList[Any]) -> None:
        self._tasks = tuple(tasks)
        self._among = among

    def __iter__(self) -> Iterator[Any]:
        return iter([task for task in self._tasks if self._among.is_free(task)])


class Neighbour:
    """A task that another one signals in the middle of a turn, so that an idle executor runs it.

    Args:
        task: the task.
        among: has the executors.
    """

    __slots__ = ("_among", "_task")

    def __init__(self, task: Task, among: TaskList[Any]) -> None:
        self._task = task
        self._among = among

    @property
    def is_signalled(self) -> bool:
        """True if it has been signalled already."""
        return self._task.is_signalled

    def signal(self) -> None:
        """Look for something to do."""
        self._task.signal()
        self._among.signalled(self._task)


class SharedBell(BellIdleStrategy):
    """Waits until the bell of the list is rung, by its executors or by anybody else.

    Args:
        among: the list, whose lock is held at `begin_look`.
        stop: rings the bell when the run is asked to stop.
        bell: the one that all executors of the list sleep on.
    """

    def __init__(self, among: TaskList[Any], stop: StopSignal, bell: Bell) -> None:
        super().__init__(stop, bell)
        self._among = among
        self._seen = 0, 0

    def begin_look(self) -> bool:
        """Take a ticket of the bell; return whether others than the executors have rung it since the last."""
        super().begin_look()
        assert self._ticket is not None
        before, self._seen = self._seen, (self._ticket, self._among.rings)
        return (self._seen[0] - before[0] - (self._seen[1] - before[1])) % _TICKETS != 0


_TICKETS: Final = 1 << 32
"""The number of different tickets of a bell."""


class SharedCpuTimes(CpuTimes):
    """The CPU times of an executor whose tasks others may run next: these add to the same sums.

    Args:
        lock: that of the list.
    """

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        super().__init__()
        self._lock = lock

    def settle(self, now_s: float) -> None:
        """As in the base class."""
        with self._lock:
            super().settle(now_s)
