"""What was measured of the deployments that a run has had."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence
from typing import Final

from framework.optimizer.costs import ComponentCost, Deployment, Machine, Profile, Shape, StreamCost, predict
from framework.optimizer.profiling import Sample, fit, summed

MOST_WINDOWS: Final = 12
"""Of each deployment; older ones are forgotten, so that costs may change with what the input brings."""
MOST_DEPLOYMENTS: Final = 16
Key = tuple[tuple[str, tuple[int, ...]], ...]
FIRST_ENCODE_NS: Final = 150.0
FIRST_DECODE_NS: Final = 250.0
"""What a tuple is taken to cost on its way to another process where none has gone that way: between a word's,
which goes with many others, and a line's, as `viper profile` finds them for a word count."""


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
    """

    def __init__(self, shape: Shape, machine: Machine) -> None:
        self._shape = shape
        self._machine = machine
        self._guess = first_guess(shape)
        self._windows: dict[Key, deque[Sample]] = {}
        self._factors: dict[Key, float] = {}

    def add(self, deployment: Deployment, sample: Sample) -> None:
        """A window in which there was this deployment from the beginning to the end."""
        key = deployment.key()
        windows = self._windows.pop(key, deque(maxlen=MOST_WINDOWS))
        windows.append(sample)
        self._windows[key] = windows  # as the last one
        while len(self._windows) > MOST_DEPLOYMENTS:
            del self._windows[next(iter(self._windows))]

    def forget(self, deployment: Deployment) -> None:
        """Measure a deployment anew."""
        self._windows.pop(deployment.key(), None)

    def of(self, deployment: Deployment) -> Sequence[Sample]:
        """The windows of a deployment, the oldest first."""
        return tuple(self._windows.get(deployment.key(), ()))

    def profile(self, now: Deployment) -> Profile:
        """What fits the windows of a deployment, and where these tell nothing, those of the others.

        So what was measured before the input has changed counts for nothing that is seen now.

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
        """What `settle` has kept; None for a deployment that the run has not had."""
        return self._factors.get(deployment.key())

    @property
    def mean_factor(self) -> float:
        """The geometric mean of all that `settle` has kept; 1 if that is nothing."""
        return statistics.geometric_mean(self._factors.values()) if self._factors else 1.0


def rate_of(window: Sample) -> float:
    """Tuples of spouts a second."""
    return window.brought / window.elapsed_s
