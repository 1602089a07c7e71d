"""How many tuples the slices of tasks have: as many as take some milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from framework.runtime.tasks.task import Task

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
        if count >= limit and took_s < SLICE_S / 2:
            self.limits[task] = min(2 * limit, task.largest_slice or self._largest)
