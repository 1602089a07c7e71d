"""The account of an executor: how long it works for each task, the CPU time of that, how long its tasks wait,
and how many tuples a slice may have.

A controller measures the load by these figures, and a model of costs is made of them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from framework.runtime.tasks.task import Task


class BusyTimes:
    """Adds up the seconds of each task's turns.

    A turn is interrupted where its callback has filled its output, as other tasks then run on top of it, or
    the executor rests. That time is not the task's.

    Args:
        tasks: those of the executor.
        cpu: hears of it, and divides the CPU time of the executor's thread.
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
        """Note that the executor rests from now on, and works for no task."""
        self.work_for(None, now)
        self._cpu.rest(now)

    def wake(self, now: float) -> None:
        """Note that the rest is over; the CPU time that it has taken is no task's."""
        self._current = None, now
        self._cpu.settle(now)

    def end(self, now: float) -> None:
        """Note that the run is over at a monotonic time in seconds, and with it, maybe, the thread."""
        self.rest(now)
        self._cpu.end()

    def seconds(self, now: float) -> Mapping[Task, float]:
        """The seconds of each task up to a monotonic time, the present turn included.

        From any thread: a turn that ends at that very moment may be counted twice, once.
        """
        current, since = self._current
        return {
            task: spent + (max(now - since, 0.0) if task is current else 0.0)
            for task, spent in self._seconds.items()
        }

    def waited(self, now: float, others_s: float, beside: Sequence[BusyTimes] = ()) -> Mapping[Task, float]:
        """The seconds of its turns in which each task did not compute; from any thread.

        Args:
            now: the monotonic time in seconds.
            others_s: CPU seconds of all other executors of the process.
            beside: the times of the executors that share the tasks.
        """
        busy = added(self, *beside, now=now)
        used = {task: task.context.counters.costs.cpu_s for task in busy}
        for times in (self, *beside):
            current, since = times._current
            if current is not None:
                used[current] += times._cpu.used_since(since, now)
        excused_s = sum(times._cpu.total_s + times._cpu.delayed_s() for times in beside)
        return self._waited.look(busy, used, others_s + excused_s)


def added(*times: BusyTimes, now: float) -> Mapping[Task, float]:
    """The seconds of each task in the turns of all executors that share it, up to a monotonic time."""
    first, *others = (each.seconds(now) for each in times)
    return {task: seconds + sum(other[task] for other in others) for task, seconds in first.items()}


WINDOW_S: Final = 0.001
"""Seconds between two readings of the thread's clock, at least.

A reading and what is done with it take 1 to 2 us, and a turn may take no more than 20. Within a window, CPU
time is divided as the time on the wall, which is read at each turn anyway. So a turn costs 0.3 to 0.4 us
more, with its count; a word count does not show that (`benchmarks/looking.py`).
"""


class CpuTimes:
    """Gives each task the CPU time of its turns, and keeps what the executor itself has used.

    All methods are for the executor's thread, but for `total_s`.

    Args:
        clock_ns: returns the CPU time of the calling thread in nanoseconds.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.thread_time_ns) -> None:
        self.total_s = 0.0
        """CPU seconds since `begin` up to the last reading; from any thread."""
        self._clock_ns = clock_ns
        self._read_ns = clock_ns()
        """The last reading of the clock."""
        self._read_at_s = 0.0
        """The monotonic time of that reading, in seconds."""
        self._window: dict[Task, float] = {}
        """The tasks that had turns since then, with their seconds; all others are the executor's own."""
        self.thread: ThreadClock | None = None
        """That of the executor's thread while it runs."""

    def begin(self, now_s: float) -> None:
        """Forget what the thread has done so far.

        Args:
            now_s: the monotonic time in seconds, here and below.
        """
        self._window.clear()
        self._read_ns, self._read_at_s = self._clock_ns(), now_s
        self.thread = ThreadClock()

    def delayed_s(self) -> float:
        """Seconds for which the thread was ready and had no processor, since it was made; from any thread."""
        return 0.0 if self.thread is None else self.thread.delayed_s()

    def end(self) -> None:
        """Note that the executor's thread runs no more."""
        if self.thread is not None:
            self.thread.stop()

    def used_since(self, since_s: float, now_s: float) -> float:
        """The CPU seconds of the present turn, which has begun at a time; any thread may call it."""
        read_ns, read_at_s = self._read_ns, self._read_at_s
        found_ns = None if self.thread is None else self.thread.cpu_ns()
        used_s = max((found_ns or read_ns) - read_ns, 0) / 1e9
        whole_s = now_s - read_at_s
        share = min(max(now_s - since_s, 0.0) / whole_s, 1.0) if whole_s > 0 else 0.0
        return share * used_s

    def spent(self, task: Task, seconds: float, now_s: float) -> None:
        """Note that so many seconds up to now were spent for a task."""
        window = self._window
        window[task] = window.get(task, 0.0) + seconds
        if now_s - self._read_at_s >= WINDOW_S:
            self.settle(now_s)

    def rest(self, now_s: float) -> None:
        """Note that the executor rests from now on."""
        if self._window or now_s - self._read_at_s >= WINDOW_S:
            self.settle(now_s)

    def settle(self, now_s: float) -> None:
        """Read the clock, and divide the CPU time since the last reading."""
        read_ns = self._clock_ns()
        # Steps that are left half done may be ended by a garbage collection in another thread.
        used_s = max(read_ns - self._read_ns, 0) / 1e9
        whole_s = now_s - self._read_at_s
        self._read_ns, self._read_at_s = read_ns, now_s
        self.total_s += used_s
        if self._window:
            share = used_s / whole_s if whole_s else 0.0
            for task, seconds in self._window.items():
                task.context.counters.costs.used(share * seconds)
            self._window.clear()


class ThreadClock:
    """The CPU time of a thread, and how long it was ready while others had the processor; from any thread.

    It is of the thread that makes it, until `stop`.

    Args:
        schedule: the file in which the system reports that; None for the one of the thread.
    """

    def __init__(self, schedule: Path | None = None) -> None:
        self._clock: int | None = time.pthread_getcpuclockid(threading.get_ident())
        self._schedule = schedule or Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._before_s = self._told_s()
        """The seconds of delay before: the thread may have loaded the topology."""

    def stop(self) -> None:
        """Stop reading, as the thread may end, and another one may get its name."""
        self._clock = None

    def cpu_ns(self) -> int | None:
        """CPU nanoseconds; None once it was stopped."""
        clock = self._clock
        with contextlib.suppress(OSError):
            return None if clock is None else time.clock_gettime_ns(clock)
        return None

    def delayed_s(self) -> float:
        """Seconds since it was made for which the thread was ready without a processor; 0 if nobody knows."""
        return 0.0 if self._clock is None else max(self._told_s() - self._before_s, 0.0)

    def _told_s(self) -> float:
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(self._schedule.read_text(encoding="ascii").split()[1]) / 1e9
        return 0.0


class WaitedTimes:
    """Adds up for how long each task was in its turns and did not compute.

    That is the time of its turns without their CPU time. A thread that is ready while others have the
    processor does not wait, and neither does one that wants Python's lock. This delay is divided among the
    tasks, and does not count as their waiting. Other threads of the process may have had the lock for as long
    as they computed, so a bolt does not wait then, as it might be computing. A source may be named for what
    holds a run only if it is sure to compute, so its time counts as waiting.

    Args:
        delayed_s: returns the seconds for which the thread was ready without a processor.
    """

    def __init__(self, delayed_s: Callable[[], float]) -> None:
        self._delayed_s = delayed_s
        self._looking = threading.Lock()
        """Held by those who look; the executor never does."""
        self._idle: dict[Task, float] = {}
        """By task, the seconds of its turns without CPU time, at the last look."""
        self._excused = 0.0, 0.0
        """Seconds of delay, and CPU seconds of other threads, at the last look."""
        self._waited: dict[Task, float] = {}

    def look(
        self, busy: Mapping[Task, float], used: Mapping[Task, float], others_s: float
    ) -> Mapping[Task, float]:
        """The seconds for which each task has waited so far.

        Args:
            busy: the seconds of its turns.
            used: CPU seconds of these.
            others_s: CPU seconds of all other executors of the process.
        """
        with self._looking:
            idle = {task: max(busy[task] - used[task], self._idle.get(task, 0.0)) for task in busy}
            added = {task: seconds - self._idle.get(task, 0.0) for task, seconds in idle.items()}
            delayed_s, (before_s, others_before_s) = self._delayed_s(), self._excused
            late_s = max(delayed_s - before_s, 0.0)
            locked_s = max(others_s - others_before_s, 0.0)
            whole_s = sum(added.values())
            for task, seconds in added.items():
                excused_s = late_s if task.is_source else late_s + locked_s
                waited_s = seconds * max(1.0 - excused_s / whole_s, 0.0) if whole_s else 0.0
                self._waited[task] = self._waited.get(task, 0.0) + waited_s
            self._idle, self._excused = idle, (max(delayed_s, before_s), max(others_s, others_before_s))
            return dict(self._waited)


SLICE_S: Final = 0.005
"""The length in seconds that a slice should have; the number of tuples in slices is adapted to it."""
FIRST_SLICE: Final = 1
"""Tuples in a task's first slice, as it is not yet known whether one takes a microsecond or a minute."""
OTHERS_S: Final = 0.1
"""Seconds that a busy machine may give to others in the middle of a slice; a longer slice is slow itself."""


class Slices:
    """Adapts the number of tuples in each task's slices to the time that they take.

    Args:
        tasks: the tasks.
        largest: the most tuples of a slice, of tasks that do not say otherwise.
    """

    def __init__(self, tasks: Iterable[Task], largest: int) -> None:
        self._largest = largest
        self.limits = {task: min(FIRST_SLICE, largest) for task in tasks}
        """The most tuples of each task's next slice."""
        self._slow: set[Task] = set()
        """The tasks whose last slice took too long."""

    def adapt(self, task: Task, count: int, took_s: float) -> None:
        """Take note of how many tuples a slice of a task had, and how many seconds it took."""
        limit = self.limits[task]
        if took_s > 2 * SLICE_S:
            # The first slow slice is often another program's doing, and small slices cut columns into pieces.
            # Beside eight busy programs a filter was called 27 times for each batch of 16,384 rows when a
            # single slow slice counted in full.
            is_sure = took_s > OTHERS_S or task in self._slow
            share = SLICE_S / took_s if is_sure else 0.5
            self.limits[task] = max(int(limit * share), 1)
            self._slow.add(task)
            return
        if self._slow:
            self._slow.discard(task)
        # A slice ends before columns that would have to be cut, so one of them is seldom full.
        is_full = count >= limit or (2 * count > limit and task.largest_slice is not None)
        if is_full and took_s < SLICE_S / 2:
            self.limits[task] = min(2 * limit, task.largest_slice or self._largest)
