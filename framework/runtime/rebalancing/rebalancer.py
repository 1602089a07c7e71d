"""Decides when bolts of a run move, and where to."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from framework.optimizer.costs import Deployment, Machine, Prediction, Profile, predict
from framework.optimizer.profiling import Sample
from framework.optimizer.profiling.gains import gain
from framework.planning.routing import TaskSet
from framework.runtime.rebalancing.history import History, rate_of
from framework.runtime.rebalancing.movable import Movable, Sets

LEAST_GAIN: Final = 1.1
"""The least factor by which a change has to speed up a run, with all that is uncertain."""
LEAST_WINDOWS: Final = 5
"""The least windows that are measured after a change before the next one."""
BUSY: Final = 0.7
"""The part of its time for which the busiest worker computes in a run that its workers hold back. One whose
spouts bring less than could be processed gains nothing by a change."""
MOST_DOUBLINGS: Final = 6
"""The most doublings of the time between two changes."""
_T_95: Final = 2.8
"""The quantile of Student's distribution for 95 % intervals around the mean of five values."""


@dataclass(frozen=True, slots=True)
class Move:
    """A change that is worth making."""

    sets: Sets
    """The tasks of the bolts that move."""
    gain: float
    """The factor by which the run is predicted to become faster."""
    least: float
    """The lower end of the interval around that."""
    is_back: bool = False
    """True if it undoes the last one, which has made the run slower."""

    def __str__(self) -> str:
        how = "it was" if self.is_back else "predicted"
        return f"rebalancing: {how} {self.gain:.2f} times as fast, {self.least:.2f} at the least"


@dataclass(frozen=True, slots=True)
class _Made:
    """The last change, until its effect is known."""

    deployment: Deployment
    """The deployment after it."""
    sets: Sets
    """The earlier tasks of the bolts that were moved."""
    rates: Sequence[float]
    """Tuples of spouts a second in windows before it."""


class Rebalancer:
    """Learns from windows of a run the costs of its components, and which deployment would be faster.

    Each deployment that the run has had is rated by its measured speed, not only by the model. So a
    deployment that has disappointed is left once, and is not tried again while costs stay the same. The pause
    before the next change grows with the number of disappointments in a row.

    Args:
        movable: says what may be moved, and where to.
        machine: where the run is.
        interval_s: seconds between two changes, at least; one that has made the run slower is undone before.
        guess: what components cost, as long as nobody has measured it.
    """

    def __init__(
        self, movable: Movable, machine: Machine, interval_s: float, guess: Profile | None = None
    ) -> None:
        self._movable = movable
        self._machine = machine
        self._interval_s = interval_s
        self._history = History(movable.shape, machine, guess)
        self._made: _Made | None = None
        self._disappointments = 0
        """Changes in a row that were undone, up to `MOST_DOUBLINGS`. Each doubles the time between two."""
        self._since = 0
        """Windows since the last change, or the last time that none was worth it."""
        self._may_from_s = -math.inf
        """The time from which on the next change may be made."""

    def begin_anew(self, now_s: float, sets: Sets) -> None:
        """Note that the run continues with other tasks from now on, whoever has changed them.

        Args:
            now_s: the time in seconds.
            sets: the tasks.
        """
        self._since = 0
        self._may_from_s = now_s + self._interval_s * 2**self._disappointments
        self._history.forget(self._movable.deployment(sets))

    def saw(self, sets: Sets, window: Sample) -> None:
        """Note a window in which these tasks got tuples throughout, with what was done in it."""
        self._since += 1
        self._history.add(self._movable.deployment(sets), window)

    def move(self, now_s: float, sets: Sets) -> Move | None:
        """Return the change that is worth making now.

        Args:
            now_s: the time in seconds.
            sets: the tasks that get tuples.

        Returns:
            None if there is none, or if it is too soon to say.
        """
        is_early = now_s < self._may_from_s
        if self._since < LEAST_WINDOWS or (is_early and self._made is None):
            return None
        self._since = 0
        deployment = self._movable.deployment(sets)
        windows = self._history.of(deployment)[-2 * LEAST_WINDOWS :]
        if len(windows) < LEAST_WINDOWS:
            return None
        self._history.settle(deployment)
        if (back := self._back(deployment, [rate_of(window) for window in windows])) is not None:
            return back
        if is_early:
            return None
        if statistics.median(map(_busiest, windows)) < BUSY:
            return None
        profile = self._history.profile(deployment)
        found = fastest(self._movable, sets, lambda some: self._predicted(profile, some), self._factor)
        then = self._movable.deployment(found)
        if then.key() == deployment.key():
            return None
        asked = self._movable.shape, windows, self._machine, deployment, then
        by_model = gain(*asked, guess=profile)
        beyond = self._factor(then) / self._factor(deployment)
        if by_model.low * beyond < LEAST_GAIN:
            return None
        moved = {name: some for name, some in found.items() if some != sets.get(name)}
        before = {name: sets[name] for name in moved}
        self._made = _Made(then, before, [rate_of(window) for window in windows])
        return Move(moved, by_model.middle * beyond, by_model.low * beyond)

    def _back(self, deployment: Deployment, rates: Sequence[float]) -> Move | None:
        """Undo the last change, if the run was faster before; called once after each change.

        It does not matter here whether workers are busy. A run may have become slower as they wait for each
        other, of which the model knows nothing.
        """
        made, self._made = self._made, None
        if made is None or made.deployment.key() != deployment.key():
            return None
        least = _ends(made.rates)[0] / _ends(rates)[1]
        if least < LEAST_GAIN:
            self._disappointments = 0
            return None
        self._disappointments = min(self._disappointments + 1, MOST_DOUBLINGS)
        return Move(made.sets, statistics.fmean(made.rates) / statistics.fmean(rates), least, is_back=True)

    def _predicted(self, profile: Profile, deployment: Deployment) -> Prediction:
        return predict(self._movable.shape, profile, self._machine, deployment)

    def _factor(self, deployment: Deployment) -> float:
        """Return the factor between a deployment's speed and its prediction; the mean if it was not tried."""
        found = self._history.factor(deployment)
        return self._history.mean_factor if found is None else found


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The interval around the mean of some values."""
    middle, half = statistics.fmean(values), _T_95 * statistics.stdev(values) / math.sqrt(len(values))
    return middle - half, middle + half


def _busiest(window: Sample) -> float:
    """The part of its time for which the busiest worker has computed."""
    return max(window.loads_ns().values()) * window.brought / window.elapsed_s / 1e9


MOST_GONE_THROUGH: Final = 1000
"""Combinations that are all looked at, each of which takes some 50 to 100 µs."""
Rank = tuple[float, float]
"""A rate, and the processor time of all workers for a tuple, negated: what does less is left some room."""


def fastest(
    movable: Movable,
    now: Sets,
    predicted: Callable[[Deployment], Prediction],
    factor: Callable[[Deployment], float],
) -> Sets:
    """Return the best sets of tasks of the components that may be moved.

    If there are few combinations, all are compared. Otherwise the search climbs from neighbour to neighbour,
    one component after the other. It starts from the present sets, from everything on one worker, and from
    everything on all.

    Args:
        movable: the components that may be moved, and the workers for them.
        now: the sets of now, also of components that are not moved.
        predicted: returns the prediction for a deployment.
        factor: returns the factor between a deployment's speed and its prediction.
    """

    def rank(sets: Sets) -> Rank:
        deployment = movable.deployment(sets)
        found = predicted(deployment)
        return found.rate * factor(deployment), -sum(found.loads.values())

    choices = {name: list(movable.choices(name)) for name in movable.free if len(movable.places[name]) <= 6}
    if len(choices) == len(movable.free) and math.prod(map(len, choices.values())) <= MOST_GONE_THROUGH:
        combined = (dict(zip(choices, some, strict=True)) for some in product(*choices.values()))
        return max(({**now, **some} for some in combined), key=rank, default=now)
    return max((_climbed(movable, start, rank) for start in _starts(movable, now)), key=rank)


def _starts(movable: Movable, now: Sets) -> Iterator[Sets]:
    yield now
    for worker in range(movable.workers):
        there = {name: movable.first(name).get(worker) for name in movable.free}
        yield {**now, **{name: TaskSet.of([task]) for name, task in there.items() if task is not None}}
    yield {**now, **{name: TaskSet.of(movable.first(name).values()) for name in movable.free}}


def _climbed(movable: Movable, sets: Sets, rank: Callable[[Sets], Rank]) -> Sets:
    best, reached = sets, rank(sets)
    while True:
        around = ({**best, name: some} for name in movable.free for some in movable.nearby(name, best[name]))
        found = max(around, key=rank, default=best)
        if rank(found) <= reached:
            return best
        best, reached = found, rank(found)
