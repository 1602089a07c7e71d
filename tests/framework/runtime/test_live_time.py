"""Live sources that have nothing to say neither hold others back nor keep executors awake."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from framework.runtime.execution import live_time
from framework.runtime.execution.live_time import FIRST_PAUSE_S, LONGEST_PAUSE_S, LiveTime


class FakeSpout:
    is_busy = is_finished = False

    def __init__(self) -> None:
        self.passed = 0

    def pass_time(self) -> None:
        self.passed += 1


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(live_time, "time", clock)
    return clock


def make(*spouts: Any, holds_input: bool = False) -> tuple[LiveTime, SimpleNamespace]:
    bolt = SimpleNamespace(waits_with_input=holds_input)
    return LiveTime(spouts, [bolt], lambda spout: spout.is_busy), bolt  # type: ignore[list-item]


def looks_that_pass(live: LiveTime, spout: FakeSpout, clock: FakeClock, looks: int, apart_s: float) -> int:
    before = spout.passed
    for _ in range(looks):
        clock.now += apart_s
        live.look()
    return spout.passed - before


def test_time_passes_ever_less_often_while_nothing_moves(clock: FakeClock) -> None:
    spout = FakeSpout()
    live, _ = make(spout)
    apart_s = FIRST_PAUSE_S / 2

    at_first = looks_that_pass(live, spout, clock, 100, apart_s)
    in_a_second = looks_that_pass(live, spout, clock, round(1 / apart_s), apart_s)

    assert 4 <= at_first <= 10
    assert in_a_second <= 1 / LONGEST_PAUSE_S + at_first


def test_what_moves_has_it_pass_at_once_again(clock: FakeClock) -> None:
    spout = FakeSpout()
    live, _ = make(spout)
    looks_that_pass(live, spout, clock, 1000, 0.01)

    live.something_moved()

    assert looks_that_pass(live, spout, clock, 1, 0.0) == 1


def test_input_that_is_held_back_does_not_wait_for_the_pause(clock: FakeClock) -> None:
    spout = FakeSpout()
    live, bolt = make(spout)
    looks_that_pass(live, spout, clock, 1000, 0.01)

    bolt.waits_with_input = True

    assert looks_that_pass(live, spout, clock, 3, 0.0) == 3


def test_a_source_in_a_callback_or_at_its_end_is_left_alone(clock: FakeClock) -> None:
    busy, ended, other = FakeSpout(), FakeSpout(), FakeSpout()
    busy.is_busy = ended.is_finished = True
    live, _ = make(busy, ended, other)

    live.go_on()

    assert (busy.passed, ended.passed, other.passed) == (0, 0, 1)
