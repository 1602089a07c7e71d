"""What is asked of a run from outside: that it drains, or that its spouts pause for a while."""

from __future__ import annotations

import contextlib
import enum
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

NOT_BEGUN = "stopped before it began"


class StopReason(enum.StrEnum):
    """Why a run ended."""

    EXHAUSTED = "exhausted"
    """Every spout has ended, and everything has been processed."""
    DURATION = "duration"
    """The time was up."""
    MAX_TUPLES = "max-tuples"
    """The spouts have emitted as many tuples as they may."""
    INTERRUPTED = "interrupted"
    """Ctrl-C or SIGTERM."""
    FAILED = "failed"
    """A component raised."""


class StopSignal:
    """Asks a run to drain: spouts stop, what is in flight is finished. Or asks the spouts to pause.

    Safe to use from signal handlers and other threads.
    """

    def __init__(self) -> None:
        # Held but while somebody has been woken. Not an event: a signal handler that sets one while this very
        # thread holds its lock waits for ever. Nor a queue: `SimpleQueue.get` waits for ever if a signal
        # handler takes longer than the rest of its timeout.
        self._asleep = threading.Lock()
        self._asleep.acquire()
        self._listeners: list[Callable[[], None]] = []
        self.active = True
        """Whether spouts are asked for tuples. Where they are not, what they have brought is processed."""
        self.aborted = False
        """Whether nothing is to go on, as some other part of the run has failed."""
        self.reason: StopReason | None = None
        """Why it was asked for; None as long as it was not."""
        self.at_s: float | None = None
        """Monotonic time in seconds at which it was asked for."""
        self._signalled = False
        """Whether a signal has asked for it."""
        self._breaks_off = False
        """Whether the main thread is in a block that a signal ends at once."""

    @property
    def requested(self) -> bool:
        """Whether the run shall drain."""
        return self.reason is not None

    def request(self, reason: StopReason) -> None:
        """Ask for the end; only the first reason counts."""
        if self.reason is None:
            self.at_s = time.monotonic()
            self.reason = reason
        self._wake_all()

    def abort(self) -> None:
        """Ask for the end at once: what is in flight is lost."""
        self.aborted = True
        self.request(StopReason.FAILED)

    def activate(self) -> None:
        """Have the spouts asked for tuples (again), after their `activate` has been called."""
        self.active = True
        self._wake_all()

    def deactivate(self) -> None:
        """Have the spouts asked for no more tuples until `activate`, and their `deactivate` called."""
        self.active = False
        self._wake_all()

    def listen(self, wake: Callable[[], None]) -> None:
        """Have something called whenever the end is asked for; it must be safe in a signal handler."""
        self._listeners.append(wake)

    def _wake_all(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has been released already
            self._asleep.release()
        for wake in self._listeners:
            wake()

    def wait(self, timeout_s: float) -> None:
        """Rest for a while, or until the end is asked for."""
        self._asleep.acquire(timeout=timeout_s)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """For as long as the block runs, the first SIGINT or SIGTERM drains and the second stops at once.

        Only a process's main thread can do so; elsewhere the block just runs.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """For as long as the block runs, within `on_signals`, a signal breaks it off, as nothing could drain.

        Raises:
            KeyboardInterrupt: one has, or had before.
        """
        self._breaks_off = True
        try:
            if self._signalled:
                raise KeyboardInterrupt(NOT_BEGUN)
            yield
        finally:
            self._breaks_off = False

    @contextmanager
    def active_by_signals(self) -> Iterator[None]:
        """For as long as the block runs, SIGUSR1 activates the spouts and SIGUSR2 deactivates them.

        Only a process's main thread can do so, where there are such signals; elsewhere the block just runs.
        """
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGUSR1"):
            yield
            return
        before = {
            signal.SIGUSR1: signal.signal(signal.SIGUSR1, lambda number, frame: self.activate()),
            signal.SIGUSR2: signal.signal(signal.SIGUSR2, lambda number, frame: self.deactivate()),
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        if self.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        if self.requested:  # draining for another reason: a first Ctrl-C shows that this takes too long
            self.reason = StopReason.INTERRUPTED
        self.request(StopReason.INTERRUPTED)
        if self._breaks_off:
            raise KeyboardInterrupt(NOT_BEGUN)
