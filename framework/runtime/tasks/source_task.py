"""What all tasks that bring tuples have in common, wherever they have them from."""

from __future__ import annotations

from framework.runtime.control.stop import StopReason
from framework.runtime.tasks.task import RunningTask


class SourceTask(RunningTask):
    """One source partition."""

    waiting_for = None
    polled_again_at = 0.0
    """Monotonic time in seconds before which an idle one is left alone."""

    @property
    def brings_nothing(self) -> bool:
        """Whether it has ended, or only waits to hear what has become of what it has brought."""
        return self.finished

    @property
    def looks_at_s(self) -> float:
        """Monotonic time in seconds at which a turn would be of use although nothing has come."""
        if self.restart_at_s is not None or self.ending or not self.active:
            return super().looks_at_s
        return self.polled_again_at

    active = False
    """Whether tuples are asked for."""
    _asking = False
    """Whether the component is in a callback that brings tuples."""

    def activate(self) -> None:
        """Tuples are asked for from now on."""
        self.active = True

    def deactivate(self) -> None:
        """No more tuples are asked for, until `activate`."""
        self.active = False

    def stop_asked(self, reason: StopReason, now_s: float) -> None:
        """The run is to drain; called once, at a monotonic time in seconds."""

    def stops(self, now_s: float) -> bool:
        """As in the base class."""
        return True

    def leaves_now(self, stopped_at_s: float) -> bool:
        """Whether a callback that goes on emitting although the run is to stop has had its chance.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        return False

    def is_left_waiting(self, stopped_at_s: float) -> bool:
        """Whether it is being asked for tuples, and has not come back although the run is to stop.

        Args:
            stopped_at_s: as for `leaves_now`.
        """
        return self._asking and self.leaves_now(stopped_at_s)

    def pass_time(self) -> None:
        """Let the time of a live source go on while it has nothing to say."""

    def _wants_turn(self, now_s: float) -> bool:
        return self.active and now_s >= self.polled_again_at
