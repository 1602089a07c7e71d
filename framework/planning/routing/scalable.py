"""Routing to a component whose number of tasks changes while the run goes on.

All tasks that the component may ever have exist from the beginning. Which of them get rows is a word in
shared memory, which the leader of the run writes. A router takes it over between two of the calls in which it
divides rows. Where a killed process is repeated exactly it must do so only together with a commit, and not
while it repeats: the rows behind a commit are then divided alike by whoever brings them once more, although
that may commit at other places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.planning.routing.router import CountingRouter, Router, Targets
from framework.planning.routing.task_set import TaskSet
from viper.hashing import ArrowColumn

Row = tuple[object, ...]


class ScalableRouter(CountingRouter):
    """Divides rows among those tasks of a component that get any at the time.

    Args:
        make: the router among some of its tasks.
        begins_with: the tasks that get rows at first.
        most: how many there may be.
        wanted: tells by its code which tasks shall get rows now.
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
