"""Ends cycles: the input of a task in a cycle has ended when no tuple is on its way round any more.

All tasks of a cycle belong to one executor, which can therefore see that.
"""

from __future__ import annotations

from collections.abc import Sequence

from framework.runtime.order.positions.clocks import repeat_time_us
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.progress import Progress


class Cycles:
    """The cycles of one executor; their heads are the tasks that tuples come back to."""

    def __init__(self, bolts: Sequence[BoltTask]) -> None:
        self._heads = tuple(bolt for bolt in bolts if bolt.is_cyclic)
        self._bolts = tuple(bolts)
        self.exist = bool(self._heads)
        """Whether there are any."""
        self._went_round = False
        """Whether heartbeats were sent round since a task last ran."""

    @property
    def are_ending(self) -> bool:
        """Whether a cycle has not ended although no more input comes from outside it."""
        return any(head.progress >= Progress.QUIET and not head.is_finished for head in self._heads)

    def something_happened(self) -> None:
        """Note that a task is going to run."""
        self._went_round = False

    def open(self, rests: bool) -> bool:
        """Give the cycles that have not ended something to do, when no task is runnable.

        Args:
            rests: whether time passes by itself if this has no effect, as some spout has not ended.

        Returns:
            Whether there was a head to advance or to end.
        """
        waiting = [h for h in self._heads if h.progress >= Progress.QUIET and not h.is_finished]
        if waiting and any(bolt.is_blocked or bolt.waits_with_input for bolt in self._bolts):
            return self._go_round(waiting, rests)
        waiting = [head for head in waiting if head.progress >= Progress.DRAINED]
        if not waiting:
            return False
        # Nothing is in flight any more, so nothing will come back to the heads that still wait for it.
        first = min(head.context.spec.depth for head in waiting)
        for head in waiting:
            if head.context.spec.depth == first:
                head.end_cycle()
        return True

    def _go_round(self, waiting: Sequence[BoltTask], rests: bool) -> bool:
        """Send heartbeats round, for tasks that wait for the heads.

        The heads themselves cannot know that no tuple will come back to them before the present time.
        """
        now_us = repeat_time_us()
        if not rests:
            now_us = max(now_us, *(head.emitter.published.ts + 1 for head in waiting))
        late = [head for head in waiting if head.emitter.published.ts < now_us and not head.is_paused]
        if self._went_round or not late:
            return False
        self._went_round = True
        for head in late:
            head.go_round(now_us)
        return True
