"""How an executor waits until there is something to do."""

from __future__ import annotations

from framework.runtime.control.stop import StopSignal
from viper.bell import Bell


class IdleStrategy:
    """Waits for a while, or until the end is asked for: all that the only executor of a run needs."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop

    def begin_look(self) -> bool:
        """Begin to look for something to do; whether others may have brought something since the last one."""
        return False

    def wait(self, timeout_s: float) -> None:
        """Wait until there may be something to do, at most so many seconds."""
        self._stop.wait(timeout_s)


class BellIdleStrategy(IdleStrategy):
    """Waits until another executor, or a request for the end, rings the executor's bell.

    A bell that rings after `begin_look` ends the wait that follows at once, so nothing is slept through.
    """

    def __init__(self, stop: StopSignal, bell: Bell) -> None:
        super().__init__(stop)
        self._bell = bell
        self._ticket: int | None = None
        stop.listen(bell.ring)

    def begin_look(self) -> bool:
        """Begin to look for something to do; whether others may have brought something since the last one."""
        before, self._ticket = self._ticket, self._bell.ticket()
        return self._ticket != before

    def wait(self, timeout_s: float) -> None:
        """Wait until there may be something to do, at most so many seconds."""
        if self._ticket is not None:
            self._bell.wait(self._ticket, timeout_s)
