"""Asks all worker processes where their tasks are, for a thread that does not lead them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from framework.runtime.observation.stacks import Stacks, TaskOutside, TaskStack
from framework.runtime.workers.handle import WorkerHandle
from framework.runtime.workers.messages import TellStacks

PATIENCE_S: Final = 3.0
"""Seconds in which a process that runs Python at all has answered."""


class StackInquiry:
    """One inquiry at a time: a thread asks, and the one that leads the processes sends and hears.

    Args:
        wake: has the leading thread look soon.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._one_at_a_time = threading.Lock()
        self._complete = threading.Event()
        self._is_asked = False
        self._awaited: set[int] = set()
        """The numbers of processes that have not answered yet."""
        self._told: list[TaskStack] = []
        self._others: list[TaskOutside] = []

    def ask(self, patience_s: float = PATIENCE_S) -> Stacks:
        """Return the stacks of all tasks; any thread but the leading one may call it.

        Args:
            patience_s: seconds after which processes that have not answered are given up.
        """
        with self._one_at_a_time:
            self._complete.clear()
            self._told, self._others = [], []
            self._is_asked = True
            self._wake()
            self._complete.wait(patience_s)
            told = sorted(self._told, key=lambda found: found.task)
            others = sorted(self._others, key=lambda found: found.task)
            return Stacks(told, sorted(self._awaited), others)

    # -- in the leading thread

    def pass_on(self, workers: Iterable[WorkerHandle]) -> None:
        """Ask the processes, if that is to be done."""
        if not self._is_asked:
            return
        self._is_asked = False
        alive = [worker for worker in workers if not worker.gone]
        self._awaited = {worker.process.pid or 0 for worker in alive}
        for worker in alive:
            worker.send(TellStacks())
        self._look()

    def hear(self, process: int, stacks: Stacks) -> None:
        """Note the answer of a process."""
        if process in self._awaited:
            self._told.extend(stacks.tasks)
            self._others.extend(stacks.others)
            self._awaited.discard(process)
            self._look()

    def leave_out(self, process: int) -> None:
        """Note that a process has ended."""
        self._awaited.discard(process)
        self._look()

    def _look(self) -> None:
        if not self._awaited:
            self._complete.set()
