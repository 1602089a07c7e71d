"""Recovery of a task whose component has raised, and the budget for restarts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.hosts.user_errors import OnError

__all__ = ["OnError", "Recovery", "RestartBudget"]

FIRST_PAUSE_S = 0.01
"""Pause in seconds before the second restart within the window; the first restart is immediate, and pauses
double from the second one on."""
LONGEST_PAUSE_S = 5.0
"""The longest pause in seconds where the number of restarts is limited."""
LONGEST_UNLIMITED_PAUSE_S = 30.0
"""The longest pause in seconds where it is not."""
_MOST_DOUBLINGS = 20


class RestartBudget:
    """Limits the restarts of a component or of a worker process, and makes the pauses before them grow.

    Args:
        tries: restarts that are allowed within the window; None for any number, with longer pauses.
        window_s: the length of the window in seconds.
    """

    def __init__(self, tries: int | None, window_s: float) -> None:
        self.tries = tries
        self.window_s = window_s
        self._recent: deque[float] = deque()
        self._pause_s = 0.0

    def take(self, now_s: float) -> float | None:
        """Take one restart from the budget.

        Args:
            now_s: monotonic time in seconds.

        Returns:
            The pause before the restart in seconds; None if no restart is left.
        """
        while self._recent and self._recent[0] <= now_s - self.window_s:
            self._recent.popleft()
        used = len(self._recent)
        if self.tries is not None and used >= self.tries:
            return None
        self._recent.append(now_s)
        longest_s = LONGEST_UNLIMITED_PAUSE_S if self.tries is None else LONGEST_PAUSE_S
        self._pause_s = min(FIRST_PAUSE_S * 2 ** min(used - 1, _MOST_DOUBLINGS), longest_s) if used else 0.0
        return self._pause_s

    def in_words(self, key: str) -> str:
        """Describe the restarts so far, in words that follow "it is restarted".

        The text is empty for a first restart. It is empty as well where there is a limit: when that is
        reached, the run ends, which its user will notice.

        Args:
            key: the configuration key that sets a limit.
        """
        if self.tries is not None or len(self._recent) < 2:
            return ""
        return (
            f" after {self._pause_s:.2g} s, {len(self._recent)} times so far within {self.window_s:g} s; "
            f"this run goes on restarting it, as Storm does ({key} sets a limit)"
        )


@dataclass(frozen=True, slots=True)
class Recovery:
    """The rules by which one task recovers from exceptions of its component."""

    configured: OnError | None
    """The user's choice (``viper.on.error``); None where the user made none."""
    budget: RestartBudget
    make_host: Callable[[], Host]
    """Constructs the component again; raises ComponentError if its constructor raises."""

    def choice(self, host: Host) -> OnError:
        """Decide what happens when a component raises: the user's choice, or else that of its host."""
        if self.configured is not None:
            return self.configured
        return OnError.SKIP if host.survives_errors else host.on_error
