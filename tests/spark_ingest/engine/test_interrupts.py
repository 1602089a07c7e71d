"""Signals that come while Spark is being started."""

from __future__ import annotations

import os
import signal

import pytest

from spark_ingest.engine.interrupts import interrupts_later


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_they_are_dealt_with_when_it_is_there(number: signal.Signals) -> None:
    def interrupted(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before, done = signal.signal(number, interrupted), []
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_later():
            os.kill(os.getpid(), number)
            done.append("started")
        assert done == ["started"]
        assert signal.getsignal(number) is interrupted
    finally:
        signal.signal(number, before)


def test_several_count_as_one() -> None:
    dealt_with: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: dealt_with.append(number))
    try:
        with interrupts_later():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        assert dealt_with == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_none_is_none() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_later():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_each_hurries_what_is_being_started() -> None:
    hurried: list[str] = []
    with pytest.raises(KeyboardInterrupt), interrupts_later(lambda: hurried.append("now")):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert hurried == ["now", "now"]
