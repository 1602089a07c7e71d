"""Where a spout's task places what its component emits, and what is known of the tracked tuples among it."""

from __future__ import annotations

from typing import Any

from framework.runtime.edges.buffer import EmitBuffer
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.positions.clocks import Clock, RepeatClock
from framework.runtime.positions.lineage import REPEATS
from framework.runtime.tasks.allowance import Allowance
from framework.runtime.tracking.pending import Pending
from framework.runtime.tracking.replays import Replays
from viper.jumbo import Emission
from viper.position import Position, Positions


class SpoutAssigner:
    """Gives a spout's output its positions, and begins the trees of tracked tuples.

    Args:
        buffer: holds what was emitted.
        clock: gives positions.
        allowance: how much may be emitted; whatever is taken uses it.
        pending: the tracked tuples; None where none are tracked.
        counters: the task's.
    """

    def __init__(
        self,
        buffer: EmitBuffer,
        clock: Clock,
        allowance: Allowance,
        pending: Pending | None,
        counters: TaskCounters,
    ) -> None:
        self._buffer = buffer
        self._clock = clock
        self._allowance = allowance
        self._pending = pending
        self._counters = counters
        self._replays = Replays()
        self._has_brought_all = False
        self._out = Positions()

    @property
    def current(self) -> Position:
        """Nothing that is emitted from now on will have a smaller position."""
        return self._clock.frontier()

    @property
    def has_brought_all(self) -> bool:
        """Whether only tuples that failed may still come, once more."""
        return self._has_brought_all

    @property
    def is_live(self) -> bool:
        """Whether time goes on while nothing is emitted."""
        return self._clock.is_live

    def resume(self, floor: Position) -> None:
        """Go on where another process had come to: nothing is placed below the floor."""
        self._clock.resume(floor)

    def skip(self) -> None:
        """Leave a place out: what others have placed at the frontier stands before what comes here next."""
        self._clock.skip()

    def bring_only_repeats(self) -> None:
        """From now on, place everything behind all that has a time of its own."""
        if not self._has_brought_all:
            self._has_brought_all = True
            self._clock = RepeatClock(self._clock, REPEATS)

    def take(self) -> Emission | None:
        """All that the component has emitted since the last time, at its positions; None for nothing.

        Raises:
            EmitError: event time is missing or goes back.
        """
        before = self._counters.emitted
        taken, out = self._buffer.take(), self._out
        self._allowance.use(self._counters.emitted - before)
        if not len(taken.payload):
            return None
        out.clear()
        self._replays.mark(taken.notes, taken.stamps)
        self._clock.place(taken.payload.rows, taken.tags, taken.stamps, out)
        self._counters.saturated, self._counters.raised = self._clock.saturated, self._clock.raised
        if self._pending is not None and taken.notes:
            indexes, ids = zip(*taken.notes, strict=True)
            out.set_trees(indexes, self._pending.begin(ids))
            self._counters.tracked += len(ids)
        return Emission(taken.payload, taken.tags, out)

    def placed(self) -> None:
        """What `take` gave last has been counted: only its consumers keep its trees open now."""
        if self._pending is not None:
            self._pending.release()

    def acked(self, tup_id: Any) -> None:
        """The tuple with that id has been processed."""
        self._replays.acked(tup_id)

    def failed(self, tup_id: Any) -> None:
        """The tuple with that id has failed, and may be emitted once more."""
        self._replays.failed(tup_id)
