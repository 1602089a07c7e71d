"""The untracked tuples that a component has not answered, which decides itself when it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST_KEPT = 1_000_000
"""Tuples whose ids are kept. Of a component that never answers any, the others are only counted."""


class Unanswered:
    """Knows which tuples are unanswered; answers may come from any thread.

    Args:
        most: the number of tuples whose ids are kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._open: dict[str, None] = {}
        self._given_up = 0
        """Tuples whose ids are not kept any more."""
        self._on_last: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._open) + self._given_up

    def watch(self, call: Callable[[], None]) -> None:
        """Have something called whenever the last unanswered tuple is answered, in the answering thread."""
        self._on_last = call

    def receive(self, tup: Any) -> None:
        """The component gets a tuple."""
        self._open[tup.id] = None
        if len(self._open) > self._most:
            self._open.pop(next(iter(self._open)), None)
            self._given_up += 1

    def answer(self, tup: Any) -> None:
        """A tuple, given itself or by its id, is answered; or nobody waits for that any more."""
        if not self._open:  # as always where tuples are tracked
            return
        tup_id = tup if isinstance(tup, str) else str(tup.id)
        if self._open.pop(tup_id, 0) is None and not self:
            self._on_last()

    def let_go(self) -> int:
        """Forget all of them, as the component is gone; returns how many they were."""
        count = len(self)
        self._open, self._given_up = {}, 0
        return count
