"""Log records as user code makes them, and a handler that keeps them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any


class Clock:
    """A clock that advances when it is told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Kept(logging.Handler):
    """Keeps what it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def messages(self) -> list[str]:
        return [record.getMessage() for record in self.records]


def record(
    message: object = "trouble",
    *args: Any,
    level: int = logging.WARNING,
    name: str = "viperstorm.component.count",
    line: int = 7,
    error: BaseException | None = None,
    task: int | None = None,
) -> logging.LogRecord:
    """A record from a line of ``bolts.py``, with an error that has been raised if one is given."""
    exc_info = (type(error), error, error.__traceback__) if error is not None else None
    made = logging.LogRecord(name, level, "/app/bolts.py", line, message, args, exc_info)
    if task is not None:
        made.viper_component, made.viper_task = name.rpartition(".")[2], task
    return made


def raised(make: Callable[[], BaseException]) -> BaseException:
    """An error that has been raised, always in the same place."""
    try:
        raise make()
    except BaseException:
        error = sys.exc_info()[1]
        assert error is not None
        return error
