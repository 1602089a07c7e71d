"""What the task of a spout does for checkpoints, and where the run is suspended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from framework.runtime.coordination.stop import StopReason
from framework.runtime.tasks.aligned_spout import AlignedSpout
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.outcomes import Outcomes
from framework.runtime.tasks.pause import PollTimer
from framework.runtime.tasks.pullers import Puller
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import SourceTask
from framework.runtime.tasks.spout_assigner import SpoutAssigner


@dataclass(frozen=True, slots=True)
class Emitted:
    """What becomes of what a spout emits."""

    assigner: SpoutAssigner
    """Gives it positions."""
    outcomes: Outcomes
    """Tell the spout whether it was processed."""
    aligned: AlignedSpout
    """Has it come to the time of a checkpoint."""


class CheckpointedSpout(SourceTask):
    """The task of a spout that says where it is, as far as checkpoints are concerned."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        poll: PollTimer,
        emitted: Emitted,
    ) -> None:
        """
        Args:
            context: as in the base class, like the next three.
            slot: holds the spout.
            emitter: sends off what it emits.
            poll: says when it is asked again.
            emitted: what becomes of what it emits.
        """
        super().__init__(context, slot, emitter, poll)
        self._assigner = emitted.assigner
        self._outcomes = emitted.outcomes
        self._aligned = emitted.aligned

    @property
    def _waits_behind_last(self) -> bool:
        """Whether the task has not ended although the spout has, as another run may go on from there."""
        return self._aligned.keeps_from_end or self._assigner.is_closed

    def save(self) -> dict[str, Any]:
        """As in the base class, with where the spout is."""
        return {**super().save(), **self._aligned.saved}

    def complete(self, number: int) -> None:
        """As in the base class: all that was processed is in the checkpoint with which the run has ended."""
        self._outcomes.tell_all()

    def last(self) -> None:
        """As in the base class."""
        self._outcomes.tell_all()

    def drain(self, reason: StopReason, now_s: float) -> None:
        """As in the base class; the task of a run that is suspended ends where it is."""
        super().drain(reason, now_s)
        if reason is StopReason.SUSPENDED:
            self._aligned.suspend()
        self._poll.ask_at(0.0)

    def _ask_singly(self, puller: Puller, count: int) -> bool:
        """Ask for one tuple after the other, until one comes that is later than the time of a checkpoint;
        whether the spout has none any more."""
        self.emitter.place()
        counters = self.context.counters
        end, has_ended = counters.emitted + count, False
        while not (has_ended or self.slot.is_gone or self._assigner.is_closed):
            self._aligned.before_call()
            before = counters.emitted
            has_ended = puller.pull(1)
            self.emitter.place()
            if counters.emitted in (before, end) or not self.emitter.flush():
                break
        return has_ended

    def _publish(self) -> None:
        """Tell the consumers how far the task is."""
        if self._aligned.may_be_asked:
            self._aligned.answer()  # before they are told of a time that others have agreed on
        reached = self._aligned.frontier()
        if reached is not None:
            self.emitter.publish(reached)
        self._aligned.told()

    def unblock(self) -> bool:
        """As in the base class. Whoever waits for room also says how far it is, as others wait for that."""
        if self._aligned.may_be_asked:
            self._aligned.answer()
        return super().unblock()

    def _report_end(self) -> None:
        """The spout has brought all it has: a checkpoint may hold what the task has come to."""
        if self._aligned.may_be_asked:
            self.context.checkpoints.finish(self.save())
