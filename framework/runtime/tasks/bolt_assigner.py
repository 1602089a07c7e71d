"""The positions of a bolt's outputs: below the tuple in process, or beside all input."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple, Protocol

from framework.runtime.exchange.buffer import NONE_TAKEN, EmitBuffer, Taken
from framework.runtime.order.positions.lineage import Lineage
from framework.runtime.order.tracking.acker import Acker, PendingAcks
from viper.jumbo import Emission
from viper.lineage import Fanout
from viper.position import Level, Position, Positions

_new: Final = tuple.__new__
"""The constructor of a named tuple, without the Python function that its class would call."""


class Marks(Protocol):
    """Marks that map the rows in the buffer to the tuples for which they were emitted."""

    @property
    def open(self) -> bool:
        """True if the last tuple of the marks is still in process."""

    def cut(self) -> Fanout | bytes:
        """The number of rows of each tuple since the last call; or for each the number of rows after it, all
        together, as native uint32."""


class Beside(NamedTuple):
    """The place of outputs that belong to no input: a position, and the level of the path there."""

    at: Position | None
    """The position; None for the frontier."""
    is_ahead: bool
    """True if the position lies before inputs that have been processed."""
    level: Level | None = None
    """The level of these outputs; None for the usual level of outputs without an input."""


_AT_FRONTIER = Beside(None, is_ahead=False)


class BoltAssigner:
    """Gives a bolt's output its positions, and to tracked output the trees of its input.

    Args:
        buffer: holds what was emitted.
        marks: say how many rows there were after each tuple of a slice.
        level: where outputs are marked, but for inputs that are copied to several replicas.
        acker: gives the acks that follow outputs; None where nothing is tracked.
        places_ahead: whether outputs may get positions before inputs that have been processed.
        distances: as of `Lineage`.
    """

    def __init__(
        self,
        buffer: EmitBuffer,
        marks: Marks,
        level: Level,
        acker: Acker | None,
        *,
        places_ahead: bool = False,
        distances: Callable[[], array[int] | None] | None = None,
    ) -> None:
        self.lineage = Lineage(places_ahead=places_ahead, distances=distances)
        self.unplanned = 0
        """Outputs that belong to no input, and to no tick at a position either."""
        self.has_more = False
        """True if `take` has left something that was emitted before it was called."""
        self._buffer = buffer
        self._marks = marks
        self._acker = acker
        self._level = level
        # How outputs are placed right now: below their inputs, or beside all input.
        self._is_below_inputs = False
        self._placing_at = level
        self._beside = _AT_FRONTIER
        self._pending_acks: PendingAcks | None = None
        """Acks that take effect when what was emitted before them has been counted."""
        self._is_tracking = False
        """True if any input in process is tracked."""
        self._inheriting: Positions | None = None
        """Tracked input whose outputs do not lie below it, and so do not inherit its trees by position."""
        self._first_inheriting = 0
        """Index in there of the first tuple whose outputs have not all been placed."""
        self._out, self._spare = Positions(), Positions()
        """The positions of the next emission, and those of the last one."""

    @property
    def current(self) -> Position:
        """Nothing that the component emits from now on will be placed below this."""
        if self._beside.is_ahead and self._beside.at is not None:
            return self._beside.at
        return self.lineage.current

    @property
    def has_output(self) -> bool:
        """True if something was emitted, or an ack given, that `take` has not been called for yet."""
        buffer, acker = self._buffer, self._acker
        # Every look at the task asks for it, so nothing is called that would say it in fewer words.
        return bool(buffer.outbox or buffer.segments or (acker is not None and acker.waiting))

    # -- what the task is about to do

    def begin_slice(self, positions: Positions, *, below: bool) -> None:
        """Prepare for tuples of the task's channel.

        Args:
            positions: theirs.
            below: whether outputs lie below them; else at the frontier, as it has passed them.
        """
        self.lineage.begin(positions)
        self._is_below_inputs = below

    def end_slice(self) -> None:
        """Note that they have been processed, and all their outputs placed."""
        self._is_below_inputs = False

    def begin_tracked(self, positions: Positions) -> None:
        """Prepare for tuples of which some are tracked; outputs inherit their trees, whatever their
        positions."""
        self._is_tracking = True
        self._inheriting = None if self._is_below_inputs else positions
        self._first_inheriting = 0

    def end_tracked(self) -> None:
        """Note that they have been processed, and all their outputs placed."""
        self._is_tracking, self._inheriting = False, None

    def mark_at(self, level: Level) -> None:
        """Mark the outputs of the tuples that come next at a level of the path."""
        self._placing_at = level

    @contextmanager
    def beside(
        self, at: Position | None, *, is_ahead: bool = False, level: Level | None = None
    ) -> Iterator[None]:
        """Within the block, place outputs beside all input: at a position, or at the frontier.

        Everything emitted before must have been placed, and what is emitted in the block is to be placed in
        it. If `is_ahead`, inputs may have been processed that lie behind the position. They are marked at
        `level`, if it is given.
        """
        before = self._is_below_inputs, self._placing_at
        self._is_below_inputs, self._placing_at = False, self._level
        self._beside = Beside(at, is_ahead, level)
        try:
            yield
        finally:
            (self._is_below_inputs, self._placing_at), self._beside = before, _AT_FRONTIER

    # -- what the emitter asks

    def take(self) -> Emission | None:
        """All that the component has emitted since the last time, at its positions; None for nothing."""
        acker = self._acker
        is_tracking = acker is not None and acker.tracking
        if self._buffer.is_mute and not is_tracking:  # as in a sink
            self._marks.cut()
            return None
        # Rows and marks must be of the same moment, and the component may be emitting just now.
        with self._buffer.guard:
            unfinished = self._marks.open
            marks = self._marks.cut()
            has_changed = self._buffer.has_changed
            if not (has_changed or is_tracking or marks):  # as behind each slice
                return None
            # Acks first: what was emitted before an ack is then among the rows.
            self._pending_acks = acker.take() if acker is not None and is_tracking else None
            taken = self._buffer.take() if has_changed else NONE_TAKEN
            self.has_more = self._buffer.has_more
        if taken.named:
            self._buffer.name_tasks(taken.named)
        count = taken.size
        self._place(taken, count, marks if isinstance(marks, Fanout) else Fanout.of_ends(marks), unfinished)
        if not count:
            return None
        made, self._out, self._spare = self._out, self._spare, self._out
        return _new(Emission, (taken.payload, taken.tags, made, self._is_tracking or bool(taken.notes)))

    def placed(self) -> None:
        """Note that the last emission is counted: acks that followed it may take effect now."""
        if self._acker is not None and self._pending_acks is not None:
            acks, self._pending_acks = self._pending_acks, None
            self._acker.give(acks)

    def _place(self, taken: Taken, count: int, fanout: Fanout, unfinished: bool) -> None:
        out = self._out
        out.clear()
        if self._is_below_inputs:
            self.lineage.place(fanout, unfinished, self._placing_at, out)
            self.lineage.placed_below(out)
        beside = count - len(out)  # all of them, or what a thread has emitted just now
        if beside:
            at, is_ahead, marked = self._beside
            level = self._placing_at if self._is_below_inputs else marked or self._level
            if is_ahead and at is not None:
                self.lineage.place_ahead(beside, level, out, at)
            else:
                self.lineage.place_beside(beside, level, out, at)
            self.unplanned += beside if at is None else 0
        if self._inheriting is not None:
            self._inherit(self._inheriting, fanout.ends, unfinished)
        for index, tree in taken.notes:
            out.set_tree(index, tree)

    def _inherit(self, inputs: Positions, ends: Sequence[int], unfinished: bool) -> None:
        """Give outputs the trees of the inputs that they were emitted for, whatever their positions."""
        first = 0
        for tree, end in zip(inputs.trees(self._first_inheriting, len(ends)), ends, strict=True):
            for index in range(first, end) if tree else ():
                self._out.set_tree(index, tree)
            first = end
        self._first_inheriting += len(ends) - (unfinished and len(ends) > 0)
