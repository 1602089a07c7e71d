"""The part of a source's task in a cut: it answers, is bound until there is a decision, and passes."""

from __future__ import annotations

import time

from framework.runtime.coordination.cut_record import (
    NO_PROPOSAL,
    CutRecord,
    CutState,
    Proposal,
    Purpose,
    before_ticks,
    last_at,
)
from viper.partitions import NO_LIMIT
from viper.position import LEAST, Position

QUIET_S = 1.0
"""Seconds without a row after which a source stands still."""
QUIET_TURNS = 10
"""As many times it must have been asked by then: a busy machine is no source that stands still."""


class SourceCut:
    """The part of a source's task in the cuts of a run; by default, there is none.

    Args:
        record: of the run.
        task: id of the task.
        only_drains: whether the run has no cut but that of a drain, so that the task need not look before.
    """

    def __init__(self, record: CutRecord | None = None, task: int = 0, *, only_drains: bool = False) -> None:
        self._of_run = record
        self._record = None if only_drains else record
        self._is_draining = False
        """True if the run drains, and the task ends at the cut of that."""
        self._task = task
        self._word = 0
        """That of the record when it was read last."""
        self._proposal = NO_PROPOSAL
        self._is_bound = False
        """True if the task must not bring anything beyond the time of the proposal for now."""
        self._stands_since_s: float | None = None
        self._quiet_turns = 0
        self._quiet_since_s = 0.0
        self.place = LEAST
        """The last cut that the task has passed, or stopped at."""
        self._told_us = LEAST.ts
        self._floor = LEAST
        """The last position that a process before this one has promised to consumers."""

    def go_on_behind(self, floor: Position) -> None:
        """Begin in the place of a task that has promised this position to its consumers."""
        self._floor = floor

    @property
    def has_news(self) -> bool:
        """True if the leader has said something that the task has not heard."""
        return self._record is not None and self._record.word != self._word

    @property
    def attempt(self) -> int:
        """The number of the last proposal; 0 before the first."""
        return 0 if self._record is None else self._record.attempt

    @property
    def heard(self) -> Proposal:
        """The last proposal that the task has heard of; a void one binds nobody, and has the number 0."""
        return self._proposal

    @property
    def is_alone(self) -> bool:
        """True if the task's tuples meet those of no other source."""
        return self._record is not None and self._record.is_alone(self._task)

    def reached(self, behind: Position) -> Position:
        """The position that may be promised to consumers, as a cut may be set there.

        Args:
            behind: no row below this position is left to be brought.
        """
        return before_ticks(behind) if self.is_alone else behind

    def promised(self, reached: Position) -> Position:
        """The part of a promise to consumers that holds for now, as the task may be bound by a time.

        The last position of that time lies after all rows that others bring at it, which may wait for room.
        It lies before the ticks of any later time, which must not fire yet.
        """
        until_us = self.until_us
        return reached if until_us == NO_LIMIT else min(reached, last_at(until_us))

    @property
    def must_hear_decision(self) -> bool:
        """True if the task, which may have brought all, must not report its end before a decision, even in a
        drain.

        Whoever hears that nothing more will come may emit its last rows at once, which lie behind the cut of
        a reconfiguration, and must be divided by it.
        """
        is_open = self._is_bound and self._proposal.state is CutState.PROPOSED
        return is_open and self._proposal.purpose is Purpose.RECONFIGURATION

    @property
    def suspends(self) -> bool:
        """True if the run is to end at the cut, where the task waits, and does not end before."""
        return self._is_bound and self._proposal.purpose is Purpose.SUSPENSION

    @property
    def _stops(self) -> bool:
        return self._is_bound and self._proposal.purpose.stops

    def drain(self, told_us: int) -> None:
        """The run is to drain: bring only what lies before a cut that is decided.

        Args:
            told_us: as of `look`.
        """
        self._record = self._of_run
        self._is_draining = self._record is not None and self._record.ends_at_drain(self._task)
        self.look(told_us)

    @property
    def ends_drain(self) -> bool:
        """True if a run that drains waits for nothing that the task may still bring."""
        record = self._record
        return not self._is_draining or self.is_there or (record is not None and record.is_released)

    @property
    def is_there(self) -> bool:
        """True if the task, or one whose place it takes, has reached the cut with which the run ends."""
        return self._stops and self._record is not None and self._record.has_passed(self._task)

    @property
    def brings_nothing(self) -> bool:
        """True if the task has stopped: until all have answered, and at the cut with which the run ends."""
        is_decided = self._is_bound and self._proposal.state is not CutState.PROPOSED
        return (self._is_draining and not is_decided) or (self._stops and (not is_decided or self.is_there))

    @property
    def saves(self) -> bool:
        """True if the task has to save its offset at the cut."""
        return self._is_bound and self._proposal.purpose is Purpose.CHECKPOINT

    @property
    def until_us(self) -> int:
        """Event time in microseconds up to which rows are wanted for now."""
        return self._proposal.until_us if self._is_bound else NO_LIMIT

    def stands(self, now_s: float) -> bool:
        """True if the task, which has nothing to bring, waits for a decision; the first such call notes the
        time.

        Args:
            now_s: monotonic time in seconds.
        """
        waits = self._is_bound and self._proposal.state is CutState.PROPOSED
        if waits and self._stands_since_s is None:
            self._stands_since_s = now_s
        return waits

    @property
    def stood_since_s(self) -> float:
        """Monotonic time in seconds since which the task has waited for the decision; now, if it has not."""
        now_s = time.monotonic()
        return now_s if self._stands_since_s is None else self._stands_since_s

    def look(self, told_us: int) -> None:
        """Hear what the leader says, and answer.

        Args:
            told_us: the event time in microseconds that was promised to consumers.
        """
        if self._record is None or self._record.word == self._word:
            return
        before = self._proposal
        self._word, now = self._record.read(self._task)
        if now.attempt != before.attempt:
            self._is_bound, self._stands_since_s, self._quiet_turns = False, None, 0
        if now.state is CutState.PROPOSED and now.attempt != before.attempt:
            told_us = max(told_us, self._floor.ts)
            if now.purpose.stops:
                now = now._replace(until_us=told_us)
            self._record.answer(self._task, now.attempt, told_us)
            self._is_bound = told_us <= now.until_us
        elif self._is_successors(now, before):
            self._is_bound = True
        self._proposal = now

    def _is_successors(self, now: Proposal, before: Proposal) -> bool:
        """True if a dead process had to pass the cut of a reconfiguration, and has not, or if the run is
        closed, or drains."""
        assert self._record is not None
        if now.state is CutState.CLOSED:
            return True
        if now.state is not CutState.DECIDED or now.attempt == before.attempt:
            return False
        is_open = now.purpose is Purpose.RECONFIGURATION and not self._record.has_passed(self._task)
        return is_open or now.purpose is Purpose.DRAIN

    def _may_pass_early(self, last: Position, behind: Position) -> bool:
        """True if the cut may be at the task's present position; arguments as of `passed`."""
        # Consumers may have rows that a process before this one has brought, and this one has not as yet.
        return last < behind and behind >= self._floor and self.is_alone

    def told(self, time_us: int) -> None:
        """Note the event time that was promised to consumers."""
        if self._record is not None and time_us != self._told_us:
            self._told_us = time_us
            self._record.tell(self._task, time_us)

    def passed(self, last: Position, behind: Position, *, waits: bool) -> Proposal | None:
        """The cut that the task has passed just now; None if it has passed none.

        It continues after the cut, unless the run is to end there.

        A source that has nothing for now may stand still for hours before that time. If no other source meets
        it, the cut may as well be at its present position: its rows so far lie before all that it may bring.
        If others do, a run may be suspended a second after the last row of the time agreed on. A source ends
        in a drain after a second without a row, wherever it is.

        Args:
            last: the position of the last row.
            behind: the position that may be promised to consumers; no row before it is left to be brought.
            waits: whether a source had nothing for now; in a drain, whether nothing was brought.
        """
        proposal = self._proposal
        if self._record is None or not self._is_bound or proposal.state is not CutState.DECIDED:
            return None
        if self.is_there:
            return None
        stops, drains = self._stops, proposal.purpose is Purpose.DRAIN
        is_at_time = behind.ts == proposal.until_us
        may_be_early = waits and not drains and (is_at_time or not stops)
        if behind.ts <= proposal.until_us and may_be_early and self._may_pass_early(last, behind):
            place = behind
        elif behind.ts > proposal.until_us or (stops and self._is_quiet(waits and (is_at_time or drains))):
            place = Position(proposal.until_us + 1, 0, 0)
        else:
            return None
        self._record.pass_at(self._task, proposal.attempt, place)
        self.place = place
        self._is_bound = stops
        return proposal

    def _is_quiet(self, had_nothing: bool) -> bool:
        if not had_nothing:
            self._quiet_turns = 0
        elif not self._quiet_turns:
            self._quiet_since_s, self._quiet_turns = time.monotonic(), 1
        else:
            self._quiet_turns += 1
        return self._quiet_turns >= QUIET_TURNS and time.monotonic() - self._quiet_since_s >= QUIET_S

    def end(self, time_us: int) -> None:
        """Note that the task has brought all its rows, the last of them at this event time."""
        if self._of_run is not None and self._of_run.state is not CutState.CLOSED:
            self._of_run.end(self._task, max(time_us, self._floor.ts))
