"""The stand-in for blocking tasks looks often while something happens, and seldom while nothing does."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from framework.runtime.execution.stand_in import LONGEST_PAUSE_S, PERIOD_S, StandIn


class FakeTask:
    """A task that is busy for the first looks, or fails."""

    def __init__(self, busy: int = 0, error: Exception | None = None) -> None:
        self.looks = 0
        self._busy = busy
        self._error = error

    def stand_in(self) -> bool:
        if self._error is not None:
            raise self._error
        self.looks += 1
        return self.looks <= self._busy


def paused(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, looks: int) -> list[float]:
    """The pauses in seconds before a number of looks, without waiting for them."""
    pauses: list[float] = []

    def waited(pause_s: float) -> bool:
        pauses.append(pause_s)
        return len(pauses) > looks

    monkeypatch.setattr(stand_in, "_waited", waited)
    stand_in.run()
    return pauses[:looks]


def make(*tasks: Any) -> StandIn:
    return StandIn(tasks, lambda: None)


def test_pauses_double_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = paused(make(FakeTask()), monkeypatch, looks=9)
    assert pauses == [min(PERIOD_S * 2**n, LONGEST_PAUSE_S) for n in range(9)]
    assert pauses[-1] == LONGEST_PAUSE_S


def test_they_stay_short_while_one_task_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = paused(make(FakeTask(), FakeTask(busy=5)), monkeypatch, looks=8)
    assert pauses == [PERIOD_S] * 6 + [2 * PERIOD_S, 4 * PERIOD_S]


def test_every_task_is_looked_after_however_busy_the_first_is(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = FakeTask(busy=9), FakeTask()
    paused(make(first, second), monkeypatch, looks=4)
    assert (first.looks, second.looks) == (4, 4)


def test_a_call_ends_the_pause() -> None:
    stand_in = make(FakeTask())
    threading.Timer(0.01, stand_in.call).start()
    assert not stand_in._waited(60.0)


def test_a_call_while_it_looks_counts_for_the_next_time() -> None:
    stand_in = make(FakeTask())
    assert not stand_in._waited(PERIOD_S)
    stand_in.call()
    assert not stand_in._waited(60.0)


def test_a_failure_is_kept_and_reported() -> None:
    told: list[str] = []
    error = ValueError("no")
    stand_in = StandIn([FakeTask(error=error)], lambda: told.append("failed"))  # type: ignore[list-item]
    stand_in.start()
    stand_in.join(10)
    assert (stand_in.failure, told) == (error, ["failed"])
