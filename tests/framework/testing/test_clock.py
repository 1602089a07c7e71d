"""Time that passes when a test says so."""

from __future__ import annotations

import datetime
import math
import threading
import time

import pytest

from framework.testing import VirtualClock
from framework.testing.clock import BEGINNING, VirtualWaits


def test_it_stands_still_until_it_is_moved() -> None:
    clock = VirtualClock()
    assert (clock.now, clock.elapsed_s) == (BEGINNING, 0)
    clock.advance(90)
    clock.advance(datetime.timedelta(hours=1))
    assert clock.now == BEGINNING + datetime.timedelta(hours=1, seconds=90)
    assert clock.elapsed_s == 3690


@pytest.mark.parametrize("start", [1_000_000.5, datetime.datetime.fromtimestamp(1_000_000.5, datetime.UTC)])
def test_it_begins_where_it_is_set(start: float | datetime.datetime) -> None:
    assert VirtualClock(start).now_s == 1_000_000.5


def test_a_datetime_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        VirtualClock(datetime.datetime(2024, 1, 1))


@pytest.mark.parametrize("seconds", [-1, -0.001, math.inf, math.nan, datetime.timedelta(seconds=-1)])
def test_it_never_goes_back_nor_to_the_end_of_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="expected 0 or more"):
        VirtualClock().advance(seconds)


def test_the_module_time_goes_by_it_within_a_block_only() -> None:
    clock, before = VirtualClock(5.0), (time.time, time.monotonic, time.sleep)
    with clock.within():
        assert (time.time(), time.time_ns(), time.monotonic()) == (5.0, 5_000_000_000, 0.0)
        time.sleep(60)
        assert (time.time(), time.monotonic_ns()) == (65.0, 60_000_000_000)
    assert (time.time, time.monotonic, time.sleep) == before


def test_clocks_within_clocks_and_errors_leave_time_as_it_was() -> None:
    before = time.time
    with pytest.raises(KeyError), VirtualClock(1.0).within():
        with VirtualClock(2.0).within():
            assert time.time() == 2.0
        assert time.time() == 1.0
        raise KeyError
    assert time.time is before


def test_the_sleep_of_another_thread_does_not_move_it() -> None:
    clock = VirtualClock()
    with clock.within():
        thread = threading.Thread(target=lambda: time.sleep(0.001))
        thread.start()
        thread.join()
    assert clock.elapsed_s == 0


def test_a_wait_moves_it_but_not_over_its_limit() -> None:
    clock = VirtualClock()
    waits = VirtualWaits(clock)
    waits.until_s = 2.5
    for elapsed_s, is_over in ((1.0, False), (2.0, False), (2.5, False), (2.5, True)):
        waits.wait(1.0)
        assert (clock.elapsed_s, waits.is_over) == (elapsed_s, is_over)


def test_whoever_is_woken_does_not_wait() -> None:
    clock = VirtualClock()
    waits = VirtualWaits(clock)
    waits.wake()
    waits.wait(1.0)
    assert clock.elapsed_s == 0
    waits.wait(1.0)
    assert clock.elapsed_s == 1.0


def test_the_shortest_wait_moves_it() -> None:
    clock = VirtualClock()
    clock.advance(1e-12)
    assert clock.elapsed_s > 0
