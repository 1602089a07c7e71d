"""The stand-in for blocking tasks looks when it is called, and sleeps while it is not."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from framework.runtime.execution import stand_in as stand_in_module
from framework.runtime.execution.stand_in import StandIn
from viper.arena import Arena
from viper.bell import Bell

PATIENCE_S = 60.0


class FakeTask:
    """A task that says when it is looked after, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.looks = threading.Semaphore(0)
        self.is_left = threading.Event()
        self._error = error

    def stand_in(self) -> None:
        if self._error is not None:
            raise self._error
        self.looks.release()

    def leave(self, stopped_at_s: float) -> None:
        self.is_left.set()


@pytest.fixture
def bell() -> Bell:
    return Bell.create(Arena.private(Bell.size()))


@pytest.fixture(autouse=True)
def without_looks_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_in_module, "LONGEST_WAIT_S", PATIENCE_S)


def make(bell: Bell, *tasks: Any, **options: Any) -> StandIn:
    return StandIn(tasks, bell, lambda: None, **options)


def test_each_call_has_every_task_looked_after(bell: Bell) -> None:
    first, second = FakeTask(), FakeTask()
    stand_in = make(bell, first, second)
    stand_in.start()
    for _ in range(3):
        stand_in.call()
        assert first.looks.acquire(timeout=PATIENCE_S)
        assert second.looks.acquire(timeout=PATIENCE_S)
    stand_in.end()


def test_calls_between_two_looks_are_one(bell: Bell) -> None:
    stand_in, ticket = make(bell, FakeTask()), bell.ticket()
    for _ in range(100):
        stand_in.call()
    assert bell.ticket() == ticket + 1


def test_a_call_while_it_looks_counts_for_the_next_time(bell: Bell) -> None:
    class CallsOnce(FakeTask):
        is_first = True

        def stand_in(self) -> None:
            super().stand_in()
            if self.is_first:
                self.is_first = False
                stand_in.call()

    task = CallsOnce()
    stand_in = make(bell, task)
    stand_in.start()
    stand_in.call()
    for _ in range(2):
        assert task.looks.acquire(timeout=PATIENCE_S)
    stand_in.end()


def test_others_ring_the_bell(bell: Bell) -> None:
    task = FakeTask()
    stand_in = make(bell, task)
    stand_in.start()
    bell.ring()
    assert task.looks.acquire(timeout=PATIENCE_S)
    stand_in.end()


def test_once_the_run_is_to_stop_it_looks_without_being_called(bell: Bell) -> None:
    task = FakeTask()
    stand_in = make(bell, task, stopped_at_s=lambda: 1.0)
    stand_in.start()
    assert task.is_left.wait(PATIENCE_S)
    assert task.looks.acquire(timeout=PATIENCE_S)
    stand_in.end()


def test_an_end_between_two_looks_is_not_slept_through(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndsBefore(Bell):
        def ticket(self) -> int:
            if threading.current_thread() is ending:
                with monkeypatch.context() as patch:
                    patch.setattr(ending, "join", lambda: None)
                    ending.end()
            return super().ticket()

    ending: StandIn | None = None
    ending = make(EndsBefore.create(Arena.private(Bell.size())), FakeTask())
    ending.start()
    ending.call()
    ending.join(PATIENCE_S / 2)
    assert not ending.is_alive()


def test_a_failure_is_kept_and_reported(bell: Bell) -> None:
    told: list[str] = []
    error = ValueError("no")
    tasks: Any = [FakeTask(error=error)]
    stand_in = StandIn(tasks, bell, lambda: told.append("failed"))
    stand_in.start()
    stand_in.call()
    stand_in.join(PATIENCE_S)
    assert (stand_in.failure, told) == (error, ["failed"])
