"""SIGQUIT (Ctrl-\\) asks where everything is, as it does of a JVM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def asked_by_sigquit(ask: Callable[[], None]) -> Iterator[None]:
    """For as long as the block runs, SIGQUIT does not end the process, but asks.

    Only a process's main thread can do so, where there is such a signal; who ignores it goes on ignoring it.

    Args:
        ask: called in the signal's handler, so it must be safe there.
    """
    number = getattr(signal, "SIGQUIT", None)
    in_main = threading.current_thread() is threading.main_thread()
    if number is None or not in_main or signal.getsignal(number) in (signal.SIG_IGN, None):
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        ask()

    before = signal.signal(number, handle)
    try:
        yield
    finally:
        signal.signal(number, before)
