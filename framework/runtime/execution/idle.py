"""How an executor waits until there is something to do."""

from __future__ import annotations

from framework.runtime.control.stop import StopSignal
from viper.bell import Bell


class Rest:
    """Rests for a while, or until the end is asked for: all that an executor without others needs."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop

    def begin_look(self) -> bool:
        """Called before looking for something to do; whether others may have brought something since."""
        return False

    def wait(self, timeout_s: float) -> None:
        """Rest."""
        self._stop.wait(timeout_s)


class BellRest(Rest):
    """Rests until other executors, or those who ask for the end, ring the executor's bell.

    What is rung for after `begin_look` ends the rest that follows at once, so nothing is slept through.
    """

    def __init__(self, stop: StopSignal, bell: Bell) -> None:
        super().__init__(stop)
        self._bell = bell
        self._ticket: int | None = None
        stop.listen(bell.ring)

    def begin_look(self) -> bool:
        """Called before looking for something to do; whether others may have brought something since."""
        before, self._ticket = self._ticket, self._bell.ticket()
        return self._ticket != before

    def wait(self, timeout_s: float) -> None:
        """Rest."""
        if self._ticket is not None:
            self._bell.wait(self._ticket, timeout_s)
