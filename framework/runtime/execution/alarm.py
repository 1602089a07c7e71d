"""The alarm of a process: it ends callbacks that do not return in time.

A file of its own: nothing else of an executor runs in a signal handler, on top of a callback.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from framework.runtime.coordination.signals import called_every
from framework.runtime.coordination.stop import DrainDeadline, StopSignal
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.stacks import callback_at, is_in_users_code
from framework.runtime.tasks.context import TaskStopped
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.task import Task

PERIOD_S = 0.25
"""Seconds between two signals of the timer, which begin when the run is asked to end."""
_TASKS = str(Path(inspect.getfile(SourceTask)).parent)


@contextmanager
def ending_in_time(stop: StopSignal, deadline: DrainDeadline, executor: Executor) -> Iterator[None]:
    """While the block runs, make sure that the run ends in time although a callback does not return.

    An executor checks at the end of each turn whether the drain has taken too long. A callback that sleeps or
    waits for a network never gets there. So the handler of a timer signal checks it too, on top of the
    callback, and ends the callback by raising `TaskStopped` in two cases:

    - The time to drain is up, or some other part of the run has failed.
    - A spout waits for input although the run is to stop. Input that it has not emitted was never part of the
      run, so the executor continues, and the run drains without that spout.

    This works only in the main thread of a process, on systems that have such signals. Elsewhere the block
    runs without an alarm.

    Args:
        stop: asks the run to drain.
        deadline: when a drain is given up.
        executor: runs in this thread.
    """

    def look(frame: FrameType | None) -> None:
        # The executor gives up by itself when the time is over. If a period later it has not, it cannot.
        if deadline.is_past(time.monotonic(), PERIOD_S) and executor.in_callback():
            executor.cut_off(callback_at(frame, Executor.call.__code__))
            raise TaskStopped
        if _waits_for_input(executor.current, stop.at_s, frame):
            raise TaskStopped

    with called_every(PERIOD_S, look) as begin:
        stop.listen(begin)
        try:
            if stop.requested:
                begin()
            yield
        finally:
            stop.unlisten(begin)


def _waits_for_input(current: Task | None, stopped_at_s: float | None, frame: FrameType | None) -> bool:
    """True if the current callback belongs to a spout that waits for input, and can be interrupted safely."""
    if stopped_at_s is None or not isinstance(current, SourceTask):
        return False
    if current.slot.presence.is_left:  # another thread has ended the task already
        return True
    # A call into the framework, e.g. `emit`, must not be broken off half done. It returns soon anyway.
    return current.is_left_waiting(stopped_at_s) and is_in_users_code(frame, _TASKS)
