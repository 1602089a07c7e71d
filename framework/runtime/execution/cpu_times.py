"""The CPU time of an executor's thread, divided among its tasks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from framework.runtime.execution.waiting import ThreadClock
from framework.runtime.tasks.task import Task

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
        clock_ns: tells the CPU time of the calling thread in nanoseconds.
    """

    def __init__(self, clock_ns: Callable[[], int] = time.thread_time_ns) -> None:
        self.total_s = 0.0
        """CPU seconds since `begin` up to the last reading; from any thread."""
        self._clock_ns = clock_ns
        self._read_ns = clock_ns()
        """What the clock has told last."""
        self._read_at_s = 0.0
        """When, as monotonic time in seconds."""
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
        """The executor's thread runs no more."""
        if self.thread is not None:
            self.thread.stop()

    def used_since(self, since_s: float, now_s: float) -> float:
        """The CPU seconds of a turn that has begun at a time and goes on; from any thread."""
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
        """The executor rests from now on."""
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
