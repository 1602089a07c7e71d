"""Live sources that have nothing to say neither hold others back nor keep executors awake."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from framework.runtime.execution.live_time import (
    BUSY_PERIOD_S,
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    HeartbeatRequests,
    LiveTime,
)
from framework.testing import VirtualClock
from viper.arena import Arena
from viper.bell import Bell

NOW = 100.0
INFINITE = float("inf")


class FakeSpout:
    is_busy = is_finished = passes_time = False

    def __init__(self) -> None:
        self.passed = 0

    def pass_time(self) -> None:
        self.passed += 1


@pytest.fixture
def bells() -> list[Bell]:
    arena = Arena.private(4 * Bell.size())
    return [Bell.create(arena) for _ in range(4)]


def make(
    *spouts: Any,
    holds_input: bool = False,
    ends_at_us: int | None = None,
    requests: HeartbeatRequests | None = None,
) -> tuple[LiveTime, SimpleNamespace]:
    bolt: Any = SimpleNamespace(waits_with_input=holds_input, ends_at_us=ends_at_us)
    return LiveTime(spouts, [bolt], lambda spout: spout.is_busy, requests), bolt  # type: ignore[attr-defined]


def rest(live: LiveTime, seconds: float) -> int:
    """Rest as an executor does that is woken by nobody; how often it has looked."""
    now, looks = NOW, 0
    while now < NOW + seconds:
        looks += live.look(now)
        now = min(max(live.due_at_s, now), NOW + seconds)
        live.look_after_rest(now)
    return looks


def test_nothing_is_sent_while_nobody_waits(bells: list[Bell]) -> None:
    spout = FakeSpout()
    live, _ = make(spout, requests=HeartbeatRequests(bells[0], bells[1:]))
    assert live.due_at_s == INFINITE
    assert rest(live, 10) == spout.passed == 0
    assert [bell.ticket() for bell in bells] == [0, 0, 0, 0]


def test_input_that_is_held_back_is_asked_for_at_once_and_then_ever_less_often(bells: list[Bell]) -> None:
    spout = FakeSpout()
    live, _ = make(spout, holds_input=True, requests=HeartbeatRequests(bells[0], bells[1:]))
    assert live.look(NOW)
    assert (spout.passed, *(bell.ticket() for bell in bells)) == (1, 1, 1, 1, 1)
    assert live.due_at_s == NOW + FIRST_PAUSE_S
    in_ten_seconds = rest(live, 10)
    assert 10 / LONGEST_PAUSE_S <= in_ten_seconds <= 10 / LONGEST_PAUSE_S + 15


def test_time_is_asked_for_when_a_window_has_ended_and_not_before(bells: list[Bell]) -> None:
    clock, spout = VirtualClock(1000.0), FakeSpout()
    with clock.within():
        requests = HeartbeatRequests(bells[0], bells[1:])
        live, bolt = make(spout, ends_at_us=1_060_000_000, requests=requests)
        assert (live.look(0.0), live.due_at_s, spout.passed) == (False, 60.0, 0)
        live.look_if_busy(0.0)
        clock.advance(59.9)
        assert (live.look(59.9), live.due_at_s, spout.passed) == (False, pytest.approx(60.0), 0)
        clock.advance(0.1)
        assert live.look(60.0)
        assert (spout.passed, live.due_at_s) == (1, 60.0 + FIRST_PAUSE_S)
        bolt.ends_at_us = None
        assert (live.look(61.0), live.due_at_s) == (False, INFINITE)


def test_windows_of_other_time_than_the_clocks_ask_for_nothing() -> None:
    live, _ = make(FakeSpout(), ends_at_us=0)
    assert (live.look(NOW), live.due_at_s) == (False, INFINITE)


def test_what_moves_has_it_asked_for_at_once_again(bells: list[Bell]) -> None:
    live, _ = make(holds_input=True, requests=HeartbeatRequests(bells[0], bells[1:]))
    rest(live, 10)
    assert not live.look(NOW)
    live.something_moved()
    assert live.look(NOW)


def test_without_live_time_input_that_is_held_back_makes_no_difference() -> None:
    spout = FakeSpout()
    live, _ = make(spout, holds_input=True)
    assert rest(live, 10) == spout.passed == 0


def test_who_passes_time_by_itself_does_so_ever_less_often() -> None:
    spout = FakeSpout()
    spout.passes_time = True
    live, bolt = make(spout)
    steps = 10_000
    for step in range(steps):
        live.look_after_rest(NOW + 10 * step / steps)
    assert 0.9 * 10 / LONGEST_PAUSE_S <= spout.passed <= 10 / LONGEST_PAUSE_S + 15
    bolt.waits_with_input = True
    before = spout.passed
    for _ in range(3):
        live.look_after_rest(NOW)
    assert spout.passed == before + 3


def test_whoever_is_asked_answers_each_request_once(bells: list[Bell]) -> None:
    asked, spout = FakeSpout(), FakeSpout()
    live, _ = make(asked, requests=HeartbeatRequests(bells[0], ()))
    other, _ = make(spout, holds_input=True, requests=HeartbeatRequests(bells[0], bells[1:2]))
    live.answer()
    assert asked.passed == 0
    other.look(NOW)
    for _ in range(3):
        live.answer()
        other.answer()
    assert (asked.passed, spout.passed) == (1, 1)


def test_an_executor_that_never_rests_looks_now_and_then(bells: list[Bell]) -> None:
    spout = FakeSpout()
    live, _ = make(spout, holds_input=True, requests=HeartbeatRequests(bells[0], bells[1:]))
    turns = 1000
    for turn in range(turns):
        live.something_moved()
        live.look_if_busy(NOW + turn * BUSY_PERIOD_S / 10)
    assert 0.9 * turns / 10 <= spout.passed <= turns / 10 + 1  # not all times are binary fractions


def test_a_source_in_a_callback_or_at_its_end_is_left_alone() -> None:
    busy, ended, other = FakeSpout(), FakeSpout(), FakeSpout()
    busy.is_busy = ended.is_finished = True
    live, _ = make(busy, ended, other)

    live.go_on()

    assert (busy.passed, ended.passed, other.passed) == (0, 0, 1)
