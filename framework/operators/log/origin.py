"""The origin of a log record: the component and task that it comes from."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from framework.operators.components.component import LOGGER_PREFIX


class Origin(NamedTuple):
    """A component and, where it is known, one of its tasks."""

    component: str
    task: int | None = None

    def __str__(self) -> str:
        return self.component if self.task is None else f"{self.component}:{self.task}"


class _Here(threading.local):
    """The origin of what is logged in a thread."""

    current: Origin | None = None
    """The origin for as long as a block runs."""
    ask: Callable[[], Origin | None] | None = None
    """Returns the origin of what is logged now."""


_here = _Here()
_lock = threading.Lock()
_users = 0
_before: Callable[..., logging.LogRecord] = logging.LogRecord
_start: Callable[[threading.Thread], None] = threading.Thread.start
_started = WeakKeyDictionary[threading.Thread, Origin]()
"""The tasks whose components have started threads."""


def current_origin() -> Origin | None:
    """The origin of what is logged in this thread now; None where no task is being called."""
    if _here.current is not None:
        return _here.current
    return _here.ask() if _here.ask is not None else None


def ask_in_this_thread(ask: Callable[[], Origin | None] | None) -> None:
    """Set the function that returns the origin of what is logged in this thread; None for none."""
    _here.ask = ask


@contextmanager
def speaking_as(origin: Origin | None) -> Iterator[None]:
    """For as long as the block runs, all records of this thread come from `origin`."""
    before, _here.current = _here.current, origin
    try:
        yield
    finally:
        _here.current = before


def component_logger(origin: Origin | None) -> logging.Logger:
    """The logger of a component; of nobody, the one above all of them."""
    return logging.getLogger(f"{LOGGER_PREFIX}.{origin.component}" if origin else LOGGER_PREFIX)


def origin_of(record: logging.LogRecord) -> Origin | None:
    """Return the origin of a record: the attached one, or the component that its logger belongs to."""
    component = getattr(record, "viper_component", None)
    if component is not None:
        return Origin(component, getattr(record, "viper_task", None))
    prefix, _, named = record.name.partition(f"{LOGGER_PREFIX}.")
    return Origin(named) if named and not prefix else None


@contextmanager
def attached_origins() -> Iterator[None]:
    """Attach its origin to every log record that is made while the block runs.

    The tasks that threads belong to which components start are known from then on, see `starter_of`.

    A record gets the attributes ``viper_component`` and ``viper_task``, which are None if the origin is
    unknown. Plainer names could clash with attributes that users give to their records, and `logging` makes
    an error of such a clash. Blocks may lie within each other and in several threads.
    """
    global _users, _before, _start
    with _lock:
        _users += 1
        if _users == 1:
            _before, _start = logging.getLogRecordFactory(), threading.Thread.start
            logging.setLogRecordFactory(_made_here)
            threading.Thread.start = _started_here  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and logging.getLogRecordFactory() is _made_here:
                logging.setLogRecordFactory(_before)
            if not _users and threading.Thread.start is _started_here:
                threading.Thread.start = _start  # type: ignore[assignment, method-assign]


def _made_here(*args: Any, **options: Any) -> logging.LogRecord:
    record = _before(*args, **options)
    origin = current_origin() or origin_of(record)
    record.viper_component, record.viper_task = origin or (None, None)
    return record


def starter_of(thread: threading.Thread) -> Origin | None:
    """The task whose component has started a thread, itself or by another thread; None where nobody knows."""
    return _started.get(thread)


def _started_here(thread: threading.Thread) -> None:
    origin = current_origin() or starter_of(threading.current_thread())
    if origin is not None:
        _started[thread] = origin
    _start(thread)
