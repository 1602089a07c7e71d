"""Scheduling policies: an executor asks one which of its runnable tasks to run next."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from framework.runtime.tasks.task import Task

FAIR_EVERY = 32
"""In every turn of this number, the task runs that has waited longest."""


class Policy(Protocol):
    """Chooses the next task; the output of a run does not depend on it."""

    def choose(self, runnable: Sequence[Task]) -> Task:
        """Choose one of the tasks that are runnable; there is at least one."""


class DownstreamFirst:
    """Chooses the task farthest from the spouts, so that buffers stay short and results come early.

    Among tasks of equal depth it chooses the one whose last turn is longest ago. Every `FAIR_EVERY` turns it
    chooses that one among all tasks, because a cycle that never rests must not keep the spouts waiting.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._last_turns: dict[Task, int] = {}

    def choose(self, runnable: Sequence[Task]) -> Task:
        """Choose the deepest task, or the one that has waited longest."""
        self._turn += 1
        last = self._last_turns
        if self._turn % FAIR_EVERY:
            chosen = max(runnable, key=lambda task: (task.context.spec.depth, -last.get(task, 0)))
        else:
            chosen = min(runnable, key=lambda task: last.get(task, 0))
        last[chosen] = self._turn
        return chosen


class SeededRandom:
    """Chooses at random, and the same for the same seed, for tests and for runs that are to be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, runnable: Sequence[Task]) -> Task:
        """Draw a task at random."""
        return self._random.choice(runnable)
