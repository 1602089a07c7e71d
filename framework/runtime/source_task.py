"""What all tasks that bring tuples have in common, wherever they have them from."""

from __future__ import annotations

from abc import abstractmethod

from framework.runtime.task import RunningTask


class SourceTask(RunningTask):
    """One source partition."""

    consumes = False
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
        return float("inf") if self.ending else min(super().looks_at_s, self.polled_again_at)

    @abstractmethod
    def activate(self) -> None:
        """Tell the component that tuples will be asked for."""

    def leaves_now(self, stopped_at_s: float) -> bool:
        """Whether a callback that goes on emitting although the run is to stop has had its chance.

        Args:
            stopped_at_s: monotonic time in seconds at which the stop was asked for.
        """
        return False

    def pass_time(self) -> None:
        """Let the time of a live source go on while it has nothing to say."""

    def _wants_turn(self, now_s: float) -> bool:
        return now_s >= self.polled_again_at
