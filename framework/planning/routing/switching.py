"""Routing to a component whose tasks hand state by key over to one another while the run goes on.

Rows below a position are divided among the tasks that the component had, and those behind it among the ones
that it has then, whoever emits them and when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.planning.routing.router import Router, Targets
from framework.planning.routing.task_set import TaskSet
from viper.hashing import ArrowColumn

Row = tuple[object, ...]


class SwitchingRouter:
    """Divides rows by their keys among those tasks of a component that have the keys where the rows stand.

    Args:
        make: the router among some tasks, which does not depend on what it has divided before.
        tasks: those that there are at first.
    """

    def __init__(self, make: Callable[[TaskSet], Router], tasks: TaskSet) -> None:
        self._make = make
        self._tasks = tasks
        self._router = make(tasks)
        self._next: tuple[Router, int] | None = None
        """The router that comes next, and with which row of the next call."""

    def become(self, tasks: TaskSet, first: int = 0) -> None:
        """Divide rows among some tasks from a row of the next call on.

        Args:
            tasks: which.
            first: how many rows of the next call are still divided as before.
        """
        if tasks != self._tasks:
            self._tasks = tasks
            self._next = self._make(tasks), first
            if not first:
                self.settle()

    def settle(self) -> None:
        """No row comes any more that is divided as before."""
        if self._next is not None:
            self._router, _ = self._next
            self._next = None

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        found = self._router.targets(rows)
        if self._next is None:
            return found
        router, first = self._next
        return found[:first] + router.targets(rows)[first:]

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch; None where the rows must be seen as tuples."""
        found = self._router.targets_of_columns(columns, count)
        if self._next is None or found is None:
            return found
        router, first = self._next
        behind = router.targets_of_columns(columns, count)
        assert behind is not None  # as both hash the same columns
        return found[:first] + behind[first:]
