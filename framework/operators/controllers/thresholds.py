"""The threshold controller of STRETCH (V. Gulisano et al., IEEE TPDS 2022, section 8.4)."""

from __future__ import annotations

import math

from framework.operators.controllers.controller import Controller, Measurements

_ROUNDING = 1e-9
"""How much of a task a quotient may be above a whole number by rounding alone."""


class Thresholds(Controller):
    """Keeps the load of a bolt's tasks between two thresholds.

    The load of a task is the share of the time for which it is busy, above 1 where tuples come faster than
    they are taken. Where the average is above the upper threshold, the bolt gets the fewest tasks that bring
    it down to the target. Where it is below the lower one, it keeps the fewest that do not bring it above the
    target. Either number stays as long as the load does.
    """

    def __init__(
        self, upper: float = 0.9, target: float = 0.7, lower: float = 0.45, *, cooldown: float = 3.0
    ) -> None:
        """
        Args:
            upper: the upper threshold, above 0; the paper's, as are the other two.
            target: above 0 and up to `upper`.
            lower: from 0 to `target`.
            cooldown: seconds after a change, whoever has made it, in which the number of tasks stays.

        Raises:
            ValueError: they are not in that order.
        """
        if not 0 <= lower <= target <= upper or target <= 0:
            raise ValueError(
                f"lower={lower!r}, target={target!r} and upper={upper!r}: expected shares of the time in "
                "this order, as 0.45, 0.7 and 0.9"
            )
        if cooldown < 0:
            raise ValueError(f"cooldown={cooldown!r}: expected seconds from 0")
        self._upper, self._target, self._lower = upper, target, lower
        self._cooldown_s = cooldown
        self._tasks: int | None = None
        """The number at the last call."""
        self._changed_s = -math.inf
        """When it was first seen that this number was another."""

    def wished(self, now: Measurements) -> int:
        """As of `Controller`."""
        demand = self.demand(now)
        if self._is_cooling(now):
            return now.tasks
        load = demand / now.tasks
        if self._lower <= load <= self._upper:
            return now.tasks
        fitting = max(1, math.ceil(demand / self._target - _ROUNDING))
        return max(fitting, now.tasks) if load > self._upper else min(fitting, now.tasks)

    def demand(self, now: Measurements) -> float:
        """How many tasks would be busy all the time; to be overridden by what knows more."""
        return now.demand

    def _is_cooling(self, now: Measurements) -> bool:
        if self._tasks not in (None, now.tasks):
            self._changed_s = now.elapsed_s - now.period_s
        self._tasks = now.tasks
        return now.elapsed_s - self._changed_s < self._cooldown_s
