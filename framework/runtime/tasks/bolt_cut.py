"""The cut in the input of a bolt's task: its position, and the hand-over of key groups there.

A cut lies between two inputs. All below it is processed first, with what is due there. Then the task waits at
the cut, with everything committed, does the work of the cut, and continues after it.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence

from framework.planning import TaskSpec
from framework.runtime.coordination.cut_record import (
    NO_PROPOSAL,
    CutRecord,
    CutState,
    Proposal,
    Purpose,
    before_ticks,
    last_us_before,
)
from framework.runtime.coordination.ownership import Ownership
from framework.runtime.coordination.scale_record import ScaleRecord
from framework.runtime.tasks.agenda import Frontier
from viper.bell import Bell
from viper.position import LEAST, Position, Positions

AtCut = Callable[[Proposal], bool]
"""The work of a task that waits at a cut, with all before it committed, and nothing else.

Returns whether the task continues. If not, it is called again when the task has been signalled, and until
then the task does nothing but hand on what it has emitted.
"""


class BoltCut:
    """Knows where the cut is that the task has not come to yet, and what is done there.

    Args:
        record: of the run.
        task: id of the task.
        hands_over: returns whether the task has part in the proposed or decided reconfiguration.
    """

    def __init__(self, record: CutRecord, task: int, hands_over: Callable[[], bool] = lambda: False) -> None:
        self._record = record
        self._task = task
        self._hands_over = hands_over
        self._at_cut: AtCut = lambda proposal: True
        self._word = 0
        """That of the record when it was read last."""
        self._proposal = NO_PROPOSAL
        self.passed = 0
        """The last attempt whose cut the task has passed."""
        self._place: Position | None = None
        """The place of the cut; None for none that the task has to come to."""
        self.is_there = False
        """True if the task waits at the cut."""
        self.stands_at = LEAST
        """The last cut that the task has waited at."""
        self.stands_since_s = 0.0
        """Monotonic time in seconds since which it has waited at the last one."""

    def call_there(self, at_cut: AtCut) -> None:
        """Say what to call at the cut."""
        self._at_cut = at_cut

    # -- as a part of the task's commits

    def save(self) -> int:
        """The last attempt whose cut the task has passed."""
        return self.passed

    def restore(self, noted: int) -> None:
        """Note that a process before this one has passed it."""
        self.passed = noted

    # -- before the cut

    def look(self) -> None:
        """Hear the leader's proposals; to be called after each look at the input.

        Sources go beyond the cut only once that is decided. So whoever has seen rows behind it, or the
        promise that none below it will come, sees the decision here; who looks before the input does not.
        """
        if self.is_there:
            return
        if self._record.word != self._word:
            is_concerned = False
            while self._record.word != self._word:
                self._word, self._proposal = self._record.read(self._task)
                is_concerned = self._is_concerned
            if not is_concerned:
                self._place = None
                return
        elif self._place is None:
            return
        self._place = self._record.place(self._task, self._proposal.attempt, self._proposal.until_us)

    @property
    def _is_concerned(self) -> bool:
        """True if the task has to come to the cut that was decided."""
        attempt, state, _, _, purpose = self._proposal
        is_ahead = state is CutState.DECIDED and attempt != self.passed
        return is_ahead and (
            purpose is Purpose.CHECKPOINT or (purpose is Purpose.RECONFIGURATION and self._hands_over())
        )

    def has_come_to(self, frontier: Position) -> bool:
        """True if all input before the cut has come, as none will come before a position."""
        self.look()
        return self.is_due_before(frontier)

    def is_due_before(self, position: Position) -> bool:
        """True if the cut is at or before a position."""
        return self._place is not None and position >= self._place

    def count_below(self, positions: Positions) -> int:
        """The number of inputs, at least one, that have been taken just now and lie before the cut."""
        self.look()
        if not self.is_due_before(positions.last()):
            return len(positions)
        return bisect_left(
            range(len(positions)), True, key=lambda index: self.is_due_before(positions[index])
        )

    @property
    def attempt(self) -> int:
        """The attempt whose cut the task has come to."""
        return self._proposal.attempt

    @property
    def is_wanted(self) -> bool:
        """True if that is still decided."""
        return self._record.is_decided_on(self._proposal.attempt)

    def frontier(self, reached: Frontier) -> Frontier:
        """The position of processed input at the cut, for a task whose input has come behind it.

        All sources may end before the cut that was decided. Then no tick up to there is due, as in a run
        without cuts: event time has ended before. Windows up to there are due as at the end of all input,
        before tasks hand them over. A checkpoint has them as they are, as another run may have more input.
        """
        time_us = min(last_us_before(self.place), reached.time_us)
        if self._proposal.purpose is Purpose.RECONFIGURATION:
            return Frontier(self.place, time_us, False)
        return Frontier(min(self.place, Position(time_us + 1, 0, 0)), time_us, False)

    def promised(self, reached: Frontier) -> Position:
        """The position promised to consumers while the task waits at the cut; arguments as of `frontier`.

        They have to come that far before others come to the cut: these may wait for room. They must not fire
        what is due behind it.
        """
        return before_ticks(self.frontier(reached).position)

    @property
    def place(self) -> Position:
        """The cut that all input below has come to."""
        assert self._place is not None
        return self._place

    # -- at the cut

    def come(self) -> None:
        """Note that the task waits at the cut: all before it has been processed."""
        assert self._place is not None
        self.stands_at = self._place
        self.is_there, self._place = True, None
        self.stands_since_s = time.monotonic()

    def passes(self) -> bool:
        """Do the work of the cut, with all before it committed; return whether the task continues."""
        if not self._at_cut(self._proposal):
            return False
        self.passed, self.is_there = self._proposal.attempt, False
        return True


class HandOver:
    """Knows from whom a task takes key groups, and whether they have handed them over.

    A task reports to its siblings that it has only once it has committed all that lies before the cut.

    Args:
        task: whose it is.
        ownership: says which key groups each task has.
        scales: the record in which the tasks inform one another.
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
        """The last attempt that `keep` has noted."""
        self._awaited: Sequence[int] = ()
        """The siblings that have not handed over what the task takes, as far as it knows."""
        self._groups = range(0)
        """The key groups that it takes, with those that it keeps."""
        self.goes_on = False
        """True if the task has handed over its key groups, and has not taken over its new ones yet."""

    @property
    def changes(self) -> bool:
        """True if the component has other tasks after the proposed or decided cut."""
        component = self._task.component
        return self._scales.proposed(component) != self._scales.wanted(component)

    def begin(self, attempt: int) -> None:
        """Hand over, as everything before the cut of an attempt is committed, and find out whom to wait
        for."""
        self._attempt, self.goes_on = attempt, True
        self._awaited = self._ownership.givers(self._task)
        self._groups = self._ownership.behind(self._task)
        self._scales.hand_over(self._task.id, attempt)
        for bell in self._bells:
            bell.ring()

    @property
    def can_take(self) -> bool:
        """True if all key groups that the task gets have been handed over to it."""
        if self._awaited:
            handed = self._scales.has_handed_over
            self._awaited = [sibling for sibling in self._awaited if not handed(sibling, self._attempt)]
        return not self._awaited

    def keep(self, attempt: int) -> None:
        """Note that key groups taken over up to an attempt are committed, and so stay the task's."""
        if attempt != self._kept:
            self._scales.take_over(self._task.id, attempt)
            self._kept = attempt

    def take(self) -> range:
        """The key groups that the task has from now on; to be called once it can take them."""
        self.goes_on = False
        return self._groups
