"""streamparse's log files: one for each task, beside the log of the run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from framework.model.errors import ConfigError
from framework.operators.components.levels import LEVELS
from framework.operators.log.origin import Origin, component_logger, origin_of


def log_level(conf: Mapping[str, Any]) -> int:
    """The least level that a component logs, as its configuration says."""
    return LEVELS["debug" if conf["topology.debug"] else conf["pystorm.log.level"]]


class TaskFiles(logging.Handler):
    """Writes what comes from a task to its file.

    Args:
        files: of tasks; what comes from a component, but from none of its tasks, is written to its first one.
    """

    def __init__(self, files: Mapping[Origin, logging.Handler]) -> None:
        super().__init__()
        self._files = dict(files)
        for origin in sorted(files):
            self._files.setdefault(Origin(origin.component), files[origin])

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, if there is a file for it that takes its level."""
        origin = origin_of(record)
        file = self._files.get(origin) if origin is not None else None
        if file is not None and record.levelno >= file.level:
            file.handle(record)


@contextmanager
def task_files(topology: str, tasks: Sequence[tuple[Origin, Mapping[str, Any]]]) -> Iterator[None]:
    """For as long as the block runs, write log files for those tasks whose configuration asks for one.

    A component's logger without a level gets the configured one meanwhile.

    Args:
        topology: its name.
        tasks: the tasks of this process, with their components' configuration.

    Raises:
        ConfigError: a file cannot be opened.
    """
    asked = [(origin, conf) for origin, conf in tasks if conf["pystorm.log.path"]]
    if not asked:
        yield
        return
    with ExitStack() as stack:
        files = {
            origin: stack.enter_context(closing(_opened(topology, origin, conf))) for origin, conf in asked
        }
        for origin, conf in asked:
            stack.enter_context(_level_at_least_said(component_logger(origin), log_level(conf)))
        handler, root = TaskFiles(files), logging.getLogger()
        root.addHandler(handler)
        stack.callback(root.removeHandler, handler)
        yield


def _opened(topology: str, origin: Origin, conf: Mapping[str, Any]) -> RotatingFileHandler:
    try:
        path = Path(conf["pystorm.log.path"], _file_name(topology, origin, conf))
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            path,
            maxBytes=conf["pystorm.log.max_bytes"],
            backupCount=conf["pystorm.log.backup_count"],
            encoding="utf-8",
        )
    except OSError as error:
        raise ConfigError(
            f"component {origin.component!r}, task {origin.task}: its log file cannot be opened: {error}; "
            "choose another folder (pystorm.log.path), or null for none"
        ) from error
    handler.setLevel(log_level(conf))
    handler.setFormatter(logging.Formatter(conf["pystorm.log.format"]))
    return handler


def _file_name(topology: str, origin: Origin, conf: Mapping[str, Any]) -> str:
    template: str = conf["pystorm.log.file"]
    return template.format(
        topology_name=topology, component_name=origin.component, task_id=origin.task, pid=os.getpid()
    )


@contextmanager
def _level_at_least_said(logger: logging.Logger, level: int) -> Iterator[None]:
    before = logger.level
    if before == logging.NOTSET:
        logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
