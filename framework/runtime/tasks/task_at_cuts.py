"""A task that stands at a cut in its input, with all below committed, until it has done what is due there."""

from __future__ import annotations

from framework.runtime.control.cut_record import Proposal, Purpose
from framework.runtime.tasks.bolt_cut import BoltCut
from framework.runtime.tasks.hand_over import HandOver
from framework.runtime.tasks.task import Task


class TaskAtCuts(Task):
    """What a bolt's task does where it stands at a cut: it saves itself for a checkpoint, or it hands key
    groups over."""

    _cut: BoltCut | None = None
    """Where that is; None where no checkpoints are made, and nothing is handed over."""
    _hand_over: HandOver | None = None
    """Knows what is handed over; None where nothing is."""

    @property
    def _is_at_cut(self) -> bool:
        return self._cut is not None and self._cut.is_there

    def _passes(self, cut: BoltCut) -> bool:
        """Standing at a cut, do what is to be done there, once all below lasts; whether the task goes on."""
        if self.emitter.commits is not None and not self._commit():
            self.is_signalled = True  # once there is room for what waits
            return False
        if not cut.passes():
            return False
        self._commit()  # what has changed at the cut
        return True

    @property
    def _is_handing_over(self) -> bool:
        """Whether the task waits at a cut for key groups that siblings have not handed over to it."""
        return self._hand_over is not None and self._hand_over.goes_on

    def _at_cut(self, proposal: Proposal) -> bool:
        """All that lies before the cut has been processed and is committed, and nothing else."""
        if proposal.purpose is Purpose.CHECKPOINT:
            return self._save_at_cut(proposal)
        assert self._hand_over is not None
        return self._hand_over_at_cut(proposal, self._hand_over)

    def _hand_over_at_cut(self, proposal: Proposal, hand_over: HandOver) -> bool:
        """Hand over what is another's behind the cut, and take what is the task's; whether that is done."""
        if not hand_over.goes_on:
            self.context.checkpoints.begin_anew()
            self.slot.save(commit=self.commits is None, hands_over=True)
            self._commit()
            hand_over.begin(proposal.attempt)
        if not hand_over.can_take:
            return False
        self.slot.own(hand_over.take())
        self._taken_over()
        return True

    def _taken_over(self) -> None:
        """The task has other key groups from now on."""
        raise NotImplementedError

    def _save_at_cut(self, proposal: Proposal) -> bool:
        """All that belongs to a checkpoint has been processed, and nothing else: save the task."""
        assert self._cut is not None
        self.cut(proposal.number)
        since_s = self._cut.stands_since_s
        self.context.checkpoints.cut(proposal, self.save(), self.slot.state, since_s)
        return True

    def _stand(self) -> None:
        """Hand on what was emitted, by threads of the component's own perhaps, and nothing else."""
        self.emitter.place()
        self.emitter.flush()
        self.context.checkpoints.go_on(is_committed=self.emitter.commits is None)
