"""How cycles end: nothing comes back any more when nothing is on its way round.

All tasks of a cycle belong to one executor, so that it can see this.
"""

from __future__ import annotations

from collections.abc import Sequence

from framework.runtime.bolt_task import BoltTask
from framework.runtime.lineage import LAST


class Cycles:
    """The cycles of one executor."""

    def __init__(self, bolts: Sequence[BoltTask]) -> None:
        self._heads = tuple(bolt for bolt in bolts if bolt.goes_round)
        self._bolts = tuple(bolts)
        self._latest = LAST.ts
        """The last time at which the heads were told that nothing comes back to them earlier."""
        self._told = False
        """Whether they were told since something last happened."""

    def something_happened(self) -> None:
        """A task is going to run."""
        self._told = False

    def open(self) -> bool:
        """With nothing to run: give the cycles that are left something to do; whether that was possible."""
        waiting = [head for head in self._heads if head.quiet and not head.finished]
        if waiting and any(bolt.blocked or bolt.waits_with_input for bolt in self._bolts):
            return self._go_round(waiting)
        waiting = [head for head in waiting if head.drained]
        if not waiting:
            return False
        # Nothing is in flight any more, so nothing will come back to the tasks that still wait for it.
        first = min(head.task.depth for head in waiting)
        for head in waiting:
            head.nothing_comes_back = head.nothing_comes_back or head.task.depth == first
        return True

    def _go_round(self, waiting: Sequence[BoltTask]) -> bool:
        """Somebody waits for the heads, which do not know that nothing comes back to them earlier."""
        if self._told:
            return False
        self._told = True
        # The heads meet again at a time that none of them has told already.
        self._latest = max(self._latest, *(head.published.ts for head in waiting)) + 1
        for head in waiting:
            head.go_round(self._latest)
        return True
