"""Routing to some tasks of a component, whichever these are."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from framework.planning.routing.router import CountingRouter, Router, Targets
from framework.planning.routing.task_set import TaskSet
from viper.hashing import ArrowColumn

Row = tuple[object, ...]


def among(tasks: TaskSet, make: Callable[[int], Router]) -> Router:
    """A router to some tasks.

    Args:
        tasks: which.
        make: the router among the first so many tasks, at least 2.
    """
    if len(tasks) == 1:
        return Only(tasks.indexes[0])
    router = make(len(tasks))
    return router if tasks.is_first else Chosen(tasks, router)


class Only:
    """Sends all rows to one task, and so need not look at their keys."""

    def __init__(self, task: int) -> None:
        self._task = array("H", [task])

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row."""
        return self._task * len(rows)

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets:
        """The task index of each row of a record batch."""
        return self._task * count


class Chosen(CountingRouter):
    """Divides rows as another router does, whose tasks have other indexes here."""

    def __init__(self, tasks: TaskSet, router: Router) -> None:
        self._tasks = tasks.indexes
        self._router = router

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        return self._named(self._router.targets(rows))

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch; None where the rows must be seen as tuples."""
        found = self._router.targets_of_columns(columns, count)
        return None if found is None else self._named(found)

    def save(self) -> list[int]:
        """As in the base class."""
        return self._router.save() if isinstance(self._router, CountingRouter) else []

    def restore(self, counts: Sequence[int]) -> None:
        """As in the base class."""
        if isinstance(self._router, CountingRouter) and counts:
            self._router.restore(counts)

    def _named(self, ranks: Targets) -> Targets:
        return array("H", map(self._tasks.__getitem__, ranks))
