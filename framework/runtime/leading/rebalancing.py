"""Has a run move its bolts from worker to worker by itself (``topology.workers: auto``).

The model that predicts gains is imported only where a bolt may be moved, so that other runs begin sooner.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framework.model.config import Settings
from framework.model.errors import ViperError
from framework.planning import Plan
from framework.runtime.coordination.scaling import Scaling
from framework.runtime.leading.controlling import Counted
from framework.runtime.leading.observer import LONGEST_PAUSE_S, PERIOD_S, Observer
from framework.runtime.observation.statistics import RunStatistics

if TYPE_CHECKING:
    from framework.runtime.rebalancing import Look, Rebalancer, Sets

log = logging.getLogger("viperstorm.scale")

_LEAST_WINDOW_S, _LONGEST_WINDOW_S = 0.5, 2.0
"""Worker processes report ten times a second what they have done, so shorter windows say little."""
_WINDOWS = 30
"""In an interval between two changes."""


class Rebalancing:
    """Looks at what the tasks of a run do, and has those that are moved get tuples elsewhere.

    Args:
        plan: says what may be moved.
        settings: say how many seconds there are between two changes, at least.
        scaling: carries changes out.
        counted: where the run is looked at.
        statistics: returns the counts of the tasks.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        scaling: Scaling,
        counted: Counted,
        statistics: Callable[[], RunStatistics],
    ) -> None:
        self._scaling = scaling
        self._statistics = statistics
        self._counted = counted
        interval_s: float = settings["viper.rebalance.interval.secs"]
        self._window_s = min(max(interval_s / _WINDOWS, _LEAST_WINDOW_S), _LONGEST_WINDOW_S)
        self._rebalancer = _made(plan, interval_s)
        self._sets: Sets = {}
        self._before: Look | None = None
        """The look with which the next window begins; None at first, and behind a change."""

    @contextmanager
    def going_on(self, *, by_itself: bool) -> Iterator[None]:
        """For as long as the block runs, bolts are moved; from a thread of its own.

        Args:
            by_itself: whether nobody else moves them, as a run does that is replayed with the changes it had.
        """
        if self._rebalancer is None or not by_itself:
            yield
            return
        self._before, self._sets = None, self._scaling.now
        with Observer(self.look, lambda: None).observing():
            yield

    def look(self, now_s: float) -> float:
        """Look at the run, once its spouts have begun and all changes have been carried out.

        Args:
            now_s: the monotonic time in seconds.

        Returns:
            The seconds until the next look.
        """
        rebalancer = self._rebalancer
        if rebalancer is None or self._counted.is_ending():
            return LONGEST_PAUSE_S
        if not self._counted.elapsed_s(now_s):
            return PERIOD_S
        sets = self._scaling.now
        if sets != self._sets or not self._scaling.is_settled:
            self._sets, self._before = sets, None
            rebalancer.begin_anew(now_s, sets)
            return self._window_s
        try:
            self._see(rebalancer, now_s)
        except Exception as error:  # a run that could be faster goes on
            log.error("bolts stay where they are from now on: %s", error, exc_info=error)
            self._rebalancer = None
        return self._window_s

    def _see(self, rebalancer: Rebalancer, now_s: float) -> None:
        """Take note of what was done since the last look, and move what is worth it."""
        from framework.runtime.rebalancing import Look, window

        before, self._before = self._before, Look(now_s, self._statistics().tasks)
        done = window(before, self._before) if before is not None else None
        if done is not None:
            rebalancer.saw(self._sets, done)
            self._move(rebalancer, now_s)

    def _move(self, rebalancer: Rebalancer, now_s: float) -> None:
        move = rebalancer.move(now_s, self._sets)
        if move is None:
            return
        rebalancer.begin_anew(now_s, self._sets)
        self._before = None
        try:
            self._scaling.change({name: list(tasks) for name, tasks in move.sets.items()}, str(move))
        except ViperError as error:
            log.warning("bolts stay where they are: %s", error)


def _made(plan: Plan, interval_s: float) -> Rebalancer | None:
    """The rebalancer that decides; None if nothing can be moved, or no model predicts the gain."""
    if not plan.movable:
        return None
    from framework.optimizer.first_placement import problem_of
    from framework.optimizer.profiling import CannotBeModelled, machine_of
    from framework.runtime.rebalancing import Rebalancer, movable_of

    try:
        movable = movable_of(plan)
    except CannotBeModelled as error:
        log.warning("bolts stay where they are: %s", error)
        return None
    # Without a guess of what components cost, all of it may be taken for what is crossed: a word count whose
    # splitter and counter were apart was predicted to be 5.4 times as fast on one worker, and lost a third.
    guess = problem_of(plan, movable.workers).profile
    return Rebalancer(movable, machine_of(movable.workers), interval_s, guess)
