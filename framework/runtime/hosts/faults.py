"""How a task recovers when its component raises, and how often a component may be restarted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from framework.runtime.hosts.host import Host
from framework.runtime.hosts.user_errors import OnError

__all__ = ["OnError", "Recovery", "RestartBudget"]

FIRST_PAUSE_S = 0.01
"""Pause before the second restart within the window; the first comes at once. It doubles each time."""
LONGEST_PAUSE_S = 5.0


class RestartBudget:
    """How often something may be restarted, and how long before each time.

    Args:
        tries: restarts within the window.
        window_s: its length in seconds.
    """

    def __init__(self, tries: int, window_s: float) -> None:
        self.tries = tries
        self.window_s = window_s
        self._recent: deque[float] = deque()

    def take(self, now_s: float) -> float | None:
        """Take one restart; returns the pause before it in seconds, or None if there are none left.

        Args:
            now_s: monotonic time in seconds.
        """
        while self._recent and self._recent[0] <= now_s - self.window_s:
            self._recent.popleft()
        used = len(self._recent)
        if used >= self.tries:
            return None
        self._recent.append(now_s)
        return min(FIRST_PAUSE_S * 2 ** (used - 1), LONGEST_PAUSE_S) if used else 0.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """How one task recovers from what its component raises."""

    configured: OnError | None
    """The user's choice (``viper.on.error``); None where the user made none."""
    budget: RestartBudget
    make_host: Callable[[], Host]
    """Makes the component anew; raises ComponentError where its constructor does."""

    def choice(self, host: Host) -> OnError:
        """What happens when a component raises."""
        if self.configured is not None:
            return self.configured
        return OnError.SKIP if host.survives_errors else host.on_error
