"""The positions of a spout's emits, and the facts about the tracked tuples among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from framework.runtime.exchange.buffer import EmitBuffer, Taken
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.positions.clocks import Clock, RepeatClock
from framework.runtime.order.positions.event_times import Replays
from framework.runtime.order.positions.lineage import REPEATS
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.tasks.holdback import Holdback
from framework.runtime.tasks.pullers import Allowance
from viper.jumbo import Emission
from viper.partitions import NO_LIMIT
from viper.position import Position, Positions

_new: Final = tuple.__new__
"""Makes a named tuple without the function of Python's that its class would call."""


class SpoutAssigner:
    """Gives a spout's output its positions, and begins the trees of tracked tuples.

    Args:
        buffer: holds what was emitted.
        clock: gives positions.
        allowance: how much may be emitted; whatever is taken uses it.
        pending: the tracked tuples; None where none are tracked.
        counters: the task's.
        holdback: puts tuples in order before they are placed; None where they come in order.
    """

    def __init__(
        self,
        buffer: EmitBuffer,
        clock: Clock,
        allowance: Allowance,
        pending: Pending | None,
        counters: TaskCounters,
        holdback: Holdback | None = None,
    ) -> None:
        self.has_more = False
        """True if `take` has left something that was emitted before it was called."""
        self._buffer = buffer
        self._clock = clock
        self._allowance = allowance
        self._pending = pending
        self._counters = counters
        self._holdback = holdback
        self._replays = Replays()
        self._has_brought_all = False
        self._until_us = NO_LIMIT
        self._is_closed = False
        self._held: list[Taken] = []
        self._out, self._spare = Positions(), Positions()
        """The positions of the next emission, and those of the last one."""

    @property
    def current(self) -> Position:
        """Nothing that is sent off from now on will have a smaller position."""
        return self._clock.frontier()

    @property
    def has_output(self) -> bool:
        """True if `take` may have something to return or to count."""
        return not self._is_closed and (
            self._buffer.has_changed or self._holdback is not None or bool(self._held)
        )

    @property
    def has_brought_all(self) -> bool:
        """True if only tuples that failed may still come again."""
        return self._has_brought_all

    @property
    def is_live(self) -> bool:
        """True if time passes while nothing is emitted."""
        return self._clock.is_live

    def resume(self, floor: Position) -> None:
        """Resume where another process had come to: nothing is placed before the floor."""
        self._clock.resume(floor)

    def save(self) -> Any:
        """The state of its order: whether it brings repeats only, its clock, and the tuples it holds back."""
        order = None if self._holdback is None else self._holdback.save()
        return self._has_brought_all, self._clock.save(), order

    def restore(self, noted: Any) -> None:
        """Resume from the noted state."""
        has_brought_all, clock, order = noted
        if has_brought_all:
            self.bring_only_repeats()
        self._clock.restore(clock)
        if self._holdback is not None and order is not None:
            self._holdback.restore(order)
            self._counters.late = self._holdback.late

    def count_from_here(self) -> None:
        """Count from here on: tuples that were late before were late in another run."""
        if self._holdback is not None:
            self._holdback.count_from_here()
            self._counters.late = 0

    def is_to_commit(self, emitted: int, placed: Position, *, has_placed: bool, at_once: bool) -> bool:
        """True if the work up to the end of a turn is to be committed now.

        Args:
            emitted: tuples that were emitted in the turn.
            placed: what was placed last.
            has_placed: something was placed in the turn.
            at_once: somebody waits for a commit.
        """
        if self._holdback is None:
            return bool(emitted or has_placed)
        return self._holdback.is_to_commit(emitted, placed, at_once=at_once)

    @property
    def puts_in_order(self) -> bool:
        """True if emitted tuples are held back until they are in order."""
        return self._holdback is not None

    def skip(self) -> None:
        """Leave a place out: tuples that others have placed at the frontier lie before those that come
        here next."""
        self._clock.skip()

    def bring_only_repeats(self) -> None:
        """Place everything after all that has a time of its own, from now on.

        To be called after `end`, once what was held back has been taken.
        """
        if not self._has_brought_all:
            self._has_brought_all = True
            self._holdback = None
            self._clock = RepeatClock(self._clock, REPEATS)

    # -- what is held back as it lies behind the time of a checkpoint

    @property
    def until_us(self) -> int:
        """Event time in microseconds behind which nothing is placed for now: that is held."""
        return self._until_us

    @property
    def is_closed(self) -> bool:
        """True if nothing at all is placed for now, whatever is emitted."""
        return self._is_closed

    def held(self) -> Sequence[Taken]:
        """The emits for a later time, and all that has come after them."""
        while self._is_closed and self._buffer.has_changed:
            taken = self._taken_in_order()
            if taken.size:
                self._held.append(taken)
        return self._held

    def open(self, until_us: int = NO_LIMIT) -> None:
        """Place everything again, what is held first; or all but what lies behind a time."""
        self._until_us, self._is_closed = until_us, False

    def close(self) -> None:
        """Place nothing, until it is opened again."""
        self._is_closed = True

    def hold(self, held: Sequence[Taken]) -> None:
        """Put the tuples that another process has held back first."""
        self._held = list(held)

    # -- the end of the input

    @property
    def tracked_and_held(self) -> int:
        """Tuples with an id that are held back, so that nobody tracks them yet."""
        return self._holdback.tracked if self._holdback is not None else 0

    def end(self) -> None:
        """Hold nothing back any more, as no further tuples are asked for; `take` gives what was held."""
        if self._holdback is not None:
            self._holdback.end()

    def forget_ids(self) -> int:
        """Nobody waits any more for what becomes of tuples that are held back; how many had an id."""
        return self._holdback.forget_ids() if self._holdback is not None else 0

    def take(self) -> Emission | None:
        """Return the emits of the component since the last call, at their positions; None for nothing.

        Tuples that are held back are left out, and come later.

        Raises:
            EmitError: event time is missing or goes back.
        """
        self.has_more = False
        if self._is_closed:
            self.held()  # threads that emit wait for room in the buffer
            return None
        taken = self._released() if self._held else self._taken_in_order()
        if self._until_us != NO_LIMIT and taken.size:
            taken = self._within(taken)
        if taken.notes and self._holdback is None:
            self._replays.mark(taken.notes, taken.stamps)
        count = taken.size
        if count:
            self._place(taken)
        if self._holdback is not None and not self._held:
            self._clock.advance(self._holdback.frontier_us)
        if not count:
            return None
        made, self._out, self._spare = self._out, self._spare, self._out
        return _new(Emission, (taken.payload, taken.tags, made, bool(taken.notes)))

    def _taken_in_order(self) -> Taken:
        """The tuples that were emitted, but for those that are held back for their order."""
        taken = self._taken()
        if self._holdback is None:
            return taken
        if taken.notes:
            self._replays.mark(taken.notes, taken.stamps)
        return self._sorted(self._holdback, taken)

    def _taken(self) -> Taken:
        before = self._counters.emitted
        taken = self._buffer.take()
        self.has_more = self._buffer.has_more
        self._allowance.use(self._counters.emitted - before)
        return taken

    def _within(self, taken: Taken) -> Taken:
        """The part of it that is to be placed now; the rest is held, with all that has come behind it."""
        count = self._clock.within(taken.payload, taken.tags, taken.stamps, self._until_us)
        if count == taken.size:
            return taken
        now, later = taken.split(count)
        self._held.insert(0, later)
        self._is_closed, self.has_more = True, False
        return now

    def _released(self) -> Taken:
        released = self._held.pop(0)
        self.has_more = bool(self._held) or self._buffer.has_changed or self._holdback is not None
        return released

    def _place(self, taken: Taken) -> None:
        out = self._out
        out.clear()
        if taken.named:
            self._buffer.name_tasks(taken.named)
        self._clock.place(taken.payload, taken.tags, taken.stamps, out)
        self._counters.saturated, self._counters.raised = self._clock.saturated, self._clock.raised
        if self._pending is not None and taken.notes:
            indexes, ids = zip(*taken.notes, strict=True)
            out.set_trees(indexes, self._pending.begin(ids))
            self._counters.tracked += len(ids)

    def _sorted(self, holdback: Holdback, taken: Taken) -> Taken:
        try:
            return holdback.sort(taken)
        finally:
            self._counters.late = holdback.late
            for tup_id in holdback.take_dropped():
                if self._pending is not None:
                    self._pending.acked_at_once(tup_id)

    def placed(self) -> None:
        """Note that the last emission is counted: only its consumers keep its trees open now."""
        if self._pending is not None:
            self._pending.placed()

    def acked(self, tup_id: Any) -> None:
        """Note that the tuple with that id has been processed."""
        self._replays.acked(tup_id)

    def failed(self, tup_id: Any) -> None:
        """Note that the tuple with that id has failed, and may be emitted again."""
        self._replays.failed(tup_id)
