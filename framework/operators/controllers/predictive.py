"""The controller of STRETCH that looks ahead (V. Gulisano et al., IEEE TPDS 2022, section 8.5)."""

from __future__ import annotations

from collections import deque

from framework.operators.controllers.controller import Measurements
from framework.operators.controllers.thresholds import Thresholds


class Predictive(Thresholds):
    """Keeps the load between two thresholds that the tasks are about to have.

    The work to come is that of the tuples that wait, which are to be gone by a horizon, and of those that
    come meanwhile at the rate of now. A tuple costs what one has cost so far. In a join over a window each
    tuple is compared with those in the window, so that its cost follows what the window holds: a new rate
    makes it dearer or cheaper until the window has filled with that rate (V. Gulisano et al., "Performance
    Modeling of Stream Joins", DEBS 2017). With `window` that is foreseen.
    """

    def __init__(
        self,
        upper: float = 0.8,
        target: float = 0.75,
        lower: float = 0.7,
        *,
        horizon: float = 5.0,
        window: float = 0.0,
        smoothing: float = 0.5,
        cooldown: float = 3.0,
    ) -> None:
        """
        Args:
            upper: as of `Thresholds`; the paper has 0.8 and 0.7 as thresholds, and no word of the target.
            target: likewise.
            lower: likewise.
            horizon: seconds to look ahead.
            window: seconds of a join's window; 0 where each tuple costs the same.
            smoothing: the weight of the last period in what a tuple costs, above 0 and up to 1.
            cooldown: as of `Thresholds`.

        Raises:
            ValueError: one of them cannot be.
        """
        super().__init__(upper, target, lower, cooldown=cooldown)
        if horizon <= 0 or window < 0:
            raise ValueError(
                f"horizon={horizon!r} and window={window!r}: expected seconds above 0, and from 0"
            )
        if not 0 < smoothing <= 1:
            raise ValueError(f"smoothing={smoothing!r}: expected more than 0 and up to 1")
        self._horizon_s, self._window_s = horizon, window
        self._smoothing = smoothing
        self._unit_s: float | None = None
        """What a tuple costs, of a join for each tuple in the window."""
        self._came: deque[tuple[float, float]] = deque()
        """Of each period that the window reaches back to, when it ended and how many tuples came in it."""

    def demand(self, now: Measurements) -> float:
        """How many tasks would be busy all the time up to the horizon."""
        self._came.append((now.elapsed_s, now.rate * now.period_s))
        self._learn(now)
        if self._unit_s is None:
            return now.demand
        cost_s = self._unit_s * self._held(now, self._horizon_s)
        return (now.rate + now.backlog / self._horizon_s) * cost_s

    def _learn(self, now: Measurements) -> None:
        """Take note of what tuples have cost in the last period."""
        if not now.cost_s:
            return
        unit_s = now.cost_s / self._held(now)
        before_s = unit_s if self._unit_s is None else self._unit_s
        self._unit_s = before_s + self._smoothing * (unit_s - before_s)

    def _held(self, now: Measurements, ahead_s: float = 0.0) -> float:
        """How many tuples the window holds so many seconds ahead, at least 1; 1 where there is no window."""
        if not self._window_s:
            self._came.clear()
            return 1.0
        while self._came[0][0] <= now.elapsed_s - self._window_s:
            self._came.popleft()
        since_s = now.elapsed_s + ahead_s - self._window_s
        held = sum(came for ended_s, came in self._came if ended_s > since_s)
        return max(1.0, held + now.rate * min(ahead_s, self._window_s))
