"""Windows made of panes are those of a search over all values, whatever was asked for before."""

from __future__ import annotations

import math
import operator
import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.operators.windows.aggregates import (
    Aggregate,
    Aggregates,
    Count,
    Last,
    Max,
    Mean,
    PaneWindow,
    Sum,
    Variance,
    pane_of,
)
from framework.operators.windows.aggregates import panes as module
from tests.framework.operators.windows.aggregates.naive import NAIVE

PARTS = {f"part{index}": aggregate for index, (aggregate, _) in enumerate(NAIVE)}

integers = st.none() | st.integers(-(2**70), 2**70)
floats = st.one_of(st.floats(-1e9, 1e9), st.sampled_from([0.1, -0.0, 0.0, 1e-300, math.nan]))


@dataclass(frozen=True)
class Add:
    """A value for a pane, counted from the last one that had any."""

    step: int
    value: Any


@dataclass(frozen=True)
class Fire:
    """A window, by the distance of its end from the last pane."""

    step: int


@dataclass(frozen=True)
class Drop:
    """Panes before one are let go, by its distance from the last pane."""

    step: int


def steps(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    step = st.one_of(
        st.builds(Add, st.integers(-3, 4), values),
        st.builds(Add, st.sampled_from([0, 0, 1, 40]), values),
        st.builds(Fire, st.integers(-4, 9)),
        st.builds(Drop, st.integers(-9, 0)),
    )
    return st.lists(step, min_size=1, max_size=40)


def played(aggregate: Aggregate[Any, Any], count: int, start: int, made: list[Any]) -> list[tuple[Any, Any]]:
    """For each window that was asked for: what was found, and the values of each of its panes."""
    window, values, found = PaneWindow(aggregate, count), dict[int, list[Any]](), []
    pane = start
    for step in made:
        if isinstance(step, Add):
            pane += step.step
            window.add(pane, step.value)
            values.setdefault(pane, []).append(step.value)
        elif isinstance(step, Drop):
            window.drop(pane + step.step)
            values = {number: these for number, these in values.items() if number >= pane + step.step}
        else:
            end = pane + step.step
            inside = {number: values[number][:] for number in sorted(values) if end - count <= number < end}
            assert window.has_any(end) == bool(inside)
            anew = PaneWindow(aggregate, count, pickle.loads(pickle.dumps(window.panes)))
            found.append((window.result(end), inside))
            assert repr(window.result(end)) == repr(anew.result(end)) == repr(found[-1][0])
    return found


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(-20, 20), steps(integers))
def test_of_integers_every_aggregate_is_exact(count: int, start: int, made: list[Any]) -> None:
    compare_integers(count, start, made)


def compare_integers(count: int, start: int, made: list[Any]) -> None:
    for results, inside in played(Aggregates(**PARTS), count, start, made):
        values = [value for pane in inside.values() for value in pane]
        assert list(results) == [naive(values) for _, naive in NAIVE]


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(-20, 20), steps(st.one_of(floats, integers)))
def test_of_floats_they_are_what_their_place_in_time_says(count: int, start: int, made: list[Any]) -> None:
    compare_floats(count, start, made)


def compare_floats(count: int, start: int, made: list[Any]) -> None:
    for results, inside in played(Aggregates(**PARTS), count, start, made):
        values = [value for pane in inside.values() for value in pane]
        for (aggregate, naive), found in zip(NAIVE, results, strict=True):
            if not isinstance(aggregate, Sum | Mean | Variance):
                assert repr(found) == repr(naive(values)), aggregate


@settings(max_examples=40)
@given(st.integers(2, 7), st.integers(0, 30), st.lists(st.lists(st.floats(-1e6, 1e6)), max_size=20))
def test_float_sums_are_merged_in_the_documented_order(
    count: int, start: int, panes: list[list[float]]
) -> None:
    window = PaneWindow(Sum(), count)
    for pane, values in enumerate(panes, start):
        for value in values:
            window.add(pane, value)
        end = pane + 1
        border = (end - count) - (end - count) % count + count
        of = {start + index: added(given) for index, given in enumerate(panes) if given}
        front = [of[pane] for pane in range(end - count, border) if pane in of and pane < end]
        back = [of[pane] for pane in range(border, end) if pane in of]
        parts = []
        if front:
            merged = front[-1]
            for part in reversed(front[:-1]):
                merged = part + merged
            parts.append(merged)
        if back:
            parts.append(added(back))
        assert window.result(end) == added(parts)


def added(values: Iterable[float]) -> float:
    """One after the other, while sum() rounds floats otherwise from Python 3.12 on."""
    return reduce(operator.add, values, 0)


@settings(max_examples=30)
@given(st.integers(1, 7), steps(st.floats(-1e6, 1e6)))
def test_variances_of_floats_are_near(count: int, made: list[Any]) -> None:
    variance, deviation = NAIVE[3], NAIVE[5]
    for (aggregate, naive), allowed in ((variance, 1e-6), (deviation, 1e-3)):
        for found, inside in played(aggregate, count, 0, made):
            values = [value for pane in inside.values() for value in pane]
            assert found == (None if not values else pytest.approx(naive(values), rel=1e-9, abs=allowed))


def test_a_variance_far_from_zero_loses_nothing() -> None:
    window = PaneWindow(NAIVE[3][0], 3)
    for pane in range(30):
        for value in (4.0, 7.0, 13.0, 16.0):
            window.add(pane, 1e9 + value)
    assert window.result(30) == 22.5


def test_a_running_total_is_used_for_what_is_exact_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    subtracted: list[Any] = []
    subtract = Sum.subtract
    monkeypatch.setattr(
        Sum, "subtract", lambda self, acc, part: subtracted.append(part) or subtract(self, acc, part)
    )
    window = PaneWindow(Sum(), 2)
    for pane, value in enumerate([10, 20, 0.5, 30, 40, 50]):
        window.add(pane, value)
        window.result(pane + 1)
    assert subtracted == [10, 20, 30]


class CountingMerges(Max):
    """The greatest value, and how often parts were merged."""

    merges = 0

    def merge(self, first: Any, second: Any) -> Any:
        type(self).merges += 1
        return super().merge(first, second)


@pytest.mark.parametrize("count", [2, 10, 60, 600])
def test_a_pane_is_merged_three_times_at_most_however_many_windows_have_it(count: int) -> None:
    CountingMerges.merges = 0
    window, panes = PaneWindow(CountingMerges(), count), 2_000
    for pane in range(panes):
        window.add(pane, (pane * 7919) % 1000)
        window.result(pane + 1)
        window.drop(pane + 2 - count)
    assert CountingMerges.merges <= 3 * panes
    assert len(window.panes) == count - 1


def test_a_gap_costs_nothing() -> None:
    window = PaneWindow(Aggregates(n=Count(), most=Max()), 3600)
    window.add(5, 7)
    assert window.result(6) == (1, 7)
    window.add(10**15, 8)
    assert window.result(10**15 + 1) == (1, 8)
    window.drop(10**15)
    assert list(window.panes) == [10**15]


def test_panes_are_the_greatest_common_divisor() -> None:
    assert pane_of(60_000_000, 10_000_000) == 10_000_000
    assert pane_of(25, 10) == 5


class TestPlanted:
    """Each way to be wrong that the comparison must see."""

    def compare(self) -> None:
        random = Random(1)
        for _ in range(60):
            numbers = [lambda: random.randrange(-9, 9), lambda: random.choice([0.1, 1e9, 3, 0.7, -1e9])]
            for compare, drawn in zip((compare_integers, compare_floats), numbers, strict=True):
                made = [
                    random.choice([Add(random.randrange(-3, 4), drawn()), Fire(random.randrange(-1, 9))])
                    for _ in range(30)
                ]
                compare(random.randrange(1, 7), 0, made)

    def test_nothing_planted_is_nothing_found(self) -> None:
        self.compare()

    @pytest.mark.parametrize("owner", ["TwoStacks", "RunningTotal"])
    def test_a_late_value_that_is_not_seen(self, monkeypatch: pytest.MonkeyPatch, owner: str) -> None:
        monkeypatch.setattr(getattr(module, owner), "forget", lambda self: None)
        with pytest.raises((AssertionError, KeyError)):
            self.compare()

    def test_a_pane_that_does_not_leave(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module.TwoStacks, "leave", lambda self, before: None)
        with pytest.raises(AssertionError):
            self.compare()

    def test_floats_that_are_subtracted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Sum, "is_exact", lambda self, acc: True)
        with pytest.raises(AssertionError):
            self.compare()

    def test_parts_that_are_merged_in_the_other_order(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Last, "merge", lambda self, first, second: first or second)
        with pytest.raises(AssertionError):
            self.compare()
