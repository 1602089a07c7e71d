"""The interface of a controller, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measurements:
    """How a bolt has done in one period, in which its number of tasks stayed the same."""

    component: str
    elapsed_s: float
    """Seconds since the spouts were activated."""
    period_s: float
    """Seconds that the period has lasted."""
    tasks: int
    """How many tasks get tuples now."""
    most: int
    """How many there can be (``viper.parallelism.max``)."""
    rate: float
    """Tuples a second that its producers have emitted to it. A tuple that several of its tasks get counts
    once, here and below."""
    processed: float
    """Tuples a second that its tasks have taken."""
    busy: float
    """The share of the period for which a task was busy, from 0 to 1, on the average over its tasks."""
    backlog: int
    """Tuples that wait for it in its channels."""

    @property
    def cost_s(self) -> float:
        """Seconds of its tasks, all together, that a tuple has taken; 0 if none was taken."""
        return self.busy * self.tasks / self.processed if self.processed else 0.0

    @property
    def demand(self) -> float:
        """How many tasks would be busy all the time with what comes.

        More than there are, where tuples come faster than these take them.
        """
        return max(self.busy * self.tasks, self.rate * self.cost_s)

    def __str__(self) -> str:
        return f"busy {self.busy:.0%}, {self.rate:,.0f} tuples/s, {self.backlog:,} waiting"


class Controller:
    """Decides how many tasks one bolt has; each bolt has a controller of its own.

        class Nightly(Controller):
            def wished(self, now):
                return 8 if now.backlog > 10_000 else now.tasks

    What it raises is logged. It is not asked again then, and the run goes on.
    """

    def wished(self, now: Measurements) -> int:
        """How many tasks the bolt is to have; must be overridden.

        It is called from a thread of its own, once every ``viper.controller.period.secs``.

        Args:
            now: what was measured since the last call.

        Returns:
            The number. One below 1 stands for 1, and one above ``now.most`` for that.
        """
        raise NotImplementedError(f"{type(self).__name__} must define wished(self, now)")
