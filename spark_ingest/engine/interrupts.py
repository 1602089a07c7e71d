"""Signals that ask for the end, while something is started that could not be ended yet."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ASK_FOR_THE_END = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_later(hurry: Callable[[], object] | None = None) -> Iterator[None]:
    """Signals that come within the block are dealt with at its end, as one would have been before it.

    Several count as one: who asks again, because nothing is to be seen yet, does not ask for more.

    Whoever has taken them for himself meanwhile, as Spark does, has to give them back.

    Args:
        hurry: called for each, so that the end comes soon.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))
        if hurry is not None:
            hurry()

    before = {number: signal.getsignal(number) for number in _ASK_FOR_THE_END}
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # else it was not set from Python, and nothing has been changed
                signal.signal(number, handler)
        _deal_with(came, before)


def _deal_with(came: list[tuple[int, FrameType | None]], before: dict[signal.Signals, Any]) -> None:
    for number, frame in came[:1]:
        before[signal.Signals(number)](number, frame)
