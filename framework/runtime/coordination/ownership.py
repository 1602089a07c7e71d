"""The key groups of each task of a bolt while its tasks change, as successors of the dead see them, too."""

from __future__ import annotations

from framework.planning import Plan, TaskSpec
from framework.planning.routing import TaskSet
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.coordination.scale_record import ScaleRecord
from viper.hashing import groups_of_task


class Ownership:
    """The key groups of all tasks of a run.

    Args:
        record: where the cut of a reconfiguration is decided; None in a run without any.
        scales: says which tasks share the groups before it and behind; None in a run without any.
        plan: of the run.
        groups: how many key groups there are.
    """

    def __init__(self, record: CutRecord | None, scales: ScaleRecord | None, plan: Plan, groups: int) -> None:
        self._record = record
        self._scales = scales
        self._plan = plan
        self._count = groups

    def now(self, task: TaskSpec) -> range:
        """The key groups of a task now, if none of its siblings hands any over at this moment.

        A task that has handed over keeps those that are its own on both sides of the cut, until all others
        have been handed over to it.
        """
        record = self._record
        if record is None or task.component not in self._plan.handing_over:
            return self._among(task, TaskSet.first(len(self._plan.tasks_of(task.component))))
        while True:
            word, found = record.word, self._now(task, record)
            if record.word == word:
                return found

    def _now(self, task: TaskSpec, record: CutRecord) -> range:
        scales = self._scales
        assert scales is not None
        before = self.before(task)
        if not (record.is_reconfiguring and scales.has_handed_over(task.id, record.attempt)):
            return before
        behind, attempt = self.behind(task), record.attempt
        awaited = self.givers(task)
        if all(scales.has_handed_over(giver, attempt) for giver in awaited):
            return behind
        return _common(before, behind)

    def before(self, task: TaskSpec) -> range:
        """The key groups of a task of a bolt that is reconfigured, before the cut."""
        assert self._scales is not None
        return self._among(task, self._scales.wanted(task.component))

    def behind(self, task: TaskSpec) -> range:
        """The same behind it."""
        assert self._scales is not None
        return self._among(task, self._scales.proposed(task.component))

    def givers(self, task: TaskSpec) -> list[int]:
        """The ids of the other tasks that have any of those before the cut that the task has behind it."""
        mine, others = self.behind(task), self._plan.tasks_of(task.component)
        return [other.id for other in others if other != task and _common(self.before(other), mine)]

    def _among(self, task: TaskSpec, tasks: TaskSet) -> range:
        rank = tasks.rank(task.index)
        return range(0) if rank is None else groups_of_task(rank, len(tasks), self._count)


def _common(one: range, other: range) -> range:
    start = max(one.start, other.start)
    return range(start, max(start, min(one.stop, other.stop)))
