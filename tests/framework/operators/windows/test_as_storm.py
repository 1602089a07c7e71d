"""Storm's own tests and examples of windows, with our words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from framework import Count, Duration, Spout, TopologyBuilder, TupleWindow, WindowedBolt
from framework.operators.sinks import CollectingSink
from framework.operators.windows.spec import LENGTH_COUNT, LENGTH_MS, SLIDE_COUNT, SLIDE_MS, TIME_FIELD
from framework.testing import run_bolt
from tests.framework.operators.windows.windowed import Numbered, Tell
from tests.framework.runtime.pieces import Row, run_built

SLIDING = [(5, 10), (1, 1), (10, 5), (100, 10), (100, 100), (20, 5), (500, 100)]
"""Lengths and intervals of Storm's test of sliding windows."""
TUMBLING = [1, 10, 250, 500]
WRONG = [(-1, 10), (10, -1), (0, 10), (10, 0), (0, 0), (-1, -1)]


@pytest.mark.parametrize(("length", "sliding"), SLIDING + [(length, length) for length in TUMBLING])
def test_windows_of_so_many_tuples_are_slices(length: int, sliding: int) -> None:
    conf = {LENGTH_COUNT: length, SLIDE_COUNT: sliding}
    windows = run_bolt(Tell, [[n] for n in range(1000)], fields=["number"], conf=conf).emitted()
    assert len(windows) == 1000 // sliding
    for nth, (_, _, numbers, *_) in enumerate(windows, start=1):
        assert numbers == [*range(max(nth * sliding - length, 0), nth * sliding)]


@pytest.mark.parametrize(("length", "sliding"), SLIDING + [(length, length) for length in TUMBLING])
def test_windows_of_so_many_seconds_are_slices(length: int, sliding: int) -> None:
    lengths = {LENGTH_MS: length * 1000, SLIDE_MS: sliding * 1000}
    conf = {**lengths, TIME_FIELD: "number", "viper.timestamp.unit": "s"}
    windows = run_bolt(Tell, [[n] for n in range(1, 1001)], fields=["number"], conf=conf).emitted()
    assert [end for _, end, *_ in windows[:3]] == [sliding * 10**6 * n for n in (1, 2, 3)][: len(windows)]
    for start, end, numbers, *_ in windows:
        assert numbers == [n for n in range(1, 1001) if start < n * 10**6 <= end]
        assert start == end - length * 10**6


@pytest.mark.parametrize(("length", "sliding"), WRONG)
@pytest.mark.parametrize("made", [Count, Duration.seconds], ids=["count", "seconds"])
def test_lengths_and_intervals_are_above_0(length: int, sliding: int, made: Any) -> None:
    with pytest.raises(ValueError, match="expected more than 0"):
        Tell().with_window(made(length), made(sliding))


def told(rows: list[tuple[int, int]], config: dict[str, Any]) -> list[Row]:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbered, args=[rows])
    builder.set_bolt("windows", Tell, config=config).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found: list[Row] = run_built(builder).result("sink")
    return [(end // 1000, numbers, new, expired) for _, end, numbers, new, expired in found]


GAPS = [(1, 603), (2, 605), (3, 607), (4, 618), (5, 626), (6, 636), (7, 825), (8, 826), (9, 827), (10, 839)]
"""The events of Storm's tests of its window manager."""


def test_windows_by_time_over_gaps() -> None:
    assert told(GAPS, {LENGTH_MS: 20, SLIDE_MS: 10}) == [
        (610, [1, 2, 3], [1, 2, 3], []),
        (620, [1, 2, 3, 4], [4], []),
        (630, [4, 5], [5], [1, 2, 3]),
        (640, [5, 6], [6], [4]),
        (650, [6], [], [5]),
        (830, [7, 8, 9], [7, 8, 9], [6]),  # which Storm loses, as it expires in an empty window
        (840, [7, 8, 9, 10], [10], []),
        (850, [10], [], [7, 8, 9]),
    ]


def test_windows_of_three_tuples_by_time() -> None:
    assert [numbers for _, numbers, *_ in told(GAPS, {LENGTH_COUNT: 3, SLIDE_MS: 10})] == [
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
        [4, 5, 6],
        [7, 8, 9],
        [8, 9, 10],
    ]


def test_windows_of_a_duration_by_count() -> None:
    assert [numbers for _, numbers, *_ in told(GAPS, {LENGTH_MS: 20, SLIDE_COUNT: 2})] == [
        [1, 2],
        [1, 2, 3, 4],
        [4, 5, 6],
        [7, 8],
        [7, 8, 9, 10],
    ]


def test_windows_of_five_tuples_by_two() -> None:
    conf = {LENGTH_COUNT: 5, SLIDE_COUNT: 2}
    windows = run_bolt(Tell, [[n] for n in range(1, 9)], fields=["number"], conf=conf).emitted()
    assert [(numbers, new, expired) for _, _, numbers, new, expired in windows] == [
        ([1, 2], [1, 2], []),
        ([1, 2, 3, 4], [3, 4], []),
        ([2, 3, 4, 5, 6], [5, 6], [1]),
        ([4, 5, 6, 7, 8], [7, 8], [2, 3]),
    ]


class Readings(Spout):
    """Emits numbers, out of order by up to five seconds."""

    outputs = ["value", "ts"]

    def tuples(self) -> Iterator[list[int]]:
        for number in range(200):
            yield [number * 7 % 100, 1_000_000 + number * 100 - number * 3571 % 5000]


class SlidingSum(WindowedBolt):
    """Keeps a sum by what is new and what has expired."""

    outputs = ["sum"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._sum = 0

    def process_window(self, window: TupleWindow) -> None:
        self._sum += sum(tup.values[0] for tup in window.new) - sum(tup.values[0] for tup in window.expired)
        assert self._sum == sum(tup.values[0] for tup in window.tuples)
        self.emit([self._sum])


class TumblingMean(WindowedBolt):
    outputs = ["mean"]

    def process_window(self, window: TupleWindow) -> None:
        self.emit([sum(tup.values.sum for tup in window.tuples) / len(window)])


def test_the_example_of_a_sum_and_a_mean() -> None:
    builder = TopologyBuilder()
    builder.set_spout("integer", Readings)
    builder.set_bolt("sum", SlidingSum().with_window(Count(30), Count(10))).shuffle_grouping("integer")
    builder.set_bolt("mean", TumblingMean().with_tumbling_window(Count(3))).shuffle_grouping("sum")
    builder.set_bolt("sink", CollectingSink).shuffle_grouping("mean")
    values = [number * 7 % 100 for number in range(200)]
    sums = [sum(values[max(end - 30, 0) : end]) for end in range(10, 201, 10)]
    means = [(sum(sums[first : first + 3]) / 3,) for first in range(0, 18, 3)]
    assert run_built(builder).result("sink") == means


def test_the_example_of_times_in_tuples() -> None:
    builder = TopologyBuilder()
    lag = {"viper.timestamp.field": "ts", "viper.timestamp.slack": 5000}
    builder.set_spout("integer", Readings, config=lag)
    windowed = SlidingSum().with_window(Duration.seconds(5), Duration.seconds(3))
    windowed.with_timestamp_field("ts").with_lag(Duration.seconds(5))
    builder.set_bolt("sum", windowed).shuffle_grouping("integer")
    builder.set_bolt("sink", CollectingSink).shuffle_grouping("sum")
    rows = list(Readings().tuples())
    ends = range(990_000, 1_050_000, 3000)
    sums = [[value for value, ts in rows if end - 5000 < ts <= end] for end in ends]
    assert run_built(builder).result("sink") == [(sum(found),) for found in sums if found]
