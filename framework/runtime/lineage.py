"""The positions of what a bolt's task emits."""

from __future__ import annotations

from viper.position import END, LEAST, Level, Position, Positions, Siblings

LAST = Position(END.ts, 0, 0)
"""Where that is positioned which comes after all input: final ticks and last batches."""


class Lineage:
    """Places each output directly below the input that it was emitted for.

    Outputs that belong to no input (ticks, timers, `initialize`) are placed below the
    task's frontier, or below its last input where that is later, so that they are never
    behind what was already promised.
    """

    def __init__(self) -> None:
        self.saturated = 0
        """Outputs for which the path had no room left."""
        self._siblings = Siblings()
        self._parents = Positions()
        self._first = 0
        self._beside = Positions()
        self._frontier = LEAST

    def begin(self, parents: Positions) -> None:
        """The inputs that are processed next."""
        self._parents = parents
        self._first = 0

    def place(self, marks: memoryview, unfinished: bool, level: Level, out: Positions) -> None:
        """Place the outputs of the next inputs.

        Args:
            marks: native uint32, for each of these inputs how many outputs there were after it.
            unfinished: whether the last of them is still being processed; it comes again then.
            level: where the component marks the path.
            out: the positions are appended here.
        """
        count = len(marks)
        self.saturated += out.extend_children(self._parents, self._first, count, marks, self._siblings, level)
        self._first += count - unfinished

    def advance(self, frontier: Position) -> None:
        """No input below this position will come."""
        self._frontier = min(frontier, LAST)

    def place_beside(self, count: int, level: Level, out: Positions, at: Position | None = None) -> None:
        """Place outputs that belong to no input: at a position, or at the frontier."""
        parent = max(at or self._frontier, self._siblings.parent)
        self._beside.clear()
        self._beside.append(parent)
        marks = memoryview(count.to_bytes(4, "little" if _LITTLE else "big")).cast("I")
        self.saturated += out.extend_children(self._beside, 0, 1, marks, self._siblings, level)


_LITTLE = memoryview(b"\x01\x00\x00\x00").cast("I")[0] == 1
