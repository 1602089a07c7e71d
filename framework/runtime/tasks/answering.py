"""The answers of a bolt's task for the tuples of a slice: given once all that they led to has been placed."""

from __future__ import annotations

from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.processors import Processor
from framework.runtime.tasks.slot import ComponentSlot
from viper.position import Positions


class Answering:
    """Acks the tuples of a slice, unless the component does so itself, and counts them.

    Args:
        slot: holds the component.
        emitter: places what it emits.
        assigner: has outputs inherit the trees of tracked tuples.
        processor: gives the tuples to the component.
        acker: answers for tracked tuples; None where none are tracked.
        counters: the task's.
    """

    def __init__(
        self,
        slot: ComponentSlot,
        emitter: Emitter,
        assigner: BoltAssigner,
        processor: Processor,
        acker: Acker | None,
        counters: TaskCounters,
    ) -> None:
        self._slot = slot
        self._emitter = emitter
        self._assigner = assigner
        self._processor = processor
        self._acker = acker
        self._counters = counters
        self._is_tracked = False
        """Whether any of the tuples in process is tracked."""
        self._is_automatic = True
        """Whether they are acked when the component has processed them."""

    def begin(self, positions: Positions, *, may_be_tracked: bool) -> None:
        """Tuples at these positions are processed next.

        Args:
            positions: theirs.
            may_be_tracked: whether any of them may be tracked.
        """
        host, acker = self._slot.host, self._acker
        self._is_automatic = not host.answers_itself
        if acker is not None:
            self._is_tracked = acker.begin(
                positions,
                automatic=self._is_automatic,
                anchors_itself=host.anchors_itself,
                may_be_tracked=may_be_tracked,
            )
            if self._is_tracked:
                self._assigner.begin_tracked(positions)
        self._processor.begin(positions)

    def end(self, count: int) -> None:
        """So many tuples have been processed: place what they led to, and answer for them."""
        self._emitter.place()
        if self._is_tracked and self._acker is not None:
            self._assigner.end_tracked()
            self._acker.end()
        counters = self._counters
        counters.processed += count
        if self._is_automatic:  # all of them are acked, but for what has raised or was failed
            counters.acked = max(counters.processed - counters.failed - self._processor.left_open, 0)

    def untracked(self, positions: Positions) -> int:
        """How many of the tuples in process, at these positions, nobody tracks."""
        count = len(positions)
        return positions.trees(0, count).count(0) if self._is_tracked else count
