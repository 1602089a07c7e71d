"""How fast the machine was between two runs, by a loop that always has the same to do."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

_STEPS = 1_000_000


def spin_s() -> float:
    """Seconds of processor time of a loop that is always the same."""
    begin = time.process_time()
    total = 0
    for number in range(_STEPS):
        total += number & 7
    return time.process_time() - begin


class Reference:
    """Looks at the machine before a run and behind each one.

    Args:
        spin: seconds that the loop has taken.
    """

    def __init__(self, spin: Callable[[], float] = spin_s) -> None:
        self._spin = spin
        self._seen = [spin()]

    def look(self) -> None:
        """Look once more, behind a run."""
        self._seen.append(self._spin())

    def factors(self) -> list[float]:
        """For each run, how many times as long its processor time would have been at the usual speed."""
        usual = statistics.median(self._seen)
        around = zip(self._seen, self._seen[1:], strict=False)
        return [usual / ((before + after) / 2) for before, after in around]
