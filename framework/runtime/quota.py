"""How many tuples the spouts of a run may still emit together."""

from __future__ import annotations


class Quota:
    """A bound on the tuples that all spouts emit (``--max-tuples``); None is none."""

    def __init__(self, limit: int | None = None) -> None:
        self._left = limit

    @property
    def used_up(self) -> bool:
        """Whether no more may be emitted."""
        return self._left is not None and self._left <= 0

    def share(self, wanted: int) -> int:
        """As many as are wanted, or as are left."""
        return wanted if self._left is None else min(wanted, max(self._left, 0))

    def use(self, count: int) -> None:
        """So many have been emitted."""
        if self._left is not None:
            self._left -= count
