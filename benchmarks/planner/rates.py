"""Intervals that have the mean of several rounds with 95 %, and ratios of rates with theirs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145)
"""Student's t at 97.5 %, by degrees of freedom from 1 on."""
_T_BEYOND = 2.131
"""The limit of it for more rounds."""


@dataclass(frozen=True)
class Interval:
    """The interval of the mean, with 95 %, if rounds are independent and distributed normally."""

    low: float
    high: float

    def is_above(self, other: Interval) -> bool:
        """True if it begins where the other one has ended."""
        return self.low > other.high


def interval(values: Sequence[float]) -> Interval | None:
    """The interval of some rounds; None for a single one, of which nobody knows.

    Args:
        values: at least one.
    """
    freedom = len(values) - 1
    if not freedom:
        return None
    t = _T[freedom - 1] if freedom <= len(_T) else _T_BEYOND
    half = t * statistics.stdev(values) / math.sqrt(len(values))
    middle = statistics.fmean(values)
    return Interval(middle - half, middle + half)


@dataclass(frozen=True)
class Ratio:
    """The ratio of two speeds."""

    mean: float
    """The geometric one of all rounds."""
    interval: Interval | None


def ratio(values: Sequence[float], to: Sequence[float]) -> Ratio:
    """Divide the rates of two, round by round, so that a slow round does not count.

    Args:
        values: its rates.
        to: those of the other one, in the same rounds.
    """
    logs = [math.log(value / other) for value, other in zip(values, to, strict=True)]
    known = interval(logs)
    bounds = None if known is None else Interval(math.exp(known.low), math.exp(known.high))
    return Ratio(math.exp(statistics.fmean(logs)), bounds)
