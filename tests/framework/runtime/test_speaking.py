"""Who speaks for tasks that are away looks often while something happens, and seldom while nothing does."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from framework.runtime.execution.speaking import LONGEST_PAUSE_S, PERIOD_S, Speaker


class FakeTask:
    """Is busy for the first looks, or fails."""

    def __init__(self, busy: int = 0, error: Exception | None = None) -> None:
        self.looks = 0
        self._busy = busy
        self._error = error

    def stand_in(self) -> bool:
        if self._error is not None:
            raise self._error
        self.looks += 1
        return self.looks <= self._busy


def paused(speaker: Speaker, monkeypatch: pytest.MonkeyPatch, looks: int) -> list[float]:
    """The pauses before so many looks, without spending them."""
    pauses: list[float] = []

    def waited(pause_s: float) -> bool:
        pauses.append(pause_s)
        return len(pauses) > looks

    monkeypatch.setattr(speaker, "_waited", waited)
    speaker.run()
    return pauses[:looks]


def make(*tasks: Any) -> Speaker:
    return Speaker(tasks, lambda: None)


def test_pauses_double_while_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = paused(make(FakeTask()), monkeypatch, looks=9)
    assert pauses == [min(PERIOD_S * 2**n, LONGEST_PAUSE_S) for n in range(9)]
    assert pauses[-1] == LONGEST_PAUSE_S


def test_they_stay_short_while_one_task_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = paused(make(FakeTask(), FakeTask(busy=5)), monkeypatch, looks=8)
    assert pauses == [PERIOD_S] * 6 + [2 * PERIOD_S, 4 * PERIOD_S]


def test_every_task_is_spoken_for_however_busy_the_first_is(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = FakeTask(busy=9), FakeTask()
    paused(make(first, second), monkeypatch, looks=4)
    assert (first.looks, second.looks) == (4, 4)


def test_a_call_ends_the_pause() -> None:
    speaker = make(FakeTask())
    threading.Timer(0.01, speaker.call).start()
    assert not speaker._waited(60.0)


def test_who_calls_while_it_looks_is_looked_after_the_next_time() -> None:
    speaker = make(FakeTask())
    assert not speaker._waited(PERIOD_S)
    speaker.call()
    assert not speaker._waited(60.0)


def test_what_fails_is_kept_and_told() -> None:
    told: list[str] = []
    error = ValueError("no")
    speaker = Speaker([FakeTask(error=error)], lambda: told.append("failed"))  # type: ignore[list-item]
    speaker.start()
    speaker.join(10)
    assert (speaker.failure, told) == (error, ["failed"])
