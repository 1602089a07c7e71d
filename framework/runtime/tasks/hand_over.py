"""How a task hands key groups over to its siblings at the cut of a reconfiguration, and takes others."""

from __future__ import annotations

from collections.abc import Sequence

from framework.planning import TaskSpec
from framework.runtime.coordination.ownership import Ownership
from framework.runtime.coordination.scale_record import ScaleRecord
from viper.bell import Bell


class HandOver:
    """Knows from whom a task takes key groups, and whether they have handed them over.

    A task tells its siblings that it has only once it has committed all that lies before the cut.

    Args:
        task: whose it is.
        ownership: says which key groups each task has.
        scales: where the tasks tell one another.
        bells: wake whoever runs the siblings.
    """

    def __init__(
        self, task: TaskSpec, ownership: Ownership, scales: ScaleRecord, bells: Sequence[Bell]
    ) -> None:
        self._task = task
        self._ownership = ownership
        self._scales = scales
        self._bells = tuple(bells)
        self._attempt = 0
        self._kept = 0
        """The last attempt that `keep` was told of."""
        self._awaited: Sequence[int] = ()
        """The siblings that have not handed over what the task takes, as far as it knows."""
        self._groups = range(0)
        """What it takes, with what it keeps."""
        self.goes_on = False
        """Whether the task has handed over, and has not taken over what is its own now."""

    @property
    def changes(self) -> bool:
        """Whether the component has other tasks behind the cut that is proposed, or decided."""
        component = self._task.component
        return self._scales.proposed(component) != self._scales.wanted(component)

    def begin(self, attempt: int) -> None:
        """Everything before the cut of an attempt is committed: hand over, and see whom to wait for."""
        self._attempt, self.goes_on = attempt, True
        self._awaited = self._ownership.givers(self._task)
        self._groups = self._ownership.behind(self._task)
        self._scales.hand_over(self._task.id, attempt)
        for bell in self._bells:
            bell.ring()

    @property
    def can_take(self) -> bool:
        """Whether all that the task gets has been handed over to it."""
        if self._awaited:
            handed = self._scales.has_handed_over
            self._awaited = [sibling for sibling in self._awaited if not handed(sibling, self._attempt)]
        return not self._awaited

    def keep(self, attempt: int) -> None:
        """What was taken over up to an attempt stays the task's, as that is committed."""
        if attempt != self._kept:
            self._scales.take_over(self._task.id, attempt)
            self._kept = attempt

    def take(self) -> range:
        """The key groups that the task has from now on; to be called once it can take them."""
        self.goes_on = False
        return self._groups
