"""No test of workers may hang: who takes too long is told, shows its stacks, and fails."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import pytest

LIMIT_S = 180.0
"""Seconds that one test may take on a machine of which others take most; most need a tenth of one."""
AGAIN_S = 30.0
"""Seconds until one that continues nevertheless is interrupted again."""
TOLD = signal.SIGUSR2


@contextmanager
def bounded(limit_s: float = LIMIT_S) -> Iterator[None]:
    """Fail what takes longer, and show where all its threads and worker processes are."""
    over = threading.Event()
    before = signal.signal(TOLD, _fail)
    watching = threading.Thread(target=_watch, args=(over, limit_s), name="watching", daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        signal.signal(TOLD, before)


def show_stacks_when_told() -> None:
    """Have a worker process, where nobody else looks, show its stacks; called as its modules are imported."""
    if multiprocessing.parent_process() is not None:
        faulthandler.register(TOLD, file=2, all_threads=True)


def _fail(number: int, frame: FrameType | None) -> None:
    pytest.fail("takes longer than it may: stderr shows the stacks of its threads and worker processes")


def _watch(over: threading.Event, limit_s: float) -> None:
    while not over.wait(limit_s):
        faulthandler.dump_traceback(file=2, all_threads=True)
        for process in multiprocessing.active_children():
            with suppress(OSError):
                os.kill(process.pid or 0, TOLD)
        signal.pthread_kill(threading.main_thread().ident or 0, TOLD)
        limit_s = AGAIN_S
