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
LONGEST_UNLIMITED_PAUSE_S = 30.0
"""The longest pause where restarts have no limit."""
_MOST_DOUBLINGS = 20


class RestartBudget:
    """How often something may be restarted, and how long before each time.

    Args:
        tries: restarts within the window; None for any number, with longer pauses.
        window_s: its length in seconds.
    """

    def __init__(self, tries: int | None, window_s: float) -> None:
        self.tries = tries
        self.window_s = window_s
        self._recent: deque[float] = deque()
        self._pause_s = 0.0

    def take(self, now_s: float) -> float | None:
        """Take one restart; returns the pause before it in seconds, or None if there are none left.

        Args:
            now_s: monotonic time in seconds.
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
        """How the last restart goes on from the ones before, in words that follow "it is restarted".

        Empty for a first one, and where there is a limit, as the end of the run will be noticed then.

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
