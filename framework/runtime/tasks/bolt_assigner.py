"""Where a bolt's task places what its component emits: below the tuple in process, or beside all input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from framework.runtime.edges.buffer import EmitBuffer, Taken
from framework.runtime.positions.lineage import Lineage
from framework.runtime.tracking.acker import Acker, PendingAcks
from viper.jumbo import Emission
from viper.position import Level, Position, Positions

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Marks(Protocol):
    """Says which of the rows in the buffer were emitted for which tuple."""

    @property
    def open(self) -> bool:
        """Whether the last tuple of the marks is still in process."""

    def cut(self) -> Buffer:
        """For each tuple since the last call the number of rows after it, all together, as native uint32."""


class BoltAssigner:
    """Gives a bolt's output its positions, and to tracked output the trees of its input.

    Args:
        buffer: holds what was emitted.
        marks: say how many rows there were after each tuple of a slice.
        level: where outputs are marked, but for inputs that are copied to several replicas.
        acker: gives the acks that follow outputs; None where nothing is tracked.
    """

    def __init__(self, buffer: EmitBuffer, marks: Marks, level: Level, acker: Acker | None) -> None:
        self.lineage = Lineage()
        self.unplanned = 0
        """Outputs that belong to no input, and to no tick at a position either."""
        self._buffer = buffer
        self._marks = marks
        self._acker = acker
        self._level = level
        # How outputs are placed right now: below their inputs, or beside all input.
        self._is_below_inputs = False
        self._placing_at = level
        self._beside_at: Position | None = None
        self._pending_acks: PendingAcks | None = None
        """Acks that take effect when what was emitted before them has been counted."""
        self._inheriting: Positions | None = None
        """Tracked input whose outputs do not stand below it, and so do not inherit its trees by position."""
        self._first_inheriting = 0
        """Index in there of the first tuple whose outputs have not all been placed."""
        self._out, self._spare = Positions(), Positions()
        """Those of the next emission, and those of the last one."""

    @property
    def current(self) -> Position:
        """Nothing that the component emits from now on will be placed below this."""
        return self.lineage.current

    @property
    def has_output(self) -> bool:
        """Whether something was emitted, or an ack given, that `take` has not been called for yet."""
        acker = self._acker
        return len(self._buffer) > 0 or (acker is not None and acker.waiting)

    @property
    def has_more(self) -> bool:
        """Whether `take` has left something that was emitted before it was called."""
        return self._buffer.has_more

    # -- what the task is about to do

    def begin_slice(self, positions: Positions, *, below: bool) -> None:
        """Tuples of the task's channel come next.

        Args:
            positions: theirs.
            below: whether outputs stand below them; else at the frontier, as it has passed them.
        """
        self.lineage.begin(positions)
        self._is_below_inputs = below

    def end_slice(self) -> None:
        """They have been processed, and all their outputs placed."""
        self._is_below_inputs = False

    def begin_tracked(self, positions: Positions) -> None:
        """Tuples come next of which some are tracked; outputs inherit their trees wherever they stand."""
        self._inheriting = None if self._is_below_inputs else positions
        self._first_inheriting = 0

    def end_tracked(self) -> None:
        """They have been processed, and all their outputs placed."""
        self._inheriting = None

    def mark_at(self, level: Level) -> None:
        """Mark the outputs of the tuples that come next at a level of the path."""
        self._placing_at = level

    @contextmanager
    def beside(self, at: Position | None) -> Iterator[None]:
        """Within the block, place outputs beside all input: at a position, or at the frontier.

        Everything emitted before must have been placed, and what is emitted in the block is to be placed in
        it.
        """
        before = self._is_below_inputs, self._placing_at
        self._is_below_inputs, self._placing_at, self._beside_at = False, self._level, at
        try:
            yield
        finally:
            (self._is_below_inputs, self._placing_at), self._beside_at = before, None

    # -- what the emitter asks

    def take(self) -> Emission | None:
        """All that the component has emitted since the last time, at its positions; None for nothing."""
        # Rows and marks must be of the same moment, and the component may be emitting just now.
        with self._buffer.guard:
            unfinished = self._marks.open
            marks = memoryview(self._marks.cut()).cast("B")
            acker = self._acker
            is_tracking = acker is not None and acker.tracking
            if not (marks or is_tracking or self._buffer.has_changed):  # as behind each slice
                return None
            # Acks first: what was emitted before an ack is then among the rows.
            self._pending_acks = acker.take() if acker is not None and is_tracking else None
            taken = self._buffer.take()
        if taken.named:
            self._buffer.name_tasks(taken.named)
        count = len(taken.payload)
        self._place(taken, count, marks, unfinished)
        if not count:
            return None
        made, self._out, self._spare = self._out, self._spare, self._out
        return Emission(taken.payload, taken.tags, made)

    def placed(self) -> None:
        """What `take` gave last has been counted: now acks that followed it may take effect."""
        if self._acker is not None and self._pending_acks is not None:
            acks, self._pending_acks = self._pending_acks, None
            self._acker.give(acks)

    def _place(self, taken: Taken, count: int, marks: memoryview, unfinished: bool) -> None:
        out = self._out
        out.clear()
        if self._is_below_inputs:
            self.lineage.place(marks, unfinished, self._placing_at, out)
        beside = count - len(out)  # all of them, or what a thread has emitted just now
        if beside:
            level = self._placing_at if self._is_below_inputs else self._level
            self.lineage.place_beside(beside, level, out, self._beside_at)
            self.unplanned += beside if self._beside_at is None else 0
        if self._inheriting is not None:
            self._inherit(self._inheriting, marks.cast("I"), unfinished)
        for index, tree in taken.notes:
            out.set_tree(index, tree)

    def _inherit(self, inputs: Positions, marks: Sequence[int], unfinished: bool) -> None:
        """Outputs belong to the trees of the inputs that they were emitted for, wherever they stand."""
        first = 0
        for tree, end in zip(inputs.trees(self._first_inheriting, len(marks)), marks, strict=True):
            for index in range(first, end) if tree else ():
                self._out.set_tree(index, tree)
            first = end
        self._first_inheriting += len(marks) - (unfinished and len(marks) > 0)
