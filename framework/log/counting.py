"""A stage of the log that keeps what repeats from filling it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from framework.log.repetition import Limits, Repetition


def limits_of(settings: Mapping[str, Any]) -> Limits:
    """How often the same thing is logged fully, as Storm's keys say."""
    return Limits(
        settings["topology.error.throttle.interval.secs"], settings["topology.max.error.report.per.interval"]
    )


class Counting(logging.Handler):
    """Hands on what is logged, but counts what repeats.

    Args:
        target: gets what is logged.
        limits: how often the same thing is logged fully.
        clock: tells monotonic time in seconds.
    """

    def __init__(
        self, target: logging.Handler, limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.limits = limits
        self._target = target
        self._clock = clock
        self._repetition = Repetition(limits, clock)
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a record on, or count it."""
        self.tell_due()
        try:
            admitted = self._repetition.admits(record)
        except Exception:
            self.handleError(record)
            return
        if admitted:
            self._target.handle(record)
        else:
            self._set_timer()

    def tell_due(self) -> None:
        """Tell what was counted in intervals that are over."""
        with self._locked():
            self._tell(self._repetition.due())

    def finish(self) -> None:
        """Tell what was counted until now, as the end has come."""
        with self._locked():
            timer, self._timer = self._timer, None
            self._tell(self._repetition.rest())
        if timer is not None:
            timer.cancel()
            timer.join()

    def _locked(self) -> AbstractContextManager[Any]:
        assert self.lock is not None  # the base class holds it around `emit`; it may be taken again
        return self.lock

    def _tell(self, records: Iterable[logging.LogRecord]) -> None:
        for record in records:
            self._target.handle(record)

    def _set_timer(self) -> None:
        """Have the next end of an interval told when it comes, even if nothing is logged then."""
        due_s = self._repetition.next_due_s() if self._timer is None else None
        if due_s is not None:
            self._timer = threading.Timer(max(due_s - self._clock(), 0.0), self._on_timer)
            self._timer.name, self._timer.daemon = "viper-log", True
            self._timer.start()

    def _on_timer(self) -> None:
        with self._locked():
            if self._timer is not threading.current_thread():
                return
            self._timer = None
            self.tell_due()
            self._set_timer()


def active_limits() -> Limits | None:
    """The limits that hold for what the root logger gets; None where nothing is counted."""
    stages = (handler for handler in logging.getLogger().handlers if isinstance(handler, Counting))
    return next((stage.limits for stage in stages), None)
