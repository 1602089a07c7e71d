"""The way of a spout's task to the time of a checkpoint, and its offset, which another run has to know."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from framework.operators.components import SeekableSpout
from framework.runtime.coordination.cut_record import Purpose, before_ticks
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.durability.checkpoints.going_on import SPOUT
from framework.runtime.exchange.buffer import Taken
from framework.runtime.tasks.checkpoints import TaskCheckpoints
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.outcomes import Outcomes
from framework.runtime.tasks.spout_assigner import SpoutAssigner
from viper.partitions import NO_LIMIT
from viper.payload import Rows
from viper.position import END, Position

_PROTOCOL = 5


class Progress(Enum):
    """The progress of a task with the rows of its spout."""

    BRINGS = "brings"
    HAS_BROUGHT = "has brought"
    """All of it, and waits for the end of a run that is suspended."""
    ENDED = "ended"


class AlignedSpout:
    """Has a task bring everything up to an event time, and nothing after it, while a cut is pending.

    A cut serves a checkpoint, a reconfiguration, or the suspension of the run. Only the spout knows its
    offset, and it reports it between two calls. Output of a call for a later time is held back. If all output
    of the call is held back, another run resumes at the offset before the call. If not, another run resumes
    after the call, and begins with the output that is held.

    Args:
        cut: where the sources agree on a time; None in a run in which they never do.
        emitter: of the task.
        assigner: places what the spout emits.
        outcomes: what has become of its tuples.
        checkpoints: is given what is saved.
    """

    def __init__(
        self,
        cut: SourceCut | None,
        emitter: Emitter,
        assigner: SpoutAssigner,
        outcomes: Outcomes,
        checkpoints: TaskCheckpoints,
    ) -> None:
        self.may_be_asked = cut is not None
        """True if the sources may have to agree."""
        self.is_suspended = False
        """True if the run ends at the task's present offset, and another one resumes there."""
        self._cut = cut or SourceCut()
        self._emitter = emitter
        self._assigner = assigner
        self._outcomes = outcomes
        self._checkpoints = checkpoints
        self._offset: SpoutOffset | None = None
        self._save: Callable[[], Mapping[str, Any]] = dict
        self._before: tuple[bytes, Any, Position] | None = None
        """Before the last call: where the spout and its clock were, and what was placed last."""
        self._saved: dict[str, Any] | None = None
        """The state that is saved while the task waits for the end of a run that is suspended."""
        self._saved_for = 0
        """The attempt to suspend the run that this was saved for."""
        self._wanted_in = -1
        """The attempt to make a checkpoint before which the task has asked for one."""
        self._progress = Progress.BRINGS

    def watch(self, offset: SpoutOffset, save: Callable[[], Mapping[str, Any]]) -> None:
        """Say whom to ask where the spout is, and what saves the task, with `saved` of this among it."""
        self._offset, self._save = offset, save

    @property
    def _has_ended(self) -> bool:
        return self._progress is Progress.ENDED

    @property
    def has_news(self) -> bool:
        """True if the leader of the run has said something that the task has not heard."""
        return self.may_be_asked and self._cut.has_news and not self._has_ended

    @property
    def is_asked(self) -> bool:
        """True if the task brings nothing after some time for now."""
        return self._cut.until_us != NO_LIMIT and not self._has_ended

    @property
    def must_hear_decision(self) -> bool:
        """True if the task must not end, even in a drain, before it has heard the decision."""
        return self._cut.must_hear_decision and not self._has_ended

    @property
    def is_there(self) -> bool:
        """True if the task has brought everything before a suspension, and waits for the end of the run."""
        return self._saved is not None

    @property
    def keeps_from_end(self) -> bool:
        """True if the task does not end although the spout has, as the run may end before."""
        return (self._cut.suspends or self._cut.must_hear_decision) and not self._has_ended

    def suspend(self) -> None:
        """End the run at the task's present offset."""
        self.is_suspended = True

    def want_checkpoint(self) -> None:
        """Ask for a checkpoint, once between two attempts to make one."""
        if self._wanted_in != self._cut.attempt:
            self._wanted_in = self._cut.attempt
            self._checkpoints.want()

    # -- a turn

    def answer(self) -> None:
        """Say how far the task is, if the leader wants to know; it is bound by that from then on."""
        if not self._has_ended:
            self._cut.look(self._emitter.told_us)
            if self.is_there and self._saved_for != self._cut.heard.attempt:
                self._saved = self._before = None
            if self.is_asked:
                self._bind()

    def _bind(self) -> None:
        """Place nothing after the time of the cut; a call in progress may emit more than that."""
        until_us = self._cut.until_us
        if until_us != self._assigner.until_us and not self.is_there:
            self._assigner.open(until_us)  # what is held for one time may be due before another

    def wants_rows(self) -> bool:
        """True if the spout is to be asked for tuples; reports the task's progress if a cut needs it."""
        if self.may_be_asked:
            self.answer()
        if not self.is_asked:
            self._leave()
            return True
        if self._cut.is_there and not self.is_there:  # as said by a process that has died since
            self._arrive()
        return not (self._assigner.is_closed or self._cut.brings_nothing)

    @property
    def is_asked_singly(self) -> bool:
        """True if it matters with which call the spout passes the time of the cut.

        A source that meets no other one is cut wherever it is. A source that puts its tuples in order saves
        the held ones with its offset anyway, and it passes a time long after it has emitted something later.
        """
        if not self.is_asked or self._assigner.puts_in_order:
            return False
        return self._cut.suspends or (self._cut.saves and not self._cut.is_alone)

    def before_call(self) -> None:
        """Note the offset before a call of the spout, all of whose emits are placed."""
        assert self._offset is not None
        offset = pickle.dumps(self._offset.save(), _PROTOCOL)
        self._before = offset, self._assigner.save(), self._emitter.last_placed

    def after_turn(self, now_s: float, *, had_nothing: bool, has_ended: bool) -> None:
        """Follow up a turn of the spout, with a call or without; report if the task has reached the cut now.

        Args:
            now_s: monotonic time in seconds.
            had_nothing: whether nothing came.
            has_ended: whether the spout brings nothing any more.
        """
        if self._has_ended or not self.is_asked:
            return
        has_brought_all = has_ended and not (self._assigner.is_closed or self._assigner.held())
        behind = END if has_brought_all else self._assigner.current
        if had_nothing or self._assigner.is_closed:
            self._cut.stands(now_s)
        self._pass(behind, had_nothing=had_nothing)
        if self._cut.is_there and not self.is_there:
            self._progress = Progress.HAS_BROUGHT if has_brought_all else Progress.BRINGS
            self._arrive()

    def _arrive(self) -> None:
        self._saved, self._saved_for = self._as_json(), self._cut.heard.attempt
        self._assigner.close()
        self._outcomes.cut(self._cut.heard.number)

    def _pass(self, behind: Position, *, had_nothing: bool) -> None:
        """Report the offset if all before the cut has been brought, and continue, unless the run ends there.

        A task that commits has committed all of it by then, and nothing else but what is held back.
        """
        if self._assigner.is_closed and self._assigner.until_us == self._cut.until_us:
            behind = Position(self._cut.until_us + 1, 0, 0)  # something later has come
        elif self._cut.is_alone:
            behind, had_nothing = before_ticks(behind), True
        proposal = self._cut.passed(self._emitter.last_placed, behind, waits=had_nothing)
        if proposal is None or self._cut.suspends:
            return
        if proposal.purpose is Purpose.CHECKPOINT:
            self._outcomes.cut(proposal.number)
            self._checkpoints.cut(proposal, self._save(), (), self._cut.stood_since_s)
            self._checkpoints.committed()
        self._leave()

    def frontier(self) -> Position:
        """The position that may be promised to consumers.

        One that has brought all, and does not end as the run is to be suspended, is where the others are to
        come: they may wait for room, which consumers make that know of it.
        """
        current = self._assigner.current
        if not self.may_be_asked or self._assigner.has_brought_all:
            return current
        reached = max(before_ticks(current), self._cut.place)
        if self._has_ended:
            return reached
        if self.is_there and self._progress is Progress.HAS_BROUGHT:
            reached = END
        return self._cut.promised(reached)

    def told(self) -> None:
        """Note the progress that was promised to consumers."""
        if self.may_be_asked and not self._has_ended:
            self._cut.told(self._emitter.told_us)

    def go_on_behind(self, floor: Position) -> None:
        """Begin in the place of a task that has promised this position to its consumers."""
        self._cut.go_on_behind(floor)

    def look_in_call(self) -> None:
        """Continue in the middle of a callback that may not return, if nobody waits for the task any more."""
        if self.may_be_asked:
            self.answer()
            if self.is_asked and not (self._cut.suspends or self._cut.saves):
                self._pass(self._assigner.current, had_nothing=False)
            if not self.is_asked:
                self._leave()

    def end(self) -> None:
        """Note that the spout has brought all it has; everything is placed again from now on."""
        if not self._has_ended:
            self._progress = Progress.ENDED
            self._cut.end(self._emitter.told_us)
            self._leave()

    def _leave(self) -> None:
        """Let held output go its way, as nobody waits for the task."""
        if self._assigner.until_us == NO_LIMIT and not self.is_there:
            return
        self._saved = self._before = None
        self._assigner.open()

    # -- where the task is, for whoever goes on there

    def save(self) -> tuple[Any, Any, list[Any]]:
        """The offset of the spout, its clock, and its emits that are held back until there."""
        assert self._offset is not None
        held = self._assigner.held()
        if held and self._before is not None and self._before[2] == self._emitter.last_placed:
            return pickle.loads(self._before[0]), self._before[1], []
        rows = [(list(taken.payload.rows), taken.payload.mutable, *taken[1:]) for taken in held]
        return self._offset.save(), self._assigner.save(), rows

    def restore(self, noted: tuple[Any, Any, list[Any]]) -> None:
        """Resume from the saved state."""
        assert self._offset is not None
        offset, clock, held = noted
        self._offset.restore(offset)
        self._assigner.restore(clock)
        self._assigner.hold([Taken(Rows(rows, mutable), *others) for rows, mutable, *others in held])

    @property
    def saved(self) -> Mapping[str, Any]:
        """The same as JSON can hold it, as of the time of the checkpoint while the task waits there."""
        return self._as_json() if self._saved is None else self._saved

    def _as_json(self) -> dict[str, Any]:
        return {SPOUT: base64.b64encode(pickle.dumps(self.save(), _PROTOCOL)).decode()}

    def go_on_from(self, saved: Mapping[str, Any]) -> None:
        """Resume from the data that the task of another run has saved."""
        self.restore(pickle.loads(base64.b64decode(saved[SPOUT])))
        self._assigner.count_from_here()


class SpoutOffset:
    """Asks a spout for its offset, and has the one that takes its place resume there.

    Args:
        context: the task's.
        spout: the component; one that is not seekable begins again.
    """

    def __init__(self, context: TaskContext, spout: Any) -> None:
        self._context = context
        self._spout = spout if isinstance(spout, SeekableSpout) else None

    def save(self) -> Any:
        """The offset of the spout.

        Raises:
            ComponentError: it raised.
        """
        if self._spout is None:
            return None
        try:
            return self._spout.offset()
        except user_errors() as error:
            self._context.fail("offset", error)

    def restore(self, noted: Any) -> None:
        """Have the spout resume at the saved offset.

        Raises:
            ComponentError: it raised.
        """
        if self._spout is None:
            return
        try:
            self._spout.seek(noted)
        except user_errors() as error:
            self._context.fail("seek", error)
