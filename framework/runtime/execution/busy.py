"""How long an executor has worked for each of its tasks: what a controller measures the load by, and what a
model of costs is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from framework.runtime.execution.cpu_times import CpuTimes
from framework.runtime.execution.waiting import WaitedTimes
from framework.runtime.tasks.task import Task


class BusyTimes:
    """Adds up the seconds of each task's turns.

    A turn is interrupted where its callback has filled its output, as other tasks then run on top of it, or
    the executor rests. That time is not the task's.

    Args:
        tasks: those of the executor.
        cpu: is told of it, and divides the CPU time of the executor's thread.
    """

    def __init__(self, tasks: Sequence[Task], cpu: CpuTimes) -> None:
        self._seconds = dict.fromkeys(tasks, 0.0)
        self._current: tuple[Task | None, float] = None, 0.0
        """The task that the executor works for, and since when, as monotonic time in seconds."""
        self._cpu = cpu
        self._waited = WaitedTimes(cpu.delayed_s)

    def begin(self, now: float) -> None:
        """Begin the run at a monotonic time in seconds."""
        self._current = None, now
        self._cpu.begin(now)

    def work_for(self, task: Task | None, now: float) -> Task | None:
        """Note that the executor works for a task from now on, or for none.

        Args:
            task: the task.
            now: the monotonic time in seconds.

        Returns:
            The task that it has worked for until now.
        """
        before, since = self._current
        if before is not None:
            self._seconds[before] += now - since
            self._cpu.spent(before, now - since, now)
        self._current = task, now
        return before

    def rest(self, now: float) -> None:
        """The executor rests from now on, and works for no task."""
        self.work_for(None, now)
        self._cpu.rest(now)

    def wake(self, now: float) -> None:
        """The rest is over; the CPU time that it has taken is no task's."""
        self._current = None, now
        self._cpu.settle(now)

    def end(self, now: float) -> None:
        """The run is over at a monotonic time in seconds, and with it, maybe, the thread."""
        self.rest(now)
        self._cpu.end()

    def seconds(self, now: float) -> Mapping[Task, float]:
        """The seconds of each task up to a monotonic time, those of the turn that goes on included.

        From any thread: a turn that ends at that very moment may be counted twice, once.
        """
        current, since = self._current
        return {
            task: spent + (max(now - since, 0.0) if task is current else 0.0)
            for task, spent in self._seconds.items()
        }

    def waited(self, now: float, others_s: float) -> Mapping[Task, float]:
        """The seconds of its turns in which each task did not compute; from any thread.

        Args:
            now: the monotonic time in seconds.
            others_s: CPU seconds of all other executors of the process.
        """
        current, since = self._current
        busy = self.seconds(now)
        used = {task: task.context.counters.costs.cpu_s for task in busy}
        if current is not None:
            used[current] += self._cpu.used_since(since, now)
        return self._waited.look(busy, used, others_s)
