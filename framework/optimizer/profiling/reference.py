"""The speed of the machine around a run, by a loop that always has the same to do.

On a machine that others use, the speed of a tenth of a second says little about that of the next one. The
speeds of two minutes differ by a factor of two. So several measurements are taken together, one after the
other.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

_STEPS = 2_000_000
_NEAR = 2
"""Looks on each side of a run that count."""


def spin_s() -> float:
    """Seconds of processor time of a loop that is always the same."""
    begin = time.process_time()
    total = 0
    for number in range(_STEPS):
        total += number & 7
    return time.process_time() - begin


class Reference:
    """Measures the machine before a run and after each one.

    Args:
        spin: seconds that the loop has taken.
    """

    def __init__(self, spin: Callable[[], float] = spin_s) -> None:
        self._spin = spin
        self._seen = [spin()]

    def look(self) -> None:
        """Measure again, after a run."""
        self._seen.append(self._spin())

    def factors(self) -> list[float]:
        """For each run, how many times as long its processor time would have been at the usual speed."""
        usual = statistics.median(self._seen)
        ends = range(1, len(self._seen))
        near = (self._seen[max(0, end - _NEAR) : end + _NEAR] for end in ends)
        return [usual / statistics.median(looks) for looks in near]
