"""The CPU time of a thread, divided among its tasks by clocks that go only when they are told to."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from framework.runtime.execution.accounting import WINDOW_S, BusyTimes, CpuTimes
from framework.runtime.execution.idle import Rests
from framework.runtime.observation.counters import TaskCounters

LONG_S = 10 * WINDOW_S
SHORT_S = WINDOW_S / 10


class Thread:
    """A thread with two tasks: its time on the wall, its CPU time, and how often that was read."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.cpu_s = 7.0
        self.readings = 0
        self.tasks = [Mock(), Mock()]
        for task in self.tasks:
            task.context.counters = TaskCounters()
        self.cpu = CpuTimes(self._read)
        self.busy = BusyTimes(self.tasks, self.cpu)
        self.busy.begin(self.now_s)
        self.readings = 0

    def _read(self) -> int:
        self.readings += 1
        return round(self.cpu_s * 1e9)

    def passes(self, seconds: float, cpu_s: float) -> None:
        self.now_s += seconds
        self.cpu_s += cpu_s

    def runs(self, task: int | None, seconds: float, cpu_s: float) -> None:
        before = self.busy.work_for(None if task is None else self.tasks[task], self.now_s)
        self.passes(seconds, cpu_s)
        self.busy.work_for(before, self.now_s)

    def used(self) -> list[float]:
        return [task.context.counters.costs.cpu_s for task in self.tasks]


@pytest.fixture
def thread() -> Thread:
    return Thread()


def test_a_long_turn_has_the_time_that_it_has_used(thread: Thread) -> None:
    thread.runs(0, LONG_S, LONG_S)
    thread.runs(1, LONG_S, LONG_S / 4)  # the machine does something else for the most part
    assert thread.used() == pytest.approx([LONG_S, LONG_S / 4])
    assert thread.cpu.total_s == pytest.approx(1.25 * LONG_S)


def test_what_the_executor_does_between_turns_is_no_tasks(thread: Thread) -> None:
    for _ in range(10):
        thread.runs(0, LONG_S, LONG_S)
        thread.passes(LONG_S, LONG_S)
    thread.busy.rest(thread.now_s)
    assert thread.used() == pytest.approx([10 * LONG_S, 0.0])
    assert thread.cpu.total_s == pytest.approx(20 * LONG_S)


def test_short_turns_share_a_reading_by_their_time_on_the_wall(thread: Thread) -> None:
    for _ in range(1000):
        thread.runs(0, SHORT_S, SHORT_S)
        thread.runs(1, 3 * SHORT_S, 3 * SHORT_S)
    thread.busy.rest(thread.now_s)
    assert thread.used() == pytest.approx([1000 * SHORT_S, 3000 * SHORT_S])
    assert thread.readings <= 4000 * SHORT_S / WINDOW_S + 1


def test_a_turn_on_top_of_another_has_its_own_time(thread: Thread) -> None:
    below, _ = thread.tasks
    thread.busy.work_for(below, thread.now_s)
    thread.passes(LONG_S, LONG_S)
    thread.runs(1, 2 * LONG_S, 2 * LONG_S)
    thread.passes(4 * LONG_S, 4 * LONG_S)
    thread.busy.work_for(None, thread.now_s)
    assert thread.used() == pytest.approx([5 * LONG_S, 2 * LONG_S])


def test_a_rest_is_no_tasks_however_short_the_turns_around_it_are(thread: Thread) -> None:
    class Idle:
        def wait(self, timeout_s: float) -> None:
            thread.passes(timeout_s, SHORT_S)  # to fall asleep and to wake up

    idle: Any = Idle()
    rests = Rests(idle, thread.busy)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("framework.runtime.execution.idle.time.monotonic", lambda: thread.now_s)
        for _ in range(100):
            thread.runs(0, SHORT_S, SHORT_S)
            rests.until(thread.now_s + LONG_S)
    assert thread.used() == pytest.approx([100 * SHORT_S, 0.0])
    assert thread.cpu.total_s == pytest.approx(200 * SHORT_S)
    assert rests.count == 100


def test_a_clock_that_another_thread_reads_last_takes_nothing_back(thread: Thread) -> None:
    thread.runs(0, LONG_S, LONG_S)
    thread.cpu_s = 0.0
    thread.busy.rest(thread.now_s + LONG_S)
    assert thread.used() == pytest.approx([LONG_S, 0.0])
    assert thread.cpu.total_s == pytest.approx(LONG_S)
