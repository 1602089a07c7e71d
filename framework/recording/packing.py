"""Positions as bytes: 24 for each, a signed and two unsigned words in the machine's byte order."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from viper.position import Position, Positions

_WORDS = Struct("=qQQ")
SIZE = _WORDS.size
"""Bytes of one position."""


def packed(positions: Positions) -> bytes:
    """All positions of an array."""
    return positions.to_bytes()


def unpacked(data: bytes) -> Iterator[Position]:
    """The positions that were packed."""
    return map(Position._make, _WORDS.iter_unpack(data))


def last_packed(data: bytes) -> Position:
    """The last of some packed positions; there must be one."""
    return Position._make(_WORDS.unpack_from(data, len(data) - SIZE))


def is_ordered(data: bytes, after: Position) -> bool:
    """Whether packed positions do not descend, beginning with one that came before them."""
    previous: tuple[int, ...] = after
    for position in _WORDS.iter_unpack(data):
        if position < previous:
            return False
        previous = position
    return True
