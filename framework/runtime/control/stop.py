"""What is asked of a run from outside: that it drains, or that its spouts pause; how long it may drain."""

from __future__ import annotations

import contextlib
import enum
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        # This lock is held, except while a waiting thread is being woken. It is not an event: a signal
        # handler that sets one while its own thread holds the event's lock waits for ever. Nor is it a queue:
        # `SimpleQueue.get` waits for ever if a signal handler takes longer than what is left of its timeout.
        self._asleep = threading.Lock()
        self._asleep.acquire()
        self._listeners: list[Callable[[], None]] = []
        self.active = True
        """Whether spouts are asked for tuples. While they are not, what they have brought is processed."""
        self.aborted = False
        """Whether everything is to stop without draining, as some part of the run has failed."""
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
        """Sleep for a while, or until the end is asked for."""
        self._asleep.acquire(timeout=timeout_s)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """For as long as the block runs, `interrupt` breaks it off, as there is nothing yet that could drain.

        Raises:
            KeyboardInterrupt: there was an interrupt, now or before.
        """
        self._breaks_off = True
        try:
            if self._signalled:
                raise KeyboardInterrupt(NOT_BEGUN)
            yield
        finally:
            self._breaks_off = False

    def interrupt(self) -> None:
        """Do what a signal to end the run means: the first one drains, a second one stops at once.

        Raises:
            KeyboardInterrupt: it is the second, or the first in a block of `at_once`.
        """
        self._signalled = True
        if self.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        if self.requested:  # draining for another reason: a first Ctrl-C shows that this takes too long
            self.reason = StopReason.INTERRUPTED
        self.request(StopReason.INTERRUPTED)
        if self._breaks_off:
            raise KeyboardInterrupt(NOT_BEGUN)


class DrainDeadline:
    """The one answer to when a run that has been asked to end has to be over.

    Args:
        stop: asks for the end.
        drain_s: seconds that a drain may take (``viper.drain.timeout.secs``).
    """

    def __init__(self, stop: StopSignal, drain_s: float) -> None:
        self._stop = stop
        self._drain_s = drain_s

    def is_past(self, now_s: float, grace_s: float = 0.0, began_s: float = 0.0) -> bool:
        """Whether the time is up; never so as long as nobody has asked for the end.

        A run that has failed is not drained: its time is up as soon as it was aborted.

        Args:
            now_s: monotonic time in seconds.
            grace_s: seconds that are granted beyond.
            began_s: monotonic time in seconds before which the time does not count.
        """
        if self._stop.at_s is None:
            return False
        drain_s = 0.0 if self._stop.aborted else self._drain_s
        return now_s > max(self._stop.at_s, began_s) + drain_s + grace_s
