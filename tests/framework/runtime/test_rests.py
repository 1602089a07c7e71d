"""A rest ends in time, whatever signals come in the middle of it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from types import FrameType

import pytest

from framework.runtime import StopReason
from framework.runtime.coordination.stop import StopSignal

REST_S = 0.01


class Alarm:
    """A signal in the middle of a rest, whose handler takes longer than that; the next one fails the test."""

    def __init__(self) -> None:
        self.rung = 0

    def ring(self, number: int, frame: FrameType | None) -> None:
        self.rung += 1
        assert self.rung == 1, "the rest does not end"
        until = time.monotonic() + 3 * REST_S
        while time.monotonic() < until:
            pass


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    alarm = Alarm()
    before = signal.signal(signal.SIGALRM, alarm.ring)
    yield alarm
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_signal_handler_that_takes_longer_than_the_rest_does_not_prolong_it(alarm: Alarm) -> None:
    signal.setitimer(signal.ITIMER_REAL, REST_S / 2, 5.0)

    StopSignal().wait(REST_S)

    assert alarm.rung == 1


def test_being_asked_for_the_end_ends_the_next_rest_and_no_other() -> None:
    stop = StopSignal()
    stop.request(StopReason.INTERRUPTED)
    stop.request(StopReason.DURATION)

    began = time.monotonic()
    stop.wait(60.0)
    stop.wait(REST_S)

    assert REST_S <= time.monotonic() - began < 30.0
