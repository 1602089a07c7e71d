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

    __slots__ = ("_before", "_bounds", "_late", "_rows", "end", "start")

    def __init__(
        self,
        rows: Sequence[Any],
        bounds: Bounds,
        before: Bounds,
        start: int | None,
        end: int,
        late: int | None = None,
    ) -> None:
        """
        Args:
            rows: all tuples that are kept, which are not changed while the window is processed.
            bounds: where the window's are among them.
            before: where those of the window are that fired before.
            start: as the attribute.
            end: as the attribute.
            late: where the late tuple is that has come to the window; None where none has.
        """
        self._rows = rows
        self._bounds = bounds
        self._before = before
        self._late = late
        self.start = start
        """Event time in microseconds behind which the window's tuples lie, those of a session from which on;
        None for a window of so many tuples."""
        self.end = end
        """Event time in microseconds up to which its tuples lie, those of a session before which; for a
        window that a tuple completes, the time of that."""

    @property
    def is_update(self) -> bool:
        """True if the window was over already, and a late tuple has come to it."""
        return self._late is not None

    @property
    def tuples(self) -> tuple[Any, ...]:
        """All its tuples."""
        first, behind = self._bounds
        return tuple(self._rows[first:behind])

    @property
    def new(self) -> tuple[Any, ...]:
        """The tuples that were not in the window before; for an update, the late tuple alone."""
        if self._late is not None:
            return (self._rows[self._late],)
        first, behind = self._bounds
        return tuple(self._rows[max(first, self._before[1]) : behind])

    @property
    def expired(self) -> tuple[Any, ...]:
        """The tuples of the window before that are not in this one; of an update none."""
        if self._late is not None:
            return ()
        first, behind = self._before
        return tuple(self._rows[first : min(behind, self._bounds[0])])

    def __len__(self) -> int:
        """Return the number of its tuples."""
        first, behind = self._bounds
        return behind - first

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} tuples, from {self.start} to {self.end}>"
