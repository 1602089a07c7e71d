"""A task that stands at a cut in its input, with all below committed, until it has done what is due there."""

from __future__ import annotations

from framework.runtime.control.cut_record import Proposal
from framework.runtime.tasks.bolt_cut import BoltCut
from framework.runtime.tasks.task import Task


class TaskAtCuts(Task):
    """What a bolt's task does where it stands at a cut: it saves itself for a checkpoint."""

    _cut: BoltCut | None = None
    """Where that is; None where no checkpoints are made."""

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
