"""The signals that a run handles: they end it, pause its spouts, ask for stacks, or come from a timer.

Only the main thread of a process can handle signals. In other threads, and on systems that lack a signal, the
context managers here do nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from framework.runtime.coordination.stop import StopSignal

LEFT_TO_PARENT = frozenset(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGQUIT") if hasattr(signal, name)
)
"""Signals that a worker process ignores; it is started with them blocked."""


@contextmanager
def draining_by_signals(stop: StopSignal) -> Iterator[None]:
    """While the block runs, the first SIGINT or SIGTERM drains the run and the second stops it at once."""
    with _handling({"SIGINT": _without_frame(stop.interrupt), "SIGTERM": _without_frame(stop.interrupt)}):
        yield


@contextmanager
def active_by_signals(stop: StopSignal) -> Iterator[None]:
    """While the block runs, SIGUSR1 activates the spouts and SIGUSR2 deactivates them."""
    with _handling({"SIGUSR1": _without_frame(stop.activate), "SIGUSR2": _without_frame(stop.deactivate)}):
        yield


@contextmanager
def asked_by_sigquit(ask: Callable[[], None]) -> Iterator[None]:
    """While the block runs, SIGQUIT (Ctrl-\\) asks for the stacks of all callbacks, as it does in a JVM.

    A process that ignores the signal continues to do so.

    Args:
        ask: called in the signal handler, so it must be safe there.
    """
    number = getattr(signal, "SIGQUIT", None)
    ignored = number is None or signal.getsignal(number) in (signal.SIG_IGN, None)
    with _handling({} if ignored else {"SIGQUIT": _without_frame(ask)}):
        yield


@contextmanager
def called_every(
    period_s: float, look: Callable[[FrameType | None], None]
) -> Iterator[Callable[[], None]]:
    """Within the block, let a function be called periodically on top of whatever the main thread executes.

    Args:
        period_s: seconds between two calls.
        look: called in the handler of the timer's signal with the frame that the main thread is in. An
            exception that it raises is raised in that frame.

    Yields:
        Begins the calls; it may be called again, from any thread and in a signal handler. After the block it
        does nothing.
    """
    with _handling({"SIGALRM": look}) as handles:
        timer = _Timer(period_s if handles else 0.0)
        try:
            yield timer.begin
        finally:
            timer.end()


class _Timer:
    """The timer of this process; with a period of 0 it stays as it is."""

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._runs = False

    def begin(self) -> None:
        """Let it run; a second call must not put off the next signal."""
        if self._period_s and not self._runs:
            self._runs = True
            signal.setitimer(signal.ITIMER_REAL, self._period_s, self._period_s)

    def end(self) -> None:
        """Stop it for good."""
        if self._runs:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._runs, self._period_s = False, 0.0


def leave_signals_to_parent() -> None:
    """Ignore in this worker process the signals that a terminal sends to all processes of a group.

    The parent receives them, too, and drains the run.
    """
    for number in LEFT_TO_PARENT:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, LEFT_TO_PARENT)


@contextmanager
def blocked(signals: frozenset[signal.Signals]) -> Iterator[None]:
    """Block some signals for processes that are started within the block, until they unblock them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handling(calls: Mapping[str, Callable[[FrameType | None], None]]) -> Iterator[bool]:
    """Have signals call functions while the block runs.

    Args:
        calls: by the name of a signal, the function that is called with the frame of the main thread.

    Yields:
        True if any of the signals can be handled here.
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


def _handler(call: Callable[[FrameType | None], None]) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        call(frame)

    return handle


def _without_frame(call: Callable[[], None]) -> Callable[[FrameType | None], None]:
    return lambda frame: call()
