"""Repetitions of a message in the log: a few are logged fully, all others are counted."""

from __future__ import annotations

import copy
import logging
import threading
import time
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from framework.operators.log.forms import error_name, message_of
from framework.operators.log.origin import origin_of

Key = tuple[Hashable, ...]
LONGEST_HEAD = 200
"""Characters of a message that are repeated with its count."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of full records of the same message."""

    interval_s: float
    """Seconds that are looked at together; 0 logs everything fully."""
    most: int
    """Records of an interval that are logged fully."""


@dataclass(slots=True)
class _Seen:
    """The records of one key in its interval."""

    began_s: float
    full: int = 0
    """Records that were logged fully."""
    counted: int = 0
    """Records that were not."""
    last: logging.LogRecord | None = None
    """The last one of those."""
    task: int | None = None
    """Their task, if they have one in common."""


class Repetition:
    """Decides which records to log fully, and counts the others.

    Of the records of a key the first few of an interval are logged fully. The others are counted, and
    reported once at the interval's end. A key of which records were counted is only counted in the next
    interval, too, until one has passed without any.

    Args:
        limits: how often the same thing is logged fully.
        clock: returns monotonic time in seconds.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._seen: dict[Key, _Seen] = {}
        """In the order in which their intervals began, and so end."""

    def admits(self, record: logging.LogRecord) -> bool:
        """True if a record is to be logged; otherwise it has been counted. Call `due` before."""
        key = key_of(record)
        if key is None or not self._limits.interval_s:
            return True
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = _Seen(self._clock())
        times = getattr(record, "viper_repeated", 0)
        if not times and seen.full < self._limits.most:
            seen.full += 1
            return True
        _count(seen, record, times or 1)
        return False

    def due(self) -> Iterator[logging.LogRecord]:
        """End the intervals that are over; a record for each in which something was counted."""
        now = self._clock()
        for key, seen in list(self._seen.items()):
            if now - seen.began_s < self._limits.interval_s:
                return
            del self._seen[key]
            if seen.last is not None:
                self._seen[key] = _Seen(now, full=self._limits.most)
                yield _summary(seen.last, seen, now)

    def next_due_s(self) -> float | None:
        """The end of the first interval with counted records, in monotonic seconds; None without any."""
        ends = (seen.began_s + self._limits.interval_s for seen in self._seen.values() if seen.counted)
        return next(ends, None)

    def rest(self) -> Iterator[logging.LogRecord]:
        """End all intervals, as nothing more will come."""
        now, left = self._clock(), list(self._seen.values())
        self._seen.clear()
        for seen in left:
            if seen.last is not None:
                yield _summary(seen.last, seen, now)


def _count(seen: _Seen, record: logging.LogRecord, times: int) -> None:
    task = getattr(record, "viper_task", None)
    seen.task = task if not seen.counted or seen.task == task else None
    seen.counted += times
    seen.last = record


def key_of(record: logging.LogRecord) -> Key | None:
    """Return the key that repetitions of a record have in common; None for a record that is never counted.

    Exceptions of one type from one place of a component are the same, and so are warnings that are made of
    the same message in the same place. Records below the level of a warning are always logged.
    """
    if hasattr(record, "viper_key"):  # it was known before, in another process perhaps
        key: Key | None = record.viper_key
        return key
    if record.levelno < logging.WARNING:
        return None
    origin = origin_of(record)
    if record.exc_info and record.exc_info[0] is not None:
        return (origin and origin.component, error_name(record), raised_at(record))
    plain = isinstance(record.msg, str) and record.msg == "%s"
    message = record.getMessage() if plain else str(record.msg)
    return (record.name, origin and origin.component, message, record.pathname, record.lineno)


def raised_at(record: logging.LogRecord) -> str | None:
    """``file:line`` that raised a record's exception; None where nobody knows."""
    if not record.exc_info or record.exc_info[2] is None:
        return None
    *_, (frame, line) = traceback.walk_tb(record.exc_info[2])
    return f"{frame.f_code.co_filename}:{line}"


def _summary(last: logging.LogRecord, seen: _Seen, now: float) -> logging.LogRecord:
    """A record that stands for those that were counted."""
    took_s = now - seen.began_s
    record = copy.copy(last)
    record.created = time.time()
    head = _head(last)
    record.viper_key, record.viper_repeated, record.viper_task = key_of(last), seen.counted, seen.task
    record.viper_head = head
    record.msg = f"%s ... repeated {seen.counted:,} times in {took_s:.{0 if took_s >= 10 else 1}f} s"
    record.args = (head,)
    record.exc_info = record.exc_text = record.stack_info = None
    record.viper_error = error_name(last)
    return record


def _head(record: logging.LogRecord) -> str:
    """A record's message in one line."""
    head: str | None = getattr(record, "viper_head", None)
    if head is not None:  # the record counts others itself
        return head
    first = message_of(record).partition("\n")[0][:LONGEST_HEAD]
    error, place = error_name(record), raised_at(record)
    return f"{first} ({error} at {place})" if error and place else first


def limits_of(settings: Mapping[str, Any]) -> Limits:
    """Return the limits that Storm's keys set."""
    return Limits(
        settings["topology.error.throttle.interval.secs"], settings["topology.max.error.report.per.interval"]
    )


class Counting(logging.Handler):
    """Hands on what is logged, but counts what repeats.

    Args:
        target: gets what is logged.
        limits: how often the same thing is logged fully.
        clock: returns monotonic time in seconds.
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
        """Report what was counted in intervals that are over."""
        with self._locked():
            self._tell(self._repetition.due())

    def finish(self) -> None:
        """Report what was counted until now, as the end has come."""
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
        """Report the count at the next end of an interval, even if nothing is logged then."""
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
