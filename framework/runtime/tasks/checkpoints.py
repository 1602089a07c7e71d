"""What a task has to do with checkpoints: where it goes on, and what it reports for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class TaskCheckpoints:
    """Remembers what a task goes on from, and the attempt to make a checkpoint that it has reported for."""

    def __init__(self) -> None:
        self.restored: Mapping[str, Any] | None = None
        """What the task of another run had saved, if this one goes on from there."""
        self.reported = 0
        """The last attempt that the task has reported for."""
        self._on_report: Callable[[int, Mapping[str, Any]], None] = lambda attempt, saved: None
        self._on_want: Callable[[], None] = lambda: None

    def restore(self, saved: Mapping[str, Any]) -> None:
        """The task goes on from what that of another run has saved."""
        self.restored = saved

    def listen(
        self, on_report: Callable[[int, Mapping[str, Any]], None], on_want: Callable[[], None]
    ) -> None:
        """Say what to call with the attempt and what the task has saved, and when it wants a checkpoint."""
        self._on_report, self._on_want = on_report, on_want

    def want(self) -> None:
        """Ask for a checkpoint before its time, as something waits for one."""
        self._on_want()

    def report(self, attempt: int, save: Callable[[], Mapping[str, Any]]) -> None:
        """Report what a function saves, once in each attempt."""
        if self.reported != attempt:
            self.reported = attempt
            self._on_report(attempt, save())
