"""A task's part in a group of shared tables: what it has gathered, and how far all is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from framework.runtime.durability.state import MemberState, TableImages
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.hosts.user_errors import user_errors
from viper.bell import Bell
from viper.errors import LogFullError
from viper.position import LEAST, Position, Positions
from viper.transactions.group import Outcome
from viper.transactions.recorder import Recorder

_WORD = 2**64 - 1


class Membership:
    """Hands a task's transactions over to its group, and evaluates what can be, like every other member.

    Whoever finds that the least position that all members have come to lies ahead of what was evaluated
    evaluates up to there, and rings those who may wait for it.

    Args:
        state: the group's tables and logs, as this process sees them.
        recorder: writes what the component wants.
        others: the bells of those members that other threads run.
        names: ``component:task id`` of all members, by the numbers of their logs.
        context: the task's.
        most: how many tuples are gathered before they are evaluated.
    """

    def __init__(
        self,
        state: MemberState,
        recorder: Recorder,
        others: Sequence[Bell],
        names: Sequence[str],
        context: TaskContext,
        most: int,
    ) -> None:
        self._context = context
        self.most = most
        """The number of tuples that are gathered before they are evaluated."""
        self.recorder = recorder
        self._group = state.group
        self._state = state
        self._others = tuple(others)
        self._names = tuple(names)
        self._has_told_all = True
        """True if no gathered transaction waits for room in the log."""
        self._come_to = LEAST
        self._repeats = False
        """True if a successor would repeat the callbacks, as the task has not committed since."""
        self.waits_at: Position | None = None
        """The position of the first tuple whose transactions wait for others to come there; None for none."""

    @property
    def is_keeper(self) -> bool:
        """True if the task saves the group's tables for checkpoints."""
        return self._state.is_keeper

    def collect(self, positions: Positions, first: int, count: int) -> None:
        """Hand over what was gathered for some tuples, at the positions from index `first` on."""
        self.recorder.place(positions, first)
        self._has_told_all = self.recorder.publish()
        self.come_to(_behind(positions[first + count - 1]))

    def come_to(self, position: Position) -> None:
        """Note that no tuple before a position will have transactions; evaluate what that allows."""
        self._come_to = position
        self.recorder.collected(position)
        self.evaluate()

    def evaluate(self) -> None:
        """Evaluate what can be, unless somebody else is at it."""
        while self._group.is_due(me := self._as_who_runs_alone):
            outcome, who = self._group.evaluate(self._state.holder, me)
            if outcome is Outcome.NOTHING:
                return
            if outcome is Outcome.WAITS_ALONE and who == me:
                self._run_alone()
            for bell in self._others:
                bell.ring()

    @property
    def _as_who_runs_alone(self) -> int | None:
        """The number of the task's log, if a function of the task's could run alone now.

        All others wait for that function, and a successor may get some of them after it: so it is called
        again each time.
        """
        return self._state.number if self.recorder.may_run_alone else None

    def _run_alone(self) -> None:
        """Call the function whose turn it is.

        Raises:
            ComponentError: it raised. The run cannot continue, whatever ``viper.on.error`` says: the tuple of
                the error may be far from being called back.
        """
        try:
            self.recorder.run_alone()
        except user_errors() as error:
            self._context.fail("alone", error)

    def wait_at(self, position: Position) -> None:
        """Wait at a position whose tuple comes next, as others have not come to its transactions."""
        self.waits_at = position

    def go_on(self) -> None:
        """Continue, as the others have come there."""
        self.waits_at = None

    def repeat(self) -> None:
        """Have a successor repeat the callbacks after the last commit, from now on."""
        self._repeats = True

    def ready(self) -> int:
        """The number of gathered tuples, not called back as yet, that can be called back now."""
        ready = self.recorder.evaluated_inputs()
        if not (ready or self._has_told_all):
            if self._repeats:
                self._refuse()
            self._tell_more()
            ready = self.recorder.evaluated_inputs()
        return ready

    def _tell_more(self) -> None:
        """Hand over what has waited for room, now that others have been called back."""
        self.recorder.release()
        self._has_told_all = self.recorder.publish()
        self.come_to(self._come_to)

    def _refuse(self) -> NoReturn:
        raise LogFullError(
            "the transactions of a slice take more than the task's log, and must stay there until the slice "
            "is committed: raise viper.transactions.bytes, or lower viper.slice.tuples"
        )

    @property
    def may_go_on(self) -> bool:
        """True if a waiting task could continue now."""
        self.evaluate()
        return self.ready() > 0

    def is_evaluated(self, position: Position) -> bool:
        """True if everything below a position has been evaluated."""
        self.evaluate()
        return self._group.evaluated() >= position

    def snapshot(self, number: int, folder: Path, *, full: bool) -> TableImages:
        """The group's tables on their way into a checkpoint, where all members wait for this task.

        Args:
            number: the id of the checkpoint.
            folder: where parts are written.
            full: all of them are always written.
        """
        return TableImages(number, folder, self._group.tables, self._context.spec.id)

    @property
    def holder(self) -> str:
        """``component:task id`` of the member that all others wait for."""
        return self._names[self._group.holding()]

    def release(self) -> None:
        """Release the results that were called back, which are needed no more."""
        self.recorder.release()

    # -- as a part of the task's commits

    def save(self) -> int:
        """The offset in its log up to which the task has called back."""
        return self.recorder.called_back

    def restore(self, noted: int) -> None:
        """Resume after the callbacks of a process before this one; its later transactions come again."""
        self.recorder.go_on_from(noted)


def _behind(position: Position) -> Position:
    """The next place behind a position."""
    if position.lo < _WORD:
        return Position(position.ts, position.hi, position.lo + 1)
    if position.hi < _WORD:
        return Position(position.ts, position.hi + 1, 0)
    return Position(position.ts + 1, 0, 0)
