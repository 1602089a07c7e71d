"""Requests to a run while its companions are being started, which may take minutes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from framework.runtime import StopReason, StopSignal
from framework.runtime.coordination.signals import draining_by_signals
from tests.framework.runtime.partitioned import Partitions, chain_of
from tests.framework.runtime.pieces import run_built

STARTING, NEVER = threading.Event(), threading.Event()
TOLD: list[str] = []


class NeverStarted(Partitions):
    """Its companion waits for ever; tells how it fares."""

    @contextmanager
    def companion(self, conf: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        try:
            STARTING.set()
            while not NEVER.wait(0.05):  # a signal that comes just before it begins to wait does not wake it
                pass
            yield {}
        finally:
            TOLD.append("ended")

    def initialize(self, conf: Mapping[str, Any], ctx: Any) -> None:
        TOLD.append("initialized")


def stopped(ask: Callable[[], object], **limits: Any) -> None:
    """A run of such a spout; in its companion something is asked for by another thread."""
    STARTING.clear()
    TOLD.clear()

    def wait() -> None:
        assert STARTING.wait(60)
        ask()

    asking = threading.Thread(target=wait)
    asking.start()
    try:
        run_built(chain_of(NeverStarted(2, 10)), limits)
    finally:
        asking.join()


@pytest.mark.parametrize("limits", [{}, {"inactive": True}, {"duration_s": 600.0}], ids=str)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_breaks_it_off(number: signal.Signals, limits: dict[str, Any]) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt, match="stopped before it began"):
        stopped(lambda: os.kill(os.getpid(), number), **limits)
    assert TOLD == ["ended"]
    assert signal.getsignal(number) is before


def test_a_signal_of_before_starts_none() -> None:
    stop = StopSignal()
    with draining_by_signals(stop):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt, match="stopped before it began"), stop.at_once():
            raise AssertionError("it was started")


def test_a_signal_that_comes_when_it_has_started_drains() -> None:
    stop = StopSignal()
    with draining_by_signals(stop):
        with stop.at_once():
            pass
        signal.raise_signal(signal.SIGINT)
    assert stop.reason is StopReason.INTERRUPTED


def test_somebody_else_s_interrupt_stays_what_it_is() -> None:
    stop = StopSignal()
    with pytest.raises(KeyboardInterrupt, match=r"^theirs$"), draining_by_signals(stop), stop.at_once():
        raise KeyboardInterrupt("theirs")
    assert not stop.requested
