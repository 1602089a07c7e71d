"""Where threads of a component's own wait until their task has taken what they emitted."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Room:
    """Lets threads wait, and wakes them; costs the task nothing while none waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting = 0

    def wait_for(self, there_is_room: Callable[[], bool]) -> None:
        """Hold the calling thread until there is room."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(there_is_room)
            self._waiting -= 1

    def made(self) -> None:
        """There may be room now."""
        if self._waiting:
            with self._changed:
                self._changed.notify_all()
