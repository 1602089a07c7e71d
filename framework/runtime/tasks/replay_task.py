"""The task in place of a spout's: it brings recorded tuples at their recorded positions."""

from __future__ import annotations

from framework.recording import RecordedInput
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.source_task import PollTimer, SourceTask
from viper.quota import Quota


class ReplayTask(SourceTask):
    """Replays one partition of a recording; the spout itself is not made."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        emitter: Emitter,
        source: RecordedInput,
        quota: Quota,
    ) -> None:
        """
        Args:
            context: the spout's.
            slot: holds a component that does nothing.
            emitter: sends off what is brought.
            source: what was recorded.
            quota: bounds how much all spouts emit together.
        """
        super().__init__(context, slot, emitter, PollTimer(0.0))
        self._source = source
        self._quota = quota

    @property
    def has_ended(self) -> bool:
        """True if everything has been brought."""
        return self._source.exhausted

    def _begin(self) -> None:
        self.slot.begin()

    def run(self, limit: int) -> int:
        """Bring so many tuples at most."""
        if self._ends_now(0.0):
            self.end()
            return 0
        granted = self._quota.take(limit)
        emission = self._source.take(granted)
        count = len(emission.payload)
        self._quota.settle(granted, count)
        if count:
            self.context.counters.emitted += count
            self._last_us = emission.positions.last().ts
            self.emitter.send(emission)
        self.unblock()
        if not self._source.exhausted:
            self.emitter.publish(self._source.frontier)
        return count

    def stand_in(self) -> None:
        """Do nothing: nothing blocks here."""
