"""Which task a worker runs next."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from framework.runtime.task import RunningTask


class Policy(Protocol):
    """Chooses the next task; the output of a run does not depend on it."""

    def choose(self, runnable: Sequence[RunningTask]) -> RunningTask:
        """One of the tasks that could do something now; there is at least one."""


class DownstreamFirst:
    """The task farthest from the spouts, so that buffers stay short and results come early."""

    def choose(self, runnable: Sequence[RunningTask]) -> RunningTask:
        """The deepest task; among equals the first."""
        return max(runnable, key=lambda running: running.task.depth)


class SeededRandom:
    """Any task, the same for the same seed: the schedule of a test, or of a run to be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, runnable: Sequence[RunningTask]) -> RunningTask:
        """A task drawn at random."""
        return self._random.choice(runnable)
