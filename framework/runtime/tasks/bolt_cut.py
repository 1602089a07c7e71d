"""Where the task of a bolt saves itself for a checkpoint: between two inputs, at the cut."""

from __future__ import annotations

from collections.abc import Callable

from framework.runtime.control.cut_record import NO_PROPOSAL, CutRecord, CutState, Proposal, last_us_before
from framework.runtime.positions.lineage import LAST
from framework.runtime.tasks.agenda import Entry, Frontier
from viper.position import LEAST, Position


class BoltCut:
    """Knows where the cut is that the task has not come to yet, and has it saved there.

    Args:
        record: of the run.
        task: id of the task.
    """

    def __init__(self, record: CutRecord, task: int) -> None:
        self._record = record
        self._task = task
        self._save: Callable[[Proposal], None] = lambda proposal: None
        self._last_time_us: Callable[[], int] = lambda: LEAST.ts
        self._word = 0
        """That of the record when it was read last."""
        self._proposal = NO_PROPOSAL
        self._passed = 0
        """The last attempt in which the task was saved."""
        self._place: Position | None = None
        """Where the cut is; None for none that the task has to come to."""

    def save_by(self, save: Callable[[Proposal], None], last_time_us: Callable[[], int]) -> None:
        """Say what to call at the cut, and what tells how far event time came, once all input has come."""
        self._save, self._last_time_us = save, last_time_us

    def look(self) -> None:
        """Hear what the leader says; to be called behind each look at the input.

        Sources go beyond the cut only once that is decided. So whoever has seen rows behind it, or the
        promise that none below it will come, sees the decision here; who looks before the input does not.
        """
        if self._record.word != self._word:
            self._word, self._proposal = self._record.read(self._task)
            if self._proposal.state is not CutState.DECIDED or self._proposal.attempt == self._passed:
                self._place = None
                return
        elif self._place is None:
            return
        _, _, _, until_us = self._proposal
        self._place = self._record.place(self._task, self._proposal.attempt, until_us)

    def has_come_to(self, frontier: Position) -> bool:
        """Whether the task is to be saved now, although no input comes."""
        self.look()
        return self.is_due_before(frontier)

    def is_due_before(self, position: Position) -> bool:
        """Whether the cut is at or before a position."""
        return self._place is not None and position >= self._place

    def frontier(self, reached: Position) -> Frontier:
        """How far the input has been processed at the cut, for a task that has come to a position.

        All sources may end before the cut that was decided. Then no tick up to there is due, as in a run
        without checkpoints: event time has ended before.
        """
        assert self._place is not None
        time_us = last_us_before(self._place)
        return Frontier(self._place, time_us if reached < LAST else min(time_us, self._last_time_us()), False)

    @property
    def entry(self) -> Entry:
        """Saves the task."""
        return Entry(None, self._run)

    def _run(self, _at: Position | None) -> None:
        self._passed, self._place = self._proposal.attempt, None
        self._save(self._proposal)
