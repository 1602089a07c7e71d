"""The positions of what a bolt's task emits."""

from __future__ import annotations

from array import array

from viper.position import LEAST, Level, Position, Positions
from viper.source import raise_to

LAST = Position(1 << 62, 0, 0)
"""Behind all that has a time of its own. The last ticks and batches stand here: those of the bolts at depth d
of the topology at the time ``LAST.ts + d``, so that they come behind what feeds them."""
REPEATS = Position(LAST.ts + (1 << 20), 0, 0)
"""Behind those, at the times from here on, stand tuples that failed and are emitted once more, and tuples
that still go round in cycles."""


class Lineage:
    """Places each output directly below the input that it was emitted for.

    Outputs that belong to no input (ticks, timers, `initialize`) are placed below the
    task's frontier, or below its last input where that is later, so that they are never
    behind what was already promised. Outputs below one and the same position are counted
    on, however many calls and batches they come in.
    """

    def __init__(self) -> None:
        self.saturated = 0
        """Outputs for which the path had no room left."""
        self._inputs = Positions()
        self._first = 0
        self.frontier = LEAST
        """No input below this position will come."""
        self._parent = LEAST
        self._children = 0
        """How many outputs were placed below `_parent` so far."""
        self._floor = LEAST
        """Nothing is placed below this: a task that died had promised so."""

    def resume(self, floor: Position) -> None:
        """Go on where the task that died had come to.

        What it had not promised any more is placed at the floor, be it outputs for an input that shares
        its position with one that the dead task had processed, or those of `initialize`.
        """
        self._floor = self.frontier = floor

    def begin(self, inputs: Positions) -> None:
        """The inputs that are processed next."""
        self._inputs = inputs
        self._first = 0

    @property
    def current(self) -> Position:
        """The position of the input that is being processed: nothing will be placed below it any more."""
        return self._inputs[self._first]

    def place(self, marks: memoryview, unfinished: bool, level: Level, out: Positions) -> None:
        """Place the outputs of the next inputs.

        Args:
            marks: native uint32, for each of these inputs how many outputs there were after it.
            unfinished: whether the last of them is still being processed; it comes again then.
            level: where the component marks the path.
            out: the positions are appended here.
        """
        count = len(marks)
        if not count:
            return
        before = self._children if self._inputs[self._first] == self._parent else 0
        self.saturated += out.extend_children(self._inputs, self._first, count, marks, before, level)
        self._remember(marks, before)
        self._first += count - unfinished
        self._raise(out)

    def _remember(self, marks: memoryview, before: int) -> None:
        end = self._first + len(marks)
        self._parent = self._inputs[end - 1]
        start = len(marks) - 1  # of the inputs at the very same position, which share one count
        while start and self._inputs[self._first + start - 1] == self._parent:
            start -= 1
        self._children = marks[-1] - marks[start - 1] if start else marks[-1] + before

    def advance(self, frontier: Position) -> None:
        """No input below this position will come."""
        self.frontier = frontier

    def place_beside(self, count: int, level: Level, out: Positions, at: Position | None = None) -> None:
        """Place outputs that belong to no input: at a position, or at the frontier."""
        parent = max(at or self.frontier, self._parent)
        if parent != self._parent:
            self._parent, self._children = parent, 0
        beside = Positions()
        beside.append(parent)
        self.saturated += out.extend_children(beside, 0, 1, array("I", [count]), self._children, level)
        self._children += count
        self._raise(out)

    def _raise(self, out: Positions) -> None:
        if self._floor > LEAST:
            raise_to(self._floor, out)
