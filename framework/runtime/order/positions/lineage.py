"""The positions of a bolt's outputs, each of which lies directly below the position of its input."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from viper.lineage import Descent, Fanout
from viper.position import LEAST, UNTOLD, Level, Position, Positions
from viper.source import raise_to

LAST = Position(1 << 62, 0, 0)
"""The position after all tuples with a time of their own.

At depth d of the topology, the last ticks and batches of bolts are at the time ``LAST.ts + d``. So they come
after the last ones of the bolts that feed them.
"""
REPEATS = Position(LAST.ts + (1 << 20), 0, 0)
"""The position from which on repeated tuples are placed, and tuples that still go round in cycles; it is
after all last ticks."""


class Lineage:
    """Places each output directly below the input that it was emitted for.

    Outputs that belong to no input (of ticks, timers and `initialize`) are placed below the task's frontier,
    or below its last input if that is later. So they never contradict a promise of the task. Outputs below
    one position are numbered consecutively, however many calls and batches they come in.

    Args:
        places_ahead: whether outputs may get positions before inputs that have been processed.
        distances: for a component that numbers its outputs below each input itself, returns the distances of
            these numbers from the last one; None where outputs are counted.
    """

    def __init__(
        self, *, places_ahead: bool = False, distances: Callable[[], array[int] | None] | None = None
    ) -> None:
        self.saturated = 0
        """Outputs for which the path had no room left."""
        self.frontier = LEAST
        """The position below which no input will come."""
        self.until_us = UNTOLD
        """The latest event time that producers have announced, although positions lie behind it."""
        self._inputs = Positions()
        self._first = 0
        self._descent = Descent()
        self._level_below_parent: Level | None = None
        """The level of outputs below the last parent; later outputs must not get places before them."""
        self._ahead, self._outputs_ahead = LEAST, 0
        """The position of the last outputs ahead of processed inputs, and their number."""
        self._places_ahead = places_ahead
        self._least_ahead = LEAST
        """None of them may come before this, where an output lies below its input."""
        self._distances = distances
        self._undone = array("Q")
        """The distances of outputs that are yet to be placed."""

    def come_until(self, until_us: int) -> None:
        """Note how far event time comes at most, in microseconds; UNTOLD where producers have not said it."""
        self.until_us = until_us

    def resume(self, floor: Position) -> None:
        """Continue where the task that died had come to.

        Outputs that would be below the floor are placed at it. Such are outputs for an input with the same
        position as one that the dead task had processed, and outputs of `initialize`.

        Args:
            floor: the position below which the dead task had promised no outputs.
        """
        self.frontier = floor
        self._descent.stay_above(floor)

    def keep_above(self, promised: Position) -> None:
        """Place at a position what would fall below it: it was promised that nothing would."""
        self._descent.stay_above(max(self._descent.floor, promised))

    def save(self) -> tuple[Any, ...]:
        """Below which position outputs were placed last, how many, and at which level; and likewise ahead of
        inputs, once any were."""
        level, bits, ahead = self._level_below_parent, None, None
        if level is not None:  # not astuple, which takes 9 us, and this is done behind each slice
            bits = level.offset, level.ordinal_bits, level.tag_bits, level.tag
        if self._ahead is not LEAST or self._least_ahead is not LEAST:
            ahead = tuple(self._ahead), self._outputs_ahead, tuple(self._least_ahead)
        return (*self._descent.noted(), bits, ahead)

    def restore(self, noted: tuple[Any, ...]) -> None:
        """Continue to number outputs where another process has noted that it was."""
        parent, children, level, ahead = noted
        if ahead is not None:
            last, self._outputs_ahead, least = ahead
            self._ahead, self._least_ahead = Position(*last), Position(*least)
        self._descent.go_below(Position(*parent), children)
        self._level_below_parent = None if level is None else Level(*level)

    def begin(self, inputs: Positions) -> None:
        """Set the positions of the inputs that are processed next."""
        self._inputs = inputs
        self._first = 0

    @property
    def current(self) -> Position:
        """The position of the input that is being processed: nothing will be placed below it any more."""
        return self._inputs[self._first]

    def place(self, fanout: Fanout, unfinished: bool, level: Level, out: Positions) -> None:
        """Place the outputs of the next inputs.

        Args:
            fanout: how many outputs each of these inputs has had.
            unfinished: whether the last input is still being processed; the next call then begins with it.
            level: the bits of the path that the component writes.
            out: the positions are appended here.
        """
        if fanout.inputs:
            self.saturated += self._descent.place(self._inputs, self._first, fanout, level, out)
            self._level_below_parent = level
            self._first += fanout.inputs - unfinished
        if self._distances is not None:
            self._number(self._distances(), level, out)

    def _number(self, told: array[int] | None, level: Level, out: Positions) -> None:
        """Number outputs as the component says."""
        if told is not None:
            self._undone = told  # what was left is of outputs that went nowhere
        if self._undone:
            count = len(out)
            self.saturated += out.number(self._undone[:count], level)
            del self._undone[:count]

    def number_anew(self) -> None:
        """Number outputs below the last input from 0 again, as their level differs."""
        self._descent.go_below(self._descent.parent, 0)

    def advance(self, frontier: Position) -> None:
        """Note that no input below a position will come."""
        self.frontier = frontier

    def place_beside(self, count: int, level: Level, out: Positions, at: Position | None = None) -> None:
        """Place outputs that belong to no input: below a position, or below the frontier.

        Args:
            count: the number of outputs.
            level: the bits of the path that the component writes.
            out: the positions are appended here.
            at: the position; None for the frontier.
        """
        before = self._descent.parent
        parent = max(at or self.frontier, before)
        children = self._descent.children if parent == before else 0
        if parent != before:
            self._level_below_parent = None
        beside = Positions()
        beside.append(parent)
        ends = array("I", [count])
        marked_at = self._level_below_parent or level
        self.saturated += out.extend_children(beside, 0, 1, ends, children, marked_at)
        self._descent.go_below(parent, children + count)
        if self._descent.floor > LEAST:
            raise_to(self._descent.floor, out)

    def placed_below(self, out: Positions) -> None:
        """Note that outputs were placed below their inputs: none ahead may come before the last one."""
        if self._places_ahead and len(out):
            self._least_ahead = out.last()

    def place_ahead(self, count: int, level: Level, out: Positions, at: Position) -> None:
        """Place outputs below a position although inputs after it have been processed.

        Args:
            count: the number of outputs.
            level: the bits of the path that the component writes.
            out: the positions are appended here.
            at: the position; it does not descend from call to call.

        If outputs lie below inputs after that position, as outputs of late tuples may, these are numbered
        on: none may come before them, nor have the position of one of them.
        """
        if self._least_ahead > at:
            self.place_beside(count, level, out, self._descent.parent)
            self.placed_below(out)
            return
        if at > self._ahead:
            self._ahead, self._outputs_ahead = at, 0
        parent = Positions()
        parent.append(self._ahead)
        ends = array("I", [count])
        self.saturated += out.extend_children(parent, 0, 1, ends, self._outputs_ahead, level)
        self._outputs_ahead += count
        if self._descent.floor > LEAST:
            raise_to(self._descent.floor, out)
