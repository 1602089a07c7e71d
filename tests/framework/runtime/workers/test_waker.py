"""A thread that waits for messages is woken by whoever has no message for it."""

from __future__ import annotations

from multiprocessing.connection import wait

from framework.runtime.workers.supervisor import Waker


def is_woken(waker: Waker) -> bool:
    return wait([waker.descriptor], 0) == [waker.descriptor]


def test_a_call_wakes_once_however_often_it_was_made() -> None:
    waker = Waker()
    assert not is_woken(waker)
    for _ in range(100_000):  # more than there is room for
        waker.wake()
    assert is_woken(waker)
    waker.clear()
    assert not is_woken(waker)
    waker.wake()
    assert is_woken(waker)
    waker.close()


def test_a_call_that_comes_too_late_does_nothing() -> None:
    waker = Waker()
    waker.close()
    waker.wake()
