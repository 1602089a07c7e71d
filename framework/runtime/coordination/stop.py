"""Requests to a run from outside: to drain, or to pause its spouts; and how long a drain may take."""

from __future__ import annotations

import contextlib
import enum
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NOT_BEGUN = "stopped before it began"


class StopReason(enum.StrEnum):
    """The reason for which a run ended."""

    EXHAUSTED = "exhausted"
    """Every spout has ended, and everything has been processed."""
    DURATION = "duration"
    """The run has lasted as long as it was meant to."""
    MAX_TUPLES = "max-tuples"
    """The spouts have emitted as many tuples as they may."""
    INTERRUPTED = "interrupted"
    """Ctrl-C was pressed, or SIGTERM came."""
    SUSPENDED = "suspended"
    """A checkpoint was requested, and the run ended there; its input did not, so another run resumes."""
    FAILED = "failed"
    """A component raised."""
    ENDED_BEFORE = "ended-before"
    """An earlier run in the same folder had come to its end, so there was nothing left to run."""


_WOULD_DRAIN = (StopReason.INTERRUPTED, StopReason.DURATION)
"""The reasons for which a run that is to be resumed is suspended, as its input continues."""


class StopSignal:
    """Asks a run to drain, so that spouts stop and tuples in flight are processed; or asks spouts to pause.

    A run that is to be resumed is suspended instead: the part that does so is informed, and ends the run.

    All methods are safe in signal handlers and in any thread.
    """

    def __init__(self) -> None:
        # This lock is held, except while a waiting thread is being woken. It is not an event: a signal
        # handler that sets one while its own thread holds the event's lock waits for ever. Nor is it a queue:
        # `SimpleQueue.get` waits for ever if a signal handler takes longer than what is left of its timeout.
        self._asleep = threading.Lock()
        self._asleep.acquire()
        self._listeners: list[Callable[[], None]] = []
        self.active = True
        """True if spouts are asked for tuples. Tuples that they have emitted are processed in any case."""
        self.aborted = False
        """True if everything is to stop without draining, because some part of the run has failed."""
        self.reason: StopReason | None = None
        """The reason for which the run was asked to end; None if it was not."""
        self.at_s: float | None = None
        """Monotonic time in seconds at which the run was asked to end; None if it was not."""
        self.suspends = False
        """True if the run is suspended where others drain, as it is to be resumed."""
        self.wants_suspension = False
        """True if it was asked to end, and is to be suspended for that."""
        self._later: StopReason | None = None
        """The last reason that came while there was one; it counts if `revive` takes back a failure."""
        self._signalled = False
        """True if a signal has asked for the end."""
        self._breaks_off = False
        """True if the main thread is in a block that a signal ends at once."""

    def suspend_for_ends(self) -> None:
        """Suspend the run from now on for whatever makes others drain, as it is to be resumed."""
        self.suspends = True

    @property
    def requested(self) -> bool:
        """True if the run was asked to end."""
        return self.reason is not None

    def request(self, reason: StopReason) -> None:
        """Ask the run to drain and end; only the first reason counts. One that suspends waits for that."""
        if self.suspends and self.reason is None and reason in _WOULD_DRAIN:
            if self.wants_suspension:
                return
            self.wants_suspension = True
        elif self.reason is None:
            self.at_s = time.monotonic()
            self.reason = reason
        elif reason not in (StopReason.FAILED, StopReason.SUSPENDED):
            self._later = reason
        self._wake_all()

    def drain(self) -> None:
        """Ask the run to drain, even one that suspends: this is the end of its input."""
        self.suspends = self.wants_suspension = False
        self.request(StopReason.INTERRUPTED)

    def abort(self) -> None:
        """Ask the run to end at once; tuples in flight are lost."""
        self.aborted = True
        self.request(StopReason.FAILED)

    def revive(self) -> None:
        """Take back `abort`, as the run begins again; an earlier request to drain remains."""
        self.aborted = False
        if self.reason is StopReason.FAILED:
            self.reason = self.at_s = None
            if self._later is not None:
                self.request(self._later)

    def activate(self) -> None:
        """Have the spouts asked for tuples (again), after their `activate` has been called."""
        self.active = True
        self._wake_all()

    def deactivate(self) -> None:
        """Have the spouts asked for no more tuples until `activate`, and their `deactivate` called."""
        self.active = False
        self._wake_all()

    def listen(self, wake: Callable[[], None]) -> None:
        """Have `wake` called at every request; it must be safe in a signal handler."""
        self._listeners.append(wake)

    def unlisten(self, wake: Callable[[], None]) -> None:
        """Have `wake` called no more."""
        self._listeners.remove(wake)

    def _wake_all(self) -> None:
        self.wake()
        for wake in tuple(self._listeners):
            wake()

    def wake(self) -> None:
        """End the present call of `wait`, or the next one."""
        with contextlib.suppress(RuntimeError):  # it has been released already
            self._asleep.release()

    def wait(self, timeout_s: float) -> None:
        """Sleep until the next request or call of `wake`, for at most `timeout_s` seconds."""
        self._asleep.acquire(timeout=timeout_s)

    @contextmanager
    def heeded(self, is_due: Callable[[], bool], act: Callable[[], None], name: str) -> Iterator[None]:
        """While the block runs, have a thread of this name act once, as soon as a request makes that due."""
        # A lock and no event, for the reason that `__init__` gives: a signal handler releases it.
        asleep, is_over = threading.Lock(), False
        asleep.acquire()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # it has been released already
                asleep.release()

        def watch() -> None:
            while asleep.acquire() and not is_over:
                if is_due():
                    act()
                    return

        self.listen(wake)
        wake()  # it may have been asked for before, or in an attempt from which the run has gone back
        thread = threading.Thread(target=watch, name=name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over = True
            self.unlisten(wake)
            wake()
            thread.join()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """While the block runs, let `interrupt` break it off, because there is nothing to drain yet.

        Raises:
            KeyboardInterrupt: `interrupt` was called, within the block or before.
        """
        self._breaks_off = True
        try:
            if self._signalled:
                raise KeyboardInterrupt(NOT_BEGUN)
            yield
        finally:
            self._breaks_off = False

    def interrupt(self) -> None:
        """Handle a signal to end the run: the first one drains or suspends it, the second stops it at once.

        Raises:
            KeyboardInterrupt: this is the second call, or the first in a block of `at_once`.
        """
        again, self._signalled = self._signalled, True
        is_suspended = self.reason is StopReason.SUSPENDED or self.wants_suspension
        if self.reason is StopReason.INTERRUPTED or (again and is_suspended):
            raise KeyboardInterrupt
        if self.reason is StopReason.SUSPENDED:  # which ends soon, and is lost if it is not let end
            return
        if self.requested:  # draining for another reason: a first Ctrl-C shows that this takes too long
            self.reason = StopReason.INTERRUPTED
        self.request(StopReason.INTERRUPTED)
        if self._breaks_off:
            raise KeyboardInterrupt(NOT_BEGUN)


class DrainDeadline:
    """Decides when a run that was asked to end must be over.

    Args:
        stop: asks for the end.
        drain_s: seconds that a drain may take (``viper.drain.timeout.secs``).
    """

    def __init__(self, stop: StopSignal, drain_s: float) -> None:
        self._stop = stop
        self._drain_s = drain_s

    def is_past(self, now_s: float, grace_s: float = 0.0, began_s: float = 0.0) -> bool:
        """True if the time to drain is over; False as long as the run was not asked to end.

        A run that has failed is not drained, so its time is over as soon as it was aborted. A run that is
        suspended takes its time, as what was not processed would be lost.

        Args:
            now_s: monotonic time in seconds.
            grace_s: seconds that are granted beyond the time to drain.
            began_s: monotonic time in seconds at which the time to drain begins at the earliest.
        """
        if self._stop.at_s is None or self._stop.reason is StopReason.SUSPENDED:
            return False
        drain_s = 0.0 if self._stop.aborted else self._drain_s
        return now_s > max(self._stop.at_s, began_s) + drain_s + grace_s
