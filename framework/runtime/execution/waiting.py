"""How long an executor's tasks were in their turns without computing: they slept, or waited for somebody."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from framework.runtime.tasks.task import Task


class ThreadClock:
    """The CPU time of a thread, and how long it was ready while others had the processor; from any thread.

    It is of the thread that makes it, until `stop`.

    Args:
        schedule: the file in which the system tells of that; None for the one of the thread.
    """

    def __init__(self, schedule: Path | None = None) -> None:
        self._clock: int | None = time.pthread_getcpuclockid(threading.get_ident())
        self._schedule = schedule or Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._before_s = self._told_s()
        """What had been told before: the thread may have loaded the topology."""

    def stop(self) -> None:
        """The thread may end, and another one may get its name."""
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
    """Adds up, from look to look, for how long each task was in its turns and did not compute.

    That is the time of its turns without their CPU time. A thread that is ready while others have the
    processor does not wait, and neither does one that wants Python's lock: this time is divided among the
    tasks, and is not theirs. Other threads of the process may have had the lock for as long as they computed,
    so a bolt does not wait then, as it might be computing. A source may be named for what holds a run only if
    it is sure to compute, so its time counts as waiting.

    Args:
        delayed_s: tells for how many seconds the thread was ready without a processor.
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
