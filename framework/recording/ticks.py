"""Ticks that followed the wall clock: when a task had them, so that it can have them there again."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from viper.position import Position


class TickKind(enum.StrEnum):
    """The kinds of things that can be due."""

    TICK = "tick"
    """A tick tuple (``topology.tick.tuple.freq.secs``)."""
    BATCH = "batch"
    """The batches of a batching component (its ``secs_between_batches``)."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Something that was due, and where in the order of its task's input it happened."""

    at: Position
    """Where its outputs are placed: the task's frontier, or its last input where that is later."""
    passed: bool
    """Whether an input at that very position had been processed already."""
    kind: TickKind = TickKind.TICK

    def is_before(self, input_at: Position) -> bool:
        """Whether it comes before the input at a position."""
        return input_at > self.at or (input_at == self.at and not self.passed)


class ReplayTicks:
    """Hands out the recorded ticks of one task as its input advances."""

    def __init__(self, ticks: Iterable[Tick]) -> None:
        self._coming = iter(ticks)
        self._next = next(self._coming, None)

    @property
    def next(self) -> Tick | None:
        """The tick that comes next; None if there are no more."""
        return self._next

    def due(self, input_at: Position) -> Iterator[Tick]:
        """The ticks that come before the input at a position, or before a frontier there.

        All ticks that are left come before `viper.position.END`.
        """
        while self._next is not None and self._next.is_before(input_at):
            due, self._next = self._next, next(self._coming, None)
            yield due
