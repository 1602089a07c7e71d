"""Controllers, which decide how many tasks a bolt has during the run; see ``docs/controllers.md``.

`Thresholds` and `Predictive` are those of STRETCH (V. Gulisano et al., IEEE TPDS 2022, sections 8.4 and 8.5).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.model.arguments import fitted
from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import unknown

__all__ = ["Controller", "Measurements", "Predictive", "Schedule", "Thresholds"]


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measured load of a bolt in one period, in which its number of tasks stayed the same."""

    component: str
    elapsed_s: float
    """Seconds since the spouts were activated."""
    period_s: float
    """Seconds that the period has lasted."""
    tasks: int
    """The number of tasks that get tuples at present."""
    most: int
    """The largest number of tasks that it can have (``viper.parallelism.max``)."""
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
        """The number of tasks that the present input would keep busy all the time.

        It is above the present number if tuples come faster than these tasks take them.
        """
        return max(self.busy * self.tasks, self.rate * self.cost_s)

    def __str__(self) -> str:
        return f"busy {self.busy:.0%}, {self.rate:,.0f} tuples/s, {self.backlog:,} waiting"


class Controller:
    """Decides how many tasks one bolt has; each bolt has a controller of its own.

        class Nightly(Controller):
            def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_methods_await_nothing(cls)

    def wished(self, now):
                return 8 if now.backlog > 10_000 else now.tasks

    An error that it raises is logged. It is not asked again then, and the run continues.
    """

    def wished(self, now: Measurements) -> int:
        """Return the number of tasks that the bolt is to have; must be overridden.

        It is called from a thread of its own, once every ``viper.controller.period.secs``.

        Args:
            now: what was measured since the last call.

        Returns:
            The number. One below 1 stands for 1, and one above ``now.most`` for that.
        """
        raise NotImplementedError(f"{type(self).__name__} must define wished(self, now)")


_ROUNDING = 1e-9
"""The part of a task by which a quotient may exceed a whole number through rounding alone."""


class Thresholds(Controller):
    """Keeps the load of a bolt's tasks between two thresholds.

    The load of a task is the share of the time for which it is busy, above 1 where tuples come faster than
    they are taken. If the average is above the upper threshold, the bolt gets the fewest tasks that bring it
    down to the target. If it is below the lower one, it keeps the fewest that do not bring it above the
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
        """The time at which a changed number of tasks was first seen."""

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
        """Return the number of tasks that would be busy all the time; controllers that know more override
        it."""
        return now.demand

    def _is_cooling(self, now: Measurements) -> bool:
        if self._tasks not in (None, now.tasks):
            self._changed_s = now.elapsed_s - now.period_s
        self._tasks = now.tasks
        return now.elapsed_s - self._changed_s < self._cooldown_s


class Predictive(Thresholds):
    """Keeps the load between two thresholds that the tasks are about to have.

    The work to come consists of the tuples that wait, which are to be gone by a horizon, and of the tuples
    that come meanwhile at the present rate. A tuple is assumed to cost as much as tuples have cost so far. In
    a join over a window each tuple is compared with the tuples in the window. So its cost follows their
    number: a new rate makes it dearer or cheaper until the window has filled with that rate (V. Gulisano et
    al., "Performance Modeling of Stream Joins", DEBS 2017). With `window` that is foreseen.
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
        """The cost of a tuple in seconds; in a join, the cost for each tuple in the window."""
        self._came: deque[tuple[float, float]] = deque()
        """Of each period that the window reaches back to, when it ended and how many tuples came in it."""

    def demand(self, now: Measurements) -> float:
        """Return the number of tasks that would be busy all the time up to the horizon."""
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
        """Estimate the tuples in the window so many seconds ahead, at least 1; 1 if there is no window."""
        if not self._window_s:
            self._came.clear()
            return 1.0
        while self._came[0][0] <= now.elapsed_s - self._window_s:
            self._came.popleft()
        since_s = now.elapsed_s + ahead_s - self._window_s
        held = sum(came for ended_s, came in self._came if ended_s > since_s)
        return max(1.0, held + now.rate * min(ahead_s, self._window_s))


class Schedule(Controller):
    """Has a bolt work with numbers of tasks that are given by hand."""

    def __init__(self, steps: Sequence[Sequence[float]]) -> None:
        """
        Args:
            steps: pairs of seconds since the spouts were activated, ascending, and the number of tasks from
                then on, as ``[[0, 2], [60, 5]]``. Before the first of them the number stays.

        Raises:
            ValueError: they are no such pairs.
        """
        try:
            self._steps = [(float(at_s), int(tasks)) for at_s, tasks in steps]
        except (TypeError, ValueError):
            raise ValueError(f"steps={steps!r}: expected pairs of seconds and tasks") from None
        times = [at_s for at_s, _ in self._steps]
        if times != sorted(times) or any(tasks < 1 for _, tasks in self._steps):
            raise ValueError(f"steps={steps!r}: expected ascending seconds, and numbers of tasks from 1")

    def wished(self, now: Measurements) -> int:
        """As of `Controller`."""
        begun = [tasks for at_s, tasks in self._steps if at_s <= now.elapsed_s]
        return begun[-1] if begun else now.tasks


BY_NAME: Mapping[str, type[Controller]] = {
    "thresholds": Thresholds,
    "predictive": Predictive,
    "schedule": Schedule,
}
"""The controllers that need no dotted path."""

Given = str | Mapping[str, Any]
"""A name or the dotted path of a class, alone or as ``class`` beside its ``args``."""


def name_of(given: Given) -> str:
    """The name or the path of the class."""
    return given if isinstance(given, str) else str(given["class"])


def make_controller(given: Given) -> Controller:
    """A new controller.

    Raises:
        LoadError: there is no such class, it is no controller, or it does not take these arguments.
    """
    name = name_of(given)
    args: Mapping[str, Any] = {} if isinstance(given, str) else given.get("args") or {}
    cls = _class_named(name)
    try:
        positional, keywords = fitted(cls, (), args)
        return cls(*positional, **keywords)
    except LoadError as error:
        raise LoadError(f"{name}: {error}") from error
    except Exception as error:
        raise LoadError(f"{name}: {type(error).__name__}: {error}") from error


def _class_named(name: str) -> type[Controller]:
    if name in BY_NAME:
        return BY_NAME[name]
    if "." not in name:
        raise LoadError(f"{unknown('controller', name, BY_NAME)}; or the dotted path of a class of your own")
    cls = import_class(name)
    if not issubclass(cls, Controller):
        raise LoadError(f"{name} is no controller: expected a subclass of viperstorm.controllers.Controller")
    return cls
