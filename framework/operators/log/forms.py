"""The forms of a line of the log: text for people, JSON for programs."""

from __future__ import annotations

import enum
import json
import logging
import os
import time
from datetime import UTC, datetime
from typing import Any

from framework.model.tracebacks import ExcInfo, formatted
from framework.operators.components.component import LOGGER_PREFIX
from framework.operators.log.origin import Origin, origin_of

OURS = LOGGER_PREFIX.partition(".")[0]
"""The beginning of the names of all loggers of the framework."""


class LogForm(enum.StrEnum):
    """The forms of a log."""

    TEXT = "text"
    JSON = "json"


class TextForm(logging.Formatter):
    """``19:53:02.114 INFO    count:4 [12034] message``, in local time, with the traceback below it.

    A record that comes from no component has the logger's name in its stead. If a component logs through a
    logger that is not its own, that logger's name comes before the message.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The first line of a record, and what its message has of others."""
        origin = origin_of(record)
        head = f"{_clock(record.created)} {record.levelname:<7} {origin or record.name} [{record.process}] "
        return f"{head}{_foreign(record, origin)}{record.message}"

    def formatException(self, ei: Any) -> str:
        """The traceback below it."""
        return _traceback(ei)


def _clock(created: float) -> str:
    seconds = int(created)
    return f"{time.strftime('%H:%M:%S', time.localtime(seconds))}.{int((created - seconds) * 1000):03d}"


def _foreign(record: logging.LogRecord, origin: Origin | None) -> str:
    return "" if origin is None or record.name.partition(".")[0] == OURS else f"{record.name}: "


class JsonForm(logging.Formatter):
    """An object per record, on one line, in ASCII.

    Its keys: ``ts`` (ISO 8601 in UTC, with microseconds), ``level``, ``logger``, ``component``, ``task``,
    ``pid`` and ``message``. An exception adds ``error``, the name of its type, and ``traceback``. A record
    that stands for several others has ``repeated``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The object, whatever was logged."""
        component, task = origin_of(record) or (None, None)
        return json_line(
            record.levelname,
            record.name,
            message_of(record),
            created=record.created,
            pid=record.process,
            component=component,
            task=task,
            error=error_name(record),
            traceback=traceback_text(record) or record.stack_info,
            repeated=getattr(record, "viper_repeated", None),
        )


def json_line(
    level: str,
    logger: str,
    message: str,
    *,
    created: float | None = None,
    pid: int | None = None,
    component: str | None = None,
    task: int | None = None,
    **more: object,
) -> str:
    """A line of the log as JSON.

    Args:
        level: name of the level.
        logger: name of the logger.
        message: the message.
        created: Unix time in seconds; None for now.
        pid: of the process that logs it; None for this one.
        component: the component that it comes from, where that is known.
        task: likewise.
        more: left out where it is None.
    """
    fields = {
        "ts": datetime.fromtimestamp(time.time() if created is None else created, UTC).isoformat(
            timespec="microseconds"
        ),
        "level": level,
        "logger": logger,
        "component": component,
        "task": task,
        "pid": os.getpid() if pid is None else pid,
        "message": message,
    }
    return json.dumps({**fields, **{key: value for key, value in more.items() if value is not None}})


def message_of(record: logging.LogRecord) -> str:
    """A record's message; where its arguments do not fit, the message without them."""
    try:
        return record.getMessage()
    except Exception:
        return f"{record.msg!r} with arguments that do not fit: {record.args!r}"


def error_name(record: logging.LogRecord) -> str | None:
    """The name of the type of a record's exception; None where there is none."""
    if record.exc_info and record.exc_info[0] is not None:
        return record.exc_info[0].__name__
    return getattr(record, "viper_error", None)


def traceback_text(record: logging.LogRecord) -> str | None:
    """The traceback of a record's exception, which may be text by now; None where there is none."""
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return _traceback(record.exc_info)
    return None


def _traceback(exc_info: ExcInfo) -> str:
    return "".join(formatted(exc_info)).removesuffix("\n")


FORMS: dict[LogForm, type[logging.Formatter]] = {LogForm.TEXT: TextForm, LogForm.JSON: JsonForm}
