"""How the task of a bolt hands key groups over to its siblings at the cut of a reconfiguration, and takes others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.runtime.control.cut_record import CutRecord
from framework.runtime.control.scale_record import ScaleRecord
from viper.hashing import groups_of_task


class HandOver:
    """Knows which key groups a task has, and from whom it takes some.

    A task tells its siblings that it has handed over only once it has committed all that lies before the cut.
    It takes over what those had that have told so.

    Args:
        record: of the run, where the cut is decided.
        scales: says how many of the tasks share the groups before it and behind.
        component: that of the task.
        task: id of the task.
        siblings: the ids of all tasks of the component, by index.
        groups: how many key groups there are.
        wake: has the siblings' executors look for work.
    """

    def __init__(
        self,
        record: CutRecord,
        scales: ScaleRecord,
        component: str,
        task: int,
        siblings: Sequence[int],
        groups: int,
        wake: Callable[[], None],
    ) -> None:
        self._record = record
        self._scales = scales
        self._component = component
        self._task = task
        self._siblings = tuple(siblings)
        self._count = groups
        self._wake = wake
        self._attempt = 0
        self._awaited: Sequence[int] = ()
        """The siblings that have not handed over what the task takes, as far as it knows."""
        self.goes_on = False
        """Whether the task has handed over, and has not taken over what is its own now."""

    @property
    def groups(self) -> range:
        """The key groups of a task that begins, perhaps in the place of one that died.

        One that had handed over, and dies before everybody has, may have touched those of now: its successor
        takes them over at the cut, which it comes to before its first input.
        """
        attempt = self._record.attempt
        if self._record.is_reconfiguring and self._scales.has_handed_over(self._task, attempt):
            return range(0)
        return self._of(self._task, self._scales.wanted(self._component))

    def begin(self, attempt: int) -> None:
        """Everything before the cut is committed: hand over, and see whom to wait for."""
        self._attempt, self.goes_on = attempt, True
        before, mine = self._scales.wanted(self._component), self._behind
        had = {sibling: self._of(sibling, before) for sibling in self._siblings if sibling != self._task}
        self._awaited = [sibling for sibling, theirs in had.items() if _meet(theirs, mine)]
        self._scales.hand_over(self._task, attempt)
        self._wake()

    @property
    def can_take(self) -> bool:
        """Whether all that the task gets has been handed over to it."""
        self._awaited = [
            sibling for sibling in self._awaited if not self._scales.has_handed_over(sibling, self._attempt)
        ]
        return not self._awaited

    def take(self) -> range:
        """The key groups that the task has from now on; to be called once it can take them."""
        self.goes_on = False
        return self._behind

    @property
    def _behind(self) -> range:
        return self._of(self._task, self._scales.proposed(self._component))

    def _of(self, task: int, tasks: int) -> range:
        index = self._siblings.index(task)
        return groups_of_task(index, tasks, self._count) if index < tasks else range(0)


def _meet(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)
