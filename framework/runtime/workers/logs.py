"""Log records of worker processes: one log for all."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from logging.handlers import QueueHandler

from framework.log import Counting, Limits, key_of
from framework.log.forms import error_name, traceback_text


class Forwarding(QueueHandler):
    """Sends every record away, with its message and traceback as text, so that it can be carried."""

    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self._send = send

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """A record that can be carried, with what nobody could see of it any more on the other side."""
        carried = copy.copy(record)
        carried.viper_key, carried.viper_error = key_of(record), error_name(record)
        carried.msg = carried.message = record.getMessage()
        carried.exc_text = traceback_text(record)
        carried.args = carried.exc_info = None
        return carried

    def enqueue(self, record: logging.LogRecord) -> None:
        """Send a record that can be carried."""
        self._send(record)


def current_levels() -> Mapping[str, int]:
    """The levels of the root logger, named ``""``, and of all loggers that have one of their own."""
    loggers = logging.root.manager.loggerDict.items()
    named = {
        name: found.level for name, found in loggers if isinstance(found, logging.Logger) and found.level
    }
    return {**named, "": logging.root.level}


def forward_logs(
    levels: Mapping[str, int], limits: Limits | None, send: Callable[[logging.LogRecord], None]
) -> Callable[[], None]:
    """Have everything that is logged in this process from now on sent away.

    Args:
        levels: as the parent has them.
        limits: from which on the parent counts what repeats; it is counted here already, so that a flood of
            errors is none for the pipe.
        send: takes each record.

    Returns:
        What to call at the end, to send what has only been counted until then.
    """
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    forwarding = Forwarding(send)
    if limits is None:
        logging.getLogger().handlers[:] = [forwarding]
        return lambda: None
    counting = Counting(forwarding, limits)
    logging.getLogger().handlers[:] = [counting]
    return counting.finish


def log_here(record: logging.LogRecord) -> None:
    """Log a record of another process as if it came from this one."""
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
