"""The outcomes of the tuples that a spout emits with an id, and the calls that report them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from framework.runtime.order.tracking.deferred import WithheldAcks
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.spout_assigner import SpoutAssigner

MOST_OUTCOMES = 1024
"""Outcomes of tracked tuples that a spout hears of in one turn."""


class Outcomes:
    """Calls a spout's `ack` and `fail`.

    Args:
        context: the task's.
        slot: holds the spout.
        assigner: remembers which tuples may be repeated.
        pending: the tracked tuples; None where nothing is tracked: then an id is acked at the emit.
        withheld: acks that wait for a checkpoint; None where acks do not.
    """

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        assigner: SpoutAssigner,
        pending: Pending | None,
        withheld: WithheldAcks | None = None,
    ) -> None:
        self._context = context
        self._slot = slot
        self._assigner = assigner
        self._pending = pending
        self._withheld = withheld
        self._components: Mapping[str, str] = dict(context.identity.context["task->component"])

    @property
    def are_awaited(self) -> bool:
        """True if there are tuples of which the spout has not heard the outcome."""
        return bool(self._pending)

    @property
    def room(self) -> int:
        """The number of tuples that the spout may still be asked for."""
        if self._pending is None:
            return sys.maxsize
        room = self._pending.room - self._assigner.tracked_and_held
        if self._withheld is not None:
            room = min(room, self._withheld.room - len(self._pending))
        return room if room > 0 else 0

    @property
    def room_to_align(self) -> int:
        """As `room` for a spout that is to come to the time of a checkpoint, for which acks wait."""
        if self._pending is None:
            return sys.maxsize
        return max(self._pending.room - self._assigner.tracked_and_held, 0)

    @property
    def wait_for_checkpoint(self) -> bool:
        """True if so many acks wait for a checkpoint that one should be made."""
        return self._withheld is not None and self._withheld.is_crowded

    def may_be_told(self, now_s: float) -> bool:
        """True if there may be an outcome to report at a monotonic time in seconds."""
        if self._pending is None:
            return False
        return self._pending.has_news(now_s) or (self._withheld is not None and self._withheld.has_any)

    @property
    def wake_at_s(self) -> float:
        """Monotonic time in seconds at which tuples may time out."""
        return self._pending.looks_at_s if self._pending is not None else float("inf")

    def tell(self) -> tuple[int, bool]:
        """Report the outcomes of its tuples to the spout.

        Returns:
            Their number, and whether any of them has failed, which it may repeat.

        Raises:
            ComponentError: its `ack` or `fail` raised, and the run ends with it.
        """
        told = self._tell_withheld() if self._withheld is not None else 0
        pending, failed = self._pending, False
        if not pending:
            return told, False
        pending.look(time.monotonic())
        for _ in range(MOST_OUTCOMES):
            outcome = pending.next_outcome() if not self._slot.is_gone else None
            if outcome is None:
                break
            tup_id, reason = outcome
            if reason is None and self._withheld is not None:
                self._withheld.add(tup_id)
                continue
            told += 1
            if reason is None:
                self._acked(tup_id)
            else:
                failed = True
                self._failed(tup_id, reason.text(self._components))
        return told, failed

    def _tell_withheld(self) -> int:
        """Ack what a checkpoint on disk covers; returns how many tuples that are."""
        told, withheld = 0, self._withheld
        while withheld is not None and not self._slot.is_gone and withheld.has_any:
            self._acked(withheld.take())
            told += 1
        return told

    def cut(self, number: int) -> None:
        """Assign all tuples that have been processed by now to the checkpoint of this id."""
        if self._pending is not None and self._withheld is not None:
            self._withhold(self._pending, self._withheld)
            self._withheld.cut(number)

    def _withhold(self, pending: Pending, withheld: WithheldAcks) -> None:
        """Find out which tuples have been processed; the spout hears later which have failed."""
        pending.look(time.monotonic())
        failed = []
        while (outcome := pending.next_outcome()) is not None:
            tup_id, reason = outcome
            if reason is None:
                withheld.add(tup_id)
            else:
                failed.append(outcome)
        pending.put_back(failed)

    def tell_all(self) -> None:
        """Ack whatever has been processed, as nothing that came of it can be lost any more.

        Raises:
            ComponentError: as for `tell`.
        """
        if self._pending is None or self._withheld is None or self._slot.is_gone:
            return
        self._withhold(self._pending, self._withheld)
        for tup_id in self._withheld.take_all():
            self._acked(tup_id)

    def ack_untracked(self, tup_id: Any) -> None:
        """Ack a tuple that nobody receives, or that is not tracked."""
        if self._pending is not None:
            self._pending.acked_at_once(tup_id)
        else:
            self._context.counters.acked += 1
            self._slot.host.component.ack(tup_id)

    def abandon(self) -> int:
        """Nobody is left to hear of the tracked tuples; returns how many they were."""
        count = self._pending.abandon() + self._assigner.forget_ids() if self._pending is not None else 0
        count += self._withheld.clear() if self._withheld is not None else 0
        self._context.counters.unanswered += count
        return count

    def close(self) -> None:
        """Count the tuples of whose fate the spout has not heard."""
        waiting = len(self._pending or ()) + len(self._withheld or ())
        self._context.counters.unanswered += waiting + self._assigner.tracked_and_held

    def _acked(self, tup_id: Any) -> None:
        self._context.counters.acked += 1
        self._assigner.acked(tup_id)
        self._slot.call("ack", self._slot.host.component.ack, tup_id)

    def _failed(self, tup_id: Any, reason: str) -> None:
        self._context.counters.failed_for(reason)
        self._context.logger.debug("tuple with id %r failed: %s", tup_id, reason)
        self._assigner.failed(tup_id)
        self._slot.host.failed_because(reason)
        self._slot.call("fail", self._slot.host.component.fail, tup_id)
