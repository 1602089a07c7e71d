"""Gives the CPU away in the middle of callbacks, so that workers overtake one another.

Where that happens is drawn from a seed. What a component emits must not depend on it, and no wall
clock is read: a pause changes who runs next and nothing else.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

NOISE = "determinism.noise"
"""Configuration key of ours: the seed that components draw their pauses from, or None for no pauses."""

_YIELDS, _SPINS, _SLEEPS = 0.03, 0.06, 0.063
"""Shares of the calls, each including the ones before it."""
_LONGEST_SPIN = 2_000
_LONGEST_SLEEP_S = 0.0005


class Noise:
    """Called at the places where somebody else may come first."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def __call__(self) -> None:
        drawn = self._random.random()
        if drawn < _YIELDS:
            time.sleep(0)  # gives up the GIL and the rest of the time slice
        elif drawn < _SPINS:
            for _ in range(self._random.randrange(_LONGEST_SPIN)):
                pass
        elif drawn < _SLEEPS:
            time.sleep(self._random.random() * _LONGEST_SLEEP_S)

    def pauses(self) -> bool:
        """True if a spout says that it has nothing for now."""
        return self._random.random() < _SPINS


class Silence(Noise):
    """No pauses at all."""

    def __init__(self) -> None:
        super().__init__("")

    def __call__(self) -> None:
        pass

    def pauses(self) -> bool:
        """Never."""
        return False


def noise_of(component: Any, storm_conf: Mapping[str, Any]) -> Noise:
    """The noise of one task, different for each."""
    seed = storm_conf.get(NOISE)
    return Silence() if seed is None else Noise(f"{seed}/{component.component_name}/{component.task_id}")
