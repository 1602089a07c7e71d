"""Lifelines: a process ends with the one that it works for, even if that one is killed.

A worker ends with the process that leads its run, and a program in another language with the process that has
started it. Two means work independently of each other. The first is a descriptor that the kernel marks as
readable when the other process has ended. A thread of its own waits for that, and nothing else uses the
descriptor. The second is a signal that Linux sends to a process when the thread that started it has ended. It
also reaches a process that holds Python's global lock for long, or does not run Python at all.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.reduction import DupFd
from typing import Any

ORPHANED = 70
"""Exit status of a process that ends because the one that it works for has ended."""
_PR_SET_PDEATHSIG = 1
"""From ``<sys/prctl.h>``."""


class Lifeline:
    """A sign to other processes that this one has ended; an argument for a process that is being started.

    On a system with pidfds it is one of this process. Elsewhere it is a pipe of which this process keeps the
    writing end, so children that are forked by other code keep it, too.
    """

    def __init__(self) -> None:
        self._kept: int | None = None
        if hasattr(os, "pidfd_open"):
            self._watched = os.pidfd_open(os.getpid())
        else:
            self._watched, self._kept = os.pipe()

    def __reduce__(self) -> tuple[Callable[[Any], ReceivedLifeline], tuple[object]]:
        return _received, (DupFd(self._watched),)

    def close(self) -> None:
        """Give the descriptors back; no process that has the lifeline may be alive any more."""
        os.close(self._watched)
        if self._kept is not None:
            os.close(self._kept)


class ReceivedLifeline:
    """The lifeline of another process, in one that is to end with it.

    Args:
        watched: a descriptor that becomes readable when the other process has ended.
    """

    def __init__(self, watched: int) -> None:
        self._watched = watched

    def end_with_it(self) -> None:
        """End this process as soon as the other one has ended, from now on."""
        _ask_for_signal()
        if self._has_ended(0):  # before the kernel was asked for the signal, perhaps
            os._exit(ORPHANED)
        threading.Thread(target=self._watch, name="viper-lifeline", daemon=True).start()

    def _watch(self) -> None:
        while not self._has_ended(None):
            pass
        os._exit(ORPHANED)

    def _has_ended(self, timeout_ms: int | None) -> bool:
        waiting = select.poll()
        waiting.register(self._watched, select.POLLIN)
        return bool(waiting.poll(timeout_ms))


def _received(watched: Any) -> ReceivedLifeline:
    return ReceivedLifeline(watched.detach())


def ending_with_this_thread() -> Callable[[], None] | None:
    """A ``preexec_fn`` for `subprocess.Popen`: the program is killed when the calling thread has ended.

    None on systems without such a signal: there a program has to notice that its stdin is closed.
    """
    if _prctl is None:
        return None
    parent = os.getpid()

    def ask() -> None:
        _ask_for_signal()
        if os.getppid() != parent:  # it has ended between the fork and the request
            os._exit(ORPHANED)

    return ask


def _ask_for_signal() -> None:
    """Have the kernel kill this process when the thread has ended that started it, where it can."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _find_prctl() -> Any:
    """The system call, looked up before any fork: the child of a process with threads may load no library."""
    if sys.platform != "linux":
        return None
    found = ctypes.CDLL(None).prctl
    found.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
    return found


_prctl = _find_prctl()
