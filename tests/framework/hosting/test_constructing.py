"""A ported component is constructed without pipes, signal handlers or threads, one at a time."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

import pystorm.component
import pytest

from framework.frontends.streamparse.ported_host import construct


def surroundings() -> Any:
    return signal.signal, dict(pystorm.component._SERIALIZERS), sys.stdin, sys.stdout


@pytest.mark.parametrize("base", ["Bolt", "Spout", "ReliableSpout", "BatchingBolt", "TicklessBatchingBolt"])
def test_nothing_of_the_process_is_changed(base: str) -> None:
    before = surroundings(), signal.getsignal(signal.SIGUSR1), threading.current_thread().name
    component = construct(getattr(pystorm, base))
    assert (surroundings(), signal.getsignal(signal.SIGUSR1), threading.current_thread().name) == before
    assert component.logger is None  # as it is before the handshake
    assert threading.active_count() == len(threading.enumerate())


def test_constructors_in_several_threads_leave_the_process_as_it_was() -> None:
    """The second one is begun in the middle of the first, and ends after it if it may begin at all."""
    second_has_begun, first_has_ended = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    class Second(pystorm.Bolt):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            second_has_begun.set()
            first_has_ended.wait()
            super().__init__(*args, **options)

    class First(pystorm.Bolt):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            threads.append(threading.Thread(target=construct, args=[Second]))
            threads[0].start()
            # Where one waits for the other this takes its time, and proves nothing of it.
            second_has_begun.wait(0.2)

    before = surroundings()
    construct(First)
    first_has_ended.set()
    threads[0].join()
    assert surroundings() == before
