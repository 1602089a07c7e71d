"""Log records of worker processes: one log for all."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from logging.handlers import QueueHandler


class Forwarding(QueueHandler):
    """Sends every record away, with its message and traceback as text, so that it can be carried."""

    def __init__(self, send: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self._send = send

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


def forward_logs(levels: Mapping[str, int], send: Callable[[logging.LogRecord], None]) -> None:
    """Have everything that is logged in this process from now on sent away.

    Args:
        levels: as the parent has them.
        send: takes each record.
    """
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    logging.getLogger().handlers[:] = [Forwarding(send)]


def log_here(record: logging.LogRecord) -> None:
    """Log a record of another process as if it came from this one."""
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)
