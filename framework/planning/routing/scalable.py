"""Routing to a component whose tasks change during the run: to some of them, or by key."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from framework.planning.routing.router import CountingRouter, Router, Targets
from framework.planning.routing.task_set import TaskSet
from viper.hashing import ArrowColumn

Row = tuple[object, ...]


class SwitchingRouter:
    """Divides rows by their keys among those tasks of a component that have the keys at the rows' positions.

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
        """Note that no more row comes that is divided as before."""
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


class ScalableRouter(CountingRouter):
    """Divides rows among those tasks of a component that get any at the time.

    Args:
        make: the router among some of its tasks.
        begins_with: the tasks that get rows at first.
        most: how many there may be.
        wanted: returns the code of the tasks that shall get rows now.
        only_at_commits: whether the tasks change in `follow` only.
    """

    def __init__(
        self,
        make: Callable[[TaskSet], Router],
        begins_with: TaskSet,
        most: int,
        wanted: Callable[[], int],
        *,
        only_at_commits: bool,
    ) -> None:
        self._make = make
        self._most = most
        self._wanted = wanted
        self._only_at_commits = only_at_commits
        self._code = begins_with.code
        """Of the tasks that get rows."""
        self._router = make(begins_with)

    def targets(self, rows: Sequence[Row]) -> Targets:
        """The task index of each row.

        Raises:
            TypeError: a key that has no stable hash.
        """
        if not self._only_at_commits:
            self.follow()
        return self._router.targets(rows)

    def targets_of_columns(self, columns: Sequence[ArrowColumn], count: int) -> Targets | None:
        """The task index of each row of a record batch; None where the rows must be seen as tuples."""
        if not self._only_at_commits:
            self.follow()
        return self._router.targets_of_columns(columns, count)

    def follow(self) -> None:
        """Divide rows among the tasks that shall get any, from the next one on."""
        wanted = self._wanted()
        if wanted != self._code:
            self._become(TaskSet.from_code(wanted))

    def save(self) -> list[int]:
        """As in the base class."""
        counts = self._router.save() if isinstance(self._router, CountingRouter) else []
        return [self._code, *counts]

    def restore(self, counts: Sequence[int]) -> None:
        """As in the base class; the tasks are those of then until `follow` finds others."""
        code, *inner = counts
        tasks = TaskSet.from_code(code)
        if not 0 <= tasks.indexes[-1] < self._most:
            return
        self._become(tasks)
        if isinstance(self._router, CountingRouter) and inner:
            self._router.restore(inner)

    def _become(self, tasks: TaskSet) -> None:
        self._code = tasks.code
        self._router = self._make(tasks)
