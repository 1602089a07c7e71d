"""Which task a worker runs next."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from framework.runtime.tasks.task import Task

FAIR_EVERY = 32
"""Turns after which it is the turn of whoever has waited longest."""


class Policy(Protocol):
    """Chooses the next task; the output of a run does not depend on it."""

    def choose(self, runnable: Sequence[Task]) -> Task:
        """One of the tasks that could do something now; there is at least one."""


class DownstreamFirst:
    """The task farthest from the spouts, so that buffers stay short and results come early.

    Among equals it is the one whose last turn is longest ago, and every so often it is that one
    among all: a cycle in which something always goes round must not keep the spouts waiting.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._last_turns: dict[Task, int] = {}

    def choose(self, runnable: Sequence[Task]) -> Task:
        """The deepest task, or the one that has waited longest."""
        self._turn += 1
        last = self._last_turns
        if self._turn % FAIR_EVERY:
            chosen = max(runnable, key=lambda task: (task.context.spec.depth, -last.get(task, 0)))
        else:
            chosen = min(runnable, key=lambda task: last.get(task, 0))
        last[chosen] = self._turn
        return chosen


class SeededRandom:
    """Any task, the same for the same seed: the schedule of a test, or of a run to be repeated."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, runnable: Sequence[Task]) -> Task:
        """A task drawn at random."""
        return self._random.choice(runnable)
