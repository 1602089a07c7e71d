"""A window as `process_window` gets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Bounds = tuple[int, int]
"""The index of a first tuple, and that of the one behind the last."""


class TupleWindow:
    """The tuples of one window, in their order, and what has changed since the one that fired before.

    The three sequences are made when they are asked for first, and may be kept.
    """

    __slots__ = ("_before", "_bounds", "_rows", "end", "is_update", "start")

    def __init__(
        self,
        rows: Sequence[Any],
        bounds: Bounds,
        before: Bounds,
        start: int | None,
        end: int,
        *,
        is_update: bool = False,
    ) -> None:
        """
        Args:
            rows: all tuples that are kept, which are not changed while the window is processed.
            bounds: where the window's are among them.
            before: where those of the window are that fired before.
            start: as the attribute.
            end: as the attribute.
            is_update: as the attribute.
        """
        self._rows = rows
        self._bounds = bounds
        self._before = before
        self.start = start
        """Event time in microseconds behind which the window's tuples lie, those of a session from which on;
        None for a window of so many tuples."""
        self.end = end
        """Event time in microseconds up to which its tuples lie, those of a session before which; for a
        window that a tuple completes, the time of that."""
        self.is_update = is_update
        """Whether the window has fired already, and a late tuple has come to it."""

    @property
    def tuples(self) -> tuple[Any, ...]:
        """All its tuples."""
        first, behind = self._bounds
        return tuple(self._rows[first:behind])

    @property
    def new(self) -> tuple[Any, ...]:
        """Those that were not in the window before; of an update the late ones alone."""
        first, behind = self._bounds
        return tuple(self._rows[max(first, self._before[1]) : behind])

    @property
    def expired(self) -> tuple[Any, ...]:
        """The tuples of the window before that are not in this one."""
        first, behind = self._before
        return tuple(self._rows[first : min(behind, self._bounds[0])])

    def __len__(self) -> int:
        """How many tuples it has."""
        first, behind = self._bounds
        return behind - first

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tuples, from {self.start} to {self.end}>"
