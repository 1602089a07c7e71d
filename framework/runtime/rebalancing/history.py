"""Measurements of a run: of the time between two looks, and of each deployment that it has had."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from framework.optimizer.costs import ComponentCost, Deployment, Machine, Profile, Shape, StreamCost, predict
from framework.optimizer.profiling import Sample, fit, sample_of, summed
from framework.runtime.observation import MeasuredTask

MOST_WINDOWS: Final = 12
"""The most windows of each deployment; older ones are dropped, so that costs may change with the input."""
MOST_DEPLOYMENTS: Final = 16
Key = tuple[tuple[str, tuple[int, ...]], ...]
FIRST_ENCODE_NS: Final = 150.0
FIRST_DECODE_NS: Final = 250.0
"""The assumed cost of a tuple on its way to another process before any was measured.

It lies between that of a word, which travels with many others, and that of a line, as `viper profile`
measures them for a word count.
"""


def first_guess(shape: Shape) -> Profile:
    """A profile of a topology of which nothing is known."""
    streams: dict[str, dict[str, StreamCost]] = {name: {} for name in shape.names}
    for flow in shape.flows:
        streams[flow.source][flow.stream] = StreamCost(
            1.0, encode_ns=FIRST_ENCODE_NS, decode_ns=FIRST_DECODE_NS
        )
    return Profile({name: ComponentCost(0.0, found) for name, found in streams.items()})


class History:
    """The last windows of each deployment.

    Args:
        shape: the topology's.
        machine: where it runs.
        guess: its costs, as long as nobody has measured them; `first_guess`, if None.
    """

    def __init__(self, shape: Shape, machine: Machine, guess: Profile | None = None) -> None:
        self._shape = shape
        self._machine = machine
        self._guess = guess or first_guess(shape)
        self._windows: dict[Key, deque[Sample]] = {}
        self._factors: dict[Key, float] = {}

    def add(self, deployment: Deployment, sample: Sample) -> None:
        """Add a window in which there was this deployment from the beginning to the end."""
        key = deployment.key()
        windows = self._windows.pop(key, deque(maxlen=MOST_WINDOWS))
        windows.append(sample)
        self._windows[key] = windows  # as the last one
        while len(self._windows) > MOST_DEPLOYMENTS:
            del self._windows[next(iter(self._windows))]

    def forget(self, deployment: Deployment) -> None:
        """Forget the windows of a deployment, to measure it again."""
        self._windows.pop(deployment.key(), None)

    def of(self, deployment: Deployment) -> Sequence[Sample]:
        """The windows of a deployment, the oldest first."""
        return tuple(self._windows.get(deployment.key(), ()))

    def profile(self, now: Deployment) -> Profile:
        """Return a profile that fits the windows of a deployment, with gaps filled from those of all others.

        So measurements from before a change of the input do not outweigh those of now.

        Raises:
            ValueError: there is none.
        """
        known = fit(self._shape, [summed(windows) for windows in self._windows.values()], guess=self._guess)
        return fit(self._shape, [summed(self.of(now))], guess=known.profile).profile

    def settle(self, deployment: Deployment) -> None:
        """Keep how much faster or slower a deployment has been than the model says, by what it costs itself.

        The model knows of no waiting, and a deployment that has waited much does so again.
        """
        windows = self.of(deployment)
        if windows:
            own = fit(self._shape, [summed(windows)], guess=self._guess).profile
            predicted = predict(self._shape, own, self._machine, deployment).rate
            self._factors[deployment.key()] = statistics.median(map(rate_of, windows)) / predicted

    def factor(self, deployment: Deployment) -> float | None:
        """Return the factor that `settle` has kept; None for a deployment that the run has not had."""
        return self._factors.get(deployment.key())

    @property
    def mean_factor(self) -> float:
        """The geometric mean of all that `settle` has kept; 1 if that is nothing."""
        return statistics.geometric_mean(self._factors.values()) if self._factors else 1.0


def rate_of(window: Sample) -> float:
    """Tuples of spouts a second."""
    return window.brought / window.elapsed_s


@dataclass(frozen=True, slots=True)
class Look:
    """The measurements of all tasks at one moment."""

    at_s: float
    """Monotonic time in seconds."""
    tasks: Sequence[MeasuredTask]


def window(before: Look, now: Look) -> Sample | None:
    """Return the difference between two measurements of all tasks.

    Returns:
        None where it is not known, as something has counted from 0 again, or nothing was brought.
    """
    known = {task.task: task for task in before.tasks}
    tasks = [_less(asdict(task), asdict(known[task.task])) for task in now.tasks if task.task in known]
    if len(tasks) < len(now.tasks) or any(task["cpu_s"] < 0 for task in tasks):
        return None
    sample = sample_of({"statistics": {"tasks": tasks}, "elapsed_s": now.at_s - before.at_s})
    return sample if sample.brought > 0 else None


def _less(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A task's counts without those of before."""
    found = dict(now)
    for name in ("cpu_s", "turns", "idle_turns"):
        found[name] = now[name] - before[name]
    found["emitted"] = {stream: n - before["emitted"].get(stream, 0) for stream, n in now["emitted"].items()}
    found["inputs"] = _each(now["inputs"], before["inputs"], "task", ("tuples", "runs", "jumbos", "decoded"))
    found["outputs"] = _each(
        now["outputs"], before["outputs"], "tasks", ("tuples", "jumbos", "encoded", "bytes")
    )
    return found


def _each(
    now: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]], key: str, counts: Iterable[str]
) -> list[dict[str, Any]]:
    """Of each way the same."""
    known = {str(way[key]): way for way in before}
    found = []
    for way in now:
        earlier = known.get(str(way[key]), {})
        found.append({**way, **{name: max(way[name] - earlier.get(name, 0), 0) for name in counts}})
    return found
