"""Tuples on their way: what one task emits at once, and the jumbo tuples that it becomes."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from viper.payload import Payload
from viper.position import Positions


class Emission(NamedTuple):
    """Tuples that one task emits, each at its position, before they are divided among the consumers."""

    payload: Payload
    """Their values, in the order of their emission, which is that of their positions."""
    tags: bytes | None
    """For each tuple the index of its stream as native uint16; None where the task has but one stream."""
    positions: Positions
    """One per tuple. They stay as they are until the next emission has been made; whoever makes emissions may
    use the object again for the one after that."""
    may_be_tracked: bool = False
    """True if any of them may belong to a tree; who makes the emission knows, and to look would cost more."""


class Jumbo:
    """The contents of a jumbo tuple, except for the positions of its tuples, which are in C memory.

    It is handed over by reference, often to several readers, so it must not be changed once it was added.

    Args:
        payload: the values of its tuples.
        tags: for each tuple the index of its stream, as ``array("H")``; None where there is only one.
        mask_shift: of addressed rows (`viper.addressed`), by which their readers skip those that do not
            concern them; None for others.
    """

    __slots__ = ("encoded", "mask_shift", "payload", "size", "tags")

    def __init__(
        self, payload: Payload, tags: array[int] | None = None, mask_shift: int | None = None
    ) -> None:
        self.payload = payload
        self.size = len(payload)
        """The number of its tuples."""
        self.tags = tags
        self.mask_shift = mask_shift
        self.encoded: bytes | None = None
        """Its encoding for other processes, kept while a gate is full so that it is made only once."""

    def __repr__(self) -> str:
        return f"Jumbo({self.size} tuples)"

    def behind(self, count: int) -> Jumbo:
        """All its tuples but the first so many."""
        tags = None if self.tags is None else self.tags[count:]
        return Jumbo(self.payload.slice(count, self.size - count), tags, self.mask_shift)

    def alone(self, index: int) -> Jumbo:
        """One of its tuples."""
        tags = None if self.tags is None else self.tags[index : index + 1]
        return Jumbo(self.payload.slice(index, 1), tags, self.mask_shift)
