"""Every signal that a run handles: to end it, to pause its spouts, to ask where its tasks are; and a timer.

Only a process's main thread can handle signals. Elsewhere, and where the system lacks a signal, the blocks
here just run.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from framework.runtime.control.stop import StopSignal

LEFT_TO_PARENT = frozenset(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGQUIT") if hasattr(signal, name)
)
"""Signals that a worker process ignores; it is started with them blocked."""


@contextmanager
def draining_by_signals(stop: StopSignal) -> Iterator[None]:
    """For as long as the block runs, the first SIGINT or SIGTERM drains and the second stops at once."""
    with _handling({"SIGINT": stop.interrupt, "SIGTERM": stop.interrupt}):
        yield


@contextmanager
def active_by_signals(stop: StopSignal) -> Iterator[None]:
    """For as long as the block runs, SIGUSR1 activates the spouts and SIGUSR2 deactivates them."""
    with _handling({"SIGUSR1": stop.activate, "SIGUSR2": stop.deactivate}):
        yield


@contextmanager
def asked_by_sigquit(ask: Callable[[], None]) -> Iterator[None]:
    """For as long as the block runs, SIGQUIT (Ctrl-\\) asks where everything is, as it does of a JVM.

    A process that ignores the signal goes on ignoring it.

    Args:
        ask: called in the signal's handler, so it must be safe there.
    """
    number = getattr(signal, "SIGQUIT", None)
    ignored = number is None or signal.getsignal(number) in (signal.SIG_IGN, None)
    with _handling({} if ignored else {"SIGQUIT": ask}):
        yield


@contextmanager
def called_every(period_s: float, look: Callable[[], None]) -> Iterator[None]:
    """For as long as the block runs, a timer's signal has something called, whatever the main thread is at.

    Args:
        period_s: seconds between two calls.
        look: called in the signal's handler; what it raises is raised where the main thread is.
    """
    with _handling({"SIGALRM": look}) as handles:
        if not handles:
            yield
            return
        signal.setitimer(signal.ITIMER_REAL, period_s, period_s)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def leave_signals_to_parent() -> None:
    """Ignore in this worker process what a terminal sends to its whole group: the parent drains the run."""
    for number in LEFT_TO_PARENT:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, LEFT_TO_PARENT)


@contextmanager
def blocked(signals: frozenset[signal.Signals]) -> Iterator[None]:
    """A process that is started within the block receives none of some signals until it unblocks them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handling(calls: Mapping[str, Callable[[], None]]) -> Iterator[bool]:
    """For as long as the block runs, signals have something called; gives whether that is possible here.

    Args:
        calls: what is called, by the name of the signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield False
        return
    before = {
        number: signal.signal(number, _handler(call))
        for name, call in calls.items()
        if (number := getattr(signal, name, None)) is not None
    }
    try:
        yield bool(before)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handler(call: Callable[[], None]) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        call()

    return handle
