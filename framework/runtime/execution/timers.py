"""Timers of an executor's thread: how exactly they wake it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator

_SET, _GET = 29, 30
"""PR_SET_TIMERSLACK and PR_GET_TIMERSLACK of prctl."""
EXACT_NS = 1_000
"""Nanoseconds by which the kernel may put off a timer of an executor's thread. By default it is 50,000, so
that a spout that pauses for 20 us is asked again after 70 and more."""


@contextlib.contextmanager
def exact_timers() -> Iterator[None]:
    """While the block runs, have timers of the calling thread wake it in time.

    Threads that it starts meanwhile inherit that. There is no effect on systems that know no such thing.
    """
    before = _prctl(_GET, 0)
    if before <= EXACT_NS:
        yield
        return
    _prctl(_SET, EXACT_NS)
    try:
        yield
    finally:
        _prctl(_SET, before)


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library of this process, once: what `ctypes` makes of it refers to itself."""
    return ctypes.CDLL(None)


def _prctl(option: int, value: int) -> int:
    """The system call for the calling thread; -1 where it does not exist or fails."""
    if sys.platform != "linux":
        return -1
    return int(_libc().prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))))
