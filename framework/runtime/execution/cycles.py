"""How cycles end: nothing comes back any more when nothing is on its way round.

All tasks of a cycle belong to one executor, so that it can see this.
"""

from __future__ import annotations

from collections.abc import Sequence

from framework.runtime.positions.clocks import repeat_time_us
from framework.runtime.tasks.bolt_task import BoltTask, Progress


class Cycles:
    """The cycles of one executor."""

    def __init__(self, bolts: Sequence[BoltTask]) -> None:
        self._heads = tuple(bolt for bolt in bolts if bolt.is_cyclic)
        self._bolts = tuple(bolts)
        self._went_round = False
        """Whether they went round since something last happened."""

    def something_happened(self) -> None:
        """A task is going to run."""
        self._went_round = False

    def open(self, rests: bool) -> bool:
        """With nothing to run: give the cycles that are left something to do; whether that was possible.

        Args:
            rests: whether time goes on by itself if not.
        """
        waiting = [h for h in self._heads if h.progress >= Progress.QUIET and not h.is_finished]
        if waiting and any(bolt.is_blocked or bolt.waits_with_input for bolt in self._bolts):
            return self._go_round(waiting, rests)
        waiting = [head for head in waiting if head.progress >= Progress.DRAINED]
        if not waiting:
            return False
        # Nothing is in flight any more, so nothing will come back to the tasks that still wait for it.
        first = min(head.context.spec.depth for head in waiting)
        for head in waiting:
            if head.context.spec.depth == first:
                head.end_cycle()
        return True

    def _go_round(self, waiting: Sequence[BoltTask], rests: bool) -> bool:
        """Somebody waits for the heads, which do not know that nothing comes back to them earlier."""
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
