"""The alarm of a process: it ends callbacks that do not return in time."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from framework.runtime.control.signals import called_every
from framework.runtime.control.stop import DrainDeadline, StopSignal
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import callback_at, is_in_users_code
from framework.runtime.tasks.context import TaskStopped
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task

PERIOD_S = 0.25
"""Seconds between two looks."""
_TASKS = str(Path(inspect.getfile(SourceTask)).parent)


@contextmanager
def ending_in_time(stop: StopSignal, deadline: DrainDeadline, executor: Executor) -> Iterator[None]:
    """For as long as the block runs, have the run end in time although a callback does not return.

    An executor looks at the end of each turn whether the drain has taken too long. A callback that sleeps or
    waits for a network never gets there. So the handler of a timer signal looks too, on top of the callback,
    and leaves it by `TaskStopped` in two cases:

    - The time to drain is up, or some other part of the run has failed.
    - A spout waits for input although the run is to stop. What it does not bring was never a part of the run,
      so the executor goes on, and the run drains without it.

    Only the main thread of a process can do so, where there are such signals; elsewhere the block just runs.

    Args:
        stop: asks the run to drain.
        deadline: when a drain is given up.
        executor: runs in this thread.
    """

    def look(frame: FrameType | None) -> None:
        # The executor itself gives up when the time is over; a period later it is clear that it cannot.
        if deadline.is_past(time.monotonic(), PERIOD_S) and executor.in_callback():
            executor.cut_off(callback_at(frame, Executor.call.__code__))
            raise TaskStopped
        if _waits_for_input(executor.current, stop.at_s, frame):
            raise TaskStopped

    with called_every(PERIOD_S, look):
        yield


def _waits_for_input(current: Task | None, stopped_at_s: float | None, frame: FrameType | None) -> bool:
    """Whether the current callback is that of a spout that waits, and may be interrupted at a frame."""
    if stopped_at_s is None or not isinstance(current, SourceTask):
        return False
    if current.slot.presence.is_left:  # another thread has ended the task already
        return True
    # What the component calls of ours, e.g. `emit`, is not to be broken off half done: it takes no time.
    return current.is_left_waiting(stopped_at_s) and is_in_users_code(frame, _TASKS)
