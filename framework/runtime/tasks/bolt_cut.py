"""Where the task of a bolt saves itself, or hands key groups over: between two inputs, at a cut."""

from __future__ import annotations

from collections.abc import Callable

from framework.runtime.control.cut_record import (
    NO_PROPOSAL,
    CutRecord,
    CutState,
    Proposal,
    Purpose,
    last_us_before,
)
from framework.runtime.positions.lineage import LAST
from framework.runtime.tasks.agenda import Entry, Frontier
from viper.position import LEAST, Position


class BoltCut:
    """Knows where the cut is that the task has not come to yet, and has done there what is to be done.

    Args:
        record: of the run.
        task: id of the task.
        hands_over: tells whether the task has part in the reconfiguration that is proposed, or is decided.
    """

    def __init__(
        self, record: CutRecord, task: int, hands_over: Callable[[], bool] = lambda: False
    ) -> None:
        self._record = record
        self._task = task
        self._hands_over = hands_over
        self._at_cut: Callable[[Proposal], None] = lambda proposal: None
        self._last_time_us: Callable[[], int] = lambda: LEAST.ts
        self._word = 0
        """That of the record when it was read last."""
        self._proposal = NO_PROPOSAL
        self._passed = 0
        """The last attempt whose cut the task has come to."""
        self._place: Position | None = None
        """Where the cut is; None for none that the task has to come to."""

    def call_by(self, at_cut: Callable[[Proposal], None], last_time_us: Callable[[], int]) -> None:
        """Say what to call at the cut, and what tells how far event time came, once all input has come."""
        self._at_cut, self._last_time_us = at_cut, last_time_us

    def look(self) -> None:
        """Hear what the leader says; to be called behind each look at the input.

        Sources go beyond the cut only once that is decided. So whoever has seen rows behind it, or the
        promise that none below it will come, sees the decision here; who looks before the input does not.
        """
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
        """Whether the task has to come to the cut that was decided."""
        attempt, state, _, _, purpose = self._proposal
        is_ahead = state is CutState.DECIDED and attempt != self._passed
        return is_ahead and (purpose is Purpose.CHECKPOINT or self._hands_over())

    def place_of(self, proposal: Proposal) -> Position:
        """Where the cut of a proposal is, for a task that has come to it."""
        return self._record.place(self._task, proposal.attempt, proposal.until_us)

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
        """Does what is to be done there."""
        return Entry(None, self._run)

    def _run(self, _at: Position | None) -> None:
        self._passed, self._place = self._proposal.attempt, None
        self._at_cut(self._proposal)
