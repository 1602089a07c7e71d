"""A bolt's task whose transactions share tables with others': where it waits, and saves the tables."""

from __future__ import annotations

from framework.runtime.tasks.progress import Progress
from framework.runtime.tasks.task_at_cuts import TaskAtCuts
from viper.position import END


class TaskInGroup(TaskAtCuts):
    """What a bolt's task does for the group of shared tables that it has part in, if it has.

    A turn ends where others have not come to the transactions of the tuples that it has gathered, and goes on
    there. One task of each group saves its tables for checkpoints.
    """

    progress: Progress
    """How far its input is."""

    def _goes_on_in_group(self) -> bool | None:
        """Whether a task that waits for others of its group can go on; None if it waits for none."""
        membership = self._parts.membership
        if membership is None:
            return None
        if membership.waits_at is not None:
            return membership.may_go_on
        if not membership.is_keeper or self.is_ending:
            return None
        cut = self._parts.cut
        if cut is not None and cut.is_there:
            return self._are_evaluated(cut.stands_at) or None
        return (self.progress is Progress.OVER and self._are_evaluated(END)) or None

    @property
    def _waits_for_members(self) -> bool:
        """Whether the turn goes on when others have come to its transactions."""
        return self._parts.membership is not None and self._parts.membership.waits_at is not None

    def unblock(self) -> bool:
        """As in the base class; consumers of a task that waits for others hear how far it is.

        Otherwise these, and with them the others, might wait for this task.
        """
        done = super().unblock()
        membership = self._parts.membership
        if done and membership is not None and membership.waits_at is not None:
            self.emitter.publish(self._agenda.held(membership.waits_at))
        return done

    def _may_end(self) -> bool:
        """Whether a task whose input is over may end: one that saves tables does so behind all others."""
        return self._tables_kept is None or self._are_evaluated(END)

    def _called_back(self) -> None:
        """A turn is over: what it has called back is needed no more, if no successor may repeat it."""
        if self._parts.membership is not None and self.commits is None:
            self._parts.membership.release()

    def _leave_published(self) -> None:
        """Begin behind what a dead process has gathered: nobody calls that back."""
        if self._parts.membership is not None:
            self._parts.membership.recorder.leave_published()

    def _keep_membership(self) -> None:
        """Have a successor repeat transactions that it has not called back at the last commit."""
        if self._parts.membership is not None and self.commits is not None:
            self._parts.membership.repeat()
            self.commits.keep("transactions", self._parts.membership)
            self.commits.call_behind(self._parts.membership.release)
