"""Histograms of times: what is read from them is what was counted, but for the width of a bucket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.runtime.observation.counters import (
    PER_DOUBLING,
    TimeHistogram,
    added,
    bound_s,
    percentile_s,
    since,
)

WIDTH = 2 ** (1 / PER_DOUBLING)


def counted(*seconds: float) -> TimeHistogram:
    histogram = TimeHistogram()
    for each in seconds:
        histogram.add(each)
    return histogram


@given(st.lists(st.floats(2e-6, 100.0), min_size=1), st.sampled_from((0.0, 0.5, 0.9, 0.99, 1.0)))
def test_a_percentile_exceeds_the_exact_one_by_less_than_a_bucket(
    seconds: list[float], share: float
) -> None:
    reached = max(1, -int(-share * len(seconds) // 1))  # rounded up
    exact = sorted(seconds)[reached - 1]
    found = percentile_s(counted(*seconds).counts(), share)
    assert found is not None and exact <= found * (1 + 1e-9) and found <= exact * WIDTH * (1 + 1e-9)


def test_times_out_of_range_are_counted_at_its_ends() -> None:
    counts = counted(0.0, 1e-9, 1e-6, 1e6).counts()
    assert counts == ((0, 3), (27 * PER_DOUBLING, 1))
    assert percentile_s(counts, 0.5) == 1e-6 and bound_s(27 * PER_DOUBLING) == pytest.approx(134.2, abs=0.1)


def test_a_turn_counts_for_each_of_its_tuples() -> None:
    histogram = TimeHistogram()
    histogram.add(0.001, 99)
    histogram.add(1.0, 1)
    counts = histogram.counts()
    assert percentile_s(counts, 0.99) == pytest.approx(0.001, rel=WIDTH - 1)
    assert percentile_s(counts, 1.0) == pytest.approx(1.0, rel=WIDTH - 1)


def test_nothing_was_counted() -> None:
    assert TimeHistogram().counts() == () and percentile_s((), 0.5) is None


def test_several_together() -> None:
    assert added([((1, 2), (5, 1)), ((1, 3),), ()]) == ((1, 5), (5, 1))


def test_between_two_moments() -> None:
    assert since(((1, 2),), ((1, 5), (4, 1))) == ((1, 3), (4, 1))
    assert since(((1, 2),), ((1, 2),)) == ()


@pytest.mark.parametrize("now", [((1, 1),), ((2, 9),)])
def test_a_histogram_that_has_begun_anew_counts_whole(now: tuple[tuple[int, int], ...]) -> None:
    assert since(((1, 2),), now) == now
