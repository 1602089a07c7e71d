"""Places in partitions, at which another process, or another run, can continue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

Place: TypeAlias = tuple[int, ...]
"""A place in a partition: the time of the last row in microseconds, and the number of rows of that time.

The values of a `Mark` follow, if rows have offsets.
"""
WHOLE: Final[Place] = (2**63 - 1, 0)
"""The place in a partition that was read to its end."""
UNKNOWN: Final[Place] = (-(2**63), 0)
"""An unknown place: the process that read the partition has died, and no row has come since."""
BEGINNING: Final[Place] = (-(2**63) + 1, 0)
"""The place before the first row, where only its offset is known."""


class Mark(NamedTuple):
    """The place in a partition whose rows have offsets."""

    last: int
    """The offset of the last row that was brought; rows of one time are brought by their offsets."""
    low: int
    """The least offset that may be of a row that was not brought: whoever continues reads from there."""
    latest_us: int
    """The latest event time of all rows below that offset."""
    frontier_us: int
    """Rows that are earlier were late, where that offset was read."""


def mark_of(place: Place | None) -> Mark | None:
    """The mark that a place has; None where it has none."""
    return Mark(*place[2:]) if place is not None and len(place) > 2 else None


def place_of(found: Sequence[int]) -> Place:
    """A place as JSON holds it.

    Raises:
        ValueError: these are no whole numbers, or too many or too few.
        TypeError: it is no sequence of numbers.
    """
    place = tuple(int(value) for value in found)
    if len(place) not in (2, 2 + len(Mark._fields)):
        raise ValueError(f"{found!r} is no place in a partition")
    return place
