"""When an idle source is asked again."""

from __future__ import annotations

FIRST_PAUSE_S = 0.00002
"""How long an idle source is left alone at first; twice as long each time, up to a bound.

So a tuple waits no longer than there had been none before it, and at any rate at most for the bound.
"""


class PollTimer:
    """Says when a source is to be asked again that had nothing when it was asked last.

    Args:
        longest_s: longest pause in seconds.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._pause_s = 0.0
        self.due_at_s = 0.0
        """Monotonic time in seconds before which the source is left alone."""

    def is_due(self, now_s: float) -> bool:
        """Whether the source may be asked at a monotonic time in seconds."""
        return now_s >= self.due_at_s

    def found(self) -> None:
        """The source had something: it may be asked again at once."""
        self._pause_s = self.due_at_s = 0.0

    def found_nothing(self, now_s: float) -> None:
        """The source had nothing at a monotonic time in seconds: leave it alone for a while."""
        self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), self._longest_s)
        self.due_at_s = now_s + self._pause_s

    def ask_at(self, due_at_s: float) -> None:
        """Have the source asked at a monotonic time in seconds, when it is known to have something."""
        self.due_at_s = due_at_s
