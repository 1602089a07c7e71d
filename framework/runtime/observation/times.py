"""Histograms of times on a logarithmic scale, which tasks count in and percentiles are read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

PER_DOUBLING = 4
"""Buckets from one time to its double, so that what is read is at most 19 % above what was counted."""
_SMALLEST_S = 1e-6
_LAST = 27 * PER_DOUBLING
"""The last bucket, which has all that takes longer than 134 seconds as well."""

Counts = Sequence[tuple[int, int]]
"""A histogram as a value: the buckets that are not empty, by their numbers, and what was counted in each."""


class TimeHistogram:
    """Counts how often something took how long, in buckets whose bounds grow by a constant factor.

    One thread adds; others may read at any time, and see at most a single addition less.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts = [0] * (_LAST + 1)

    def add(self, seconds: float, times: int = 1) -> None:
        """Count a time in seconds, so many times."""
        scaled = seconds / _SMALLEST_S
        bucket = 0 if scaled <= 1.0 else min(ceil(PER_DOUBLING * log2(scaled)), _LAST)
        self._counts[bucket] += times

    def counts(self) -> Counts:
        """What was counted so far."""
        return tuple((bucket, count) for bucket, count in enumerate(self._counts) if count)


def bound_s(bucket: int) -> float:
    """The longest time in seconds that a bucket counts; of the last one, as if it counted no longer ones."""
    return float(_SMALLEST_S * 2 ** (bucket / PER_DOUBLING))


def added(histograms: Iterable[Counts]) -> Counts:
    """All that several histograms have counted."""
    total: dict[int, int] = {}
    for counts in histograms:
        for bucket, count in counts:
            total[bucket] = total.get(bucket, 0) + count
    return tuple(sorted(total.items()))


def since(before: Counts, now: Counts) -> Counts:
    """What was counted between two moments; all of the later one if it has begun anew in between."""
    earlier: Mapping[int, int] = dict(before)
    left = {bucket: count - earlier.get(bucket, 0) for bucket, count in now}
    if earlier.keys() - left.keys() or any(count < 0 for count in left.values()):
        return tuple(now)
    return tuple((bucket, count) for bucket, count in left.items() if count)


def percentile_s(counts: Counts, share: float) -> float | None:
    """The time in seconds that this share of what was counted does not exceed; None if nothing was.

    Args:
        counts: the histogram.
        share: from 0 to 1, e.g. 0.99.
    """
    wanted = share * sum(count for _, count in counts)
    reached = 0
    for bucket, count in counts:
        reached += count
        if reached >= wanted:
            return bound_s(bucket)
    return None
