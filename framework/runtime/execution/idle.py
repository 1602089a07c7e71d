"""Idle strategies: an executor waits by one while none of its tasks is runnable."""

from __future__ import annotations

from framework.runtime.coordination.stop import StopSignal
from viper.bell import Bell


class IdleStrategy:
    """Waits for some time, or until the run is asked to stop; that is enough for a run with one executor."""

    def __init__(self, stop: StopSignal) -> None:
        self._stop = stop

    def begin_look(self) -> bool:
        """Note that the executor looks for runnable tasks now.

        Returns:
            Whether other executors may have made tasks runnable since the last look.
        """
        return False

    def wait(self, timeout_s: float) -> None:
        """Wait until a task may be runnable, for at most `timeout_s` seconds."""
        self._stop.wait(timeout_s)

    def wake(self) -> None:
        """End the wait that is going on, or the next one; from any thread."""
        self._stop.wake()

    def let_go(self) -> None:
        """Have no request wake anybody any more, as the run has ended; who asks may ask other runs, too."""


class BellIdleStrategy(IdleStrategy):
    """Waits until the executor's bell is rung, by another executor or because the run is asked to stop.

    A bell that is rung after `begin_look` ends the following wait at once, so no ring is slept through.

    Args:
        stop: rings the bell when the run is asked to stop.
        bell: the executor's.
    """

    def __init__(self, stop: StopSignal, bell: Bell) -> None:
        super().__init__(stop)
        self._bell = bell
        self._ticket: int | None = None
        stop.listen(bell.ring)

    def begin_look(self) -> bool:
        """Take a ticket of the bell; return whether it was rung since the last one was taken."""
        before, self._ticket = self._ticket, self._bell.ticket()
        return self._ticket != before

    def wait(self, timeout_s: float) -> None:
        """Wait until the bell has been rung since `begin_look`, for at most `timeout_s` seconds."""
        if self._ticket is not None:
            self._bell.wait(self._ticket, timeout_s)

    def wake(self) -> None:
        """End the wait that is going on, or the next one; from any thread."""
        self._bell.ring()

    def let_go(self) -> None:
        """As in the base class."""
        self._stop.unlisten(self._bell.ring)
