"""How long to leave alone what had nothing when it was asked."""

from __future__ import annotations


class GrowingPause:
    """Twice as long each time, until something comes.

    Args:
        first_s: the first one in seconds.
        longest_s: what it grows to.
    """

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._last_s = 0.0

    def end(self) -> None:
        """Something has come."""
        self._last_s = 0.0

    def next_s(self) -> float:
        """Nothing has; seconds until it is worth asking again."""
        self._last_s = min(max(2 * self._last_s, self._first_s), self._longest_s)
        return self._last_s
