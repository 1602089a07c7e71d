"""The common part of commands that start Spark: paths of modules, interrupts, and warnings left out."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import error_line
from framework.common.prints import prints_to_stderr
from spark_ingest.engine.session import PATIENCE_S, kill_java
from spark_ingest.job.files import is_local


@contextmanager
def spark_commands(folder: str | Path) -> Iterator[None]:
    """For as long as the block runs, Spark may.

    Modules are found as by a topology of the project in the current folder. Ctrl-C and SIGTERM end the block
    alike and in order: what it began is undone, and one line says so. Output that user code, Spark and its
    programs print meanwhile goes to stderr.

    Args:
        folder: what is made or replaced; the line says whether it was. A URL is not checked.

    Raises:
        click.exceptions.Exit: with the code of a stopped command.
    """
    interrupts, there = _Interrupts(), _seen(folder)
    before = {number: signal.signal(number, interrupts.take) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with prints_to_stderr(), _users_code(), _without_noise():
            yield
    except (KeyboardInterrupt, Exception):  # the latter where tidying up fails
        if not interrupts.came:
            raise
        error_line(_stopped(folder, there))
        raise click.exceptions.Exit(ExitCode.STOPPED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped(folder: str | Path, there: tuple[int, int] | None) -> str:
    """The line that reports what became of a folder; `there` is what it was when the command began."""
    if not is_local(str(folder)):
        return "stopped"
    now = _seen(folder)
    if now == there:
        return f"stopped; {folder} is as it was"
    if now is None:
        beside = f"what was there lies beside it, under a name that begins with .{Path(folder).name}"
        return f"stopped; {folder} is not there: {beside}"
    return f"stopped; {folder} was done already, and is new"


def _seen(folder: str | Path) -> tuple[int, int] | None:
    """Device and inode of a folder; None if there is none of that name, or if the name is a URL."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _Interrupts:
    """The first interrupts; those after it let the tidying up be, unless that takes long."""

    def __init__(self) -> None:
        self._first_s: float | None = None

    @property
    def came(self) -> bool:
        """True if there was one."""
        return self._first_s is not None

    def take(self, signum: int, frame: FrameType | None) -> None:
        """Deal with one, as a handler."""
        if self._first_s is None:
            self._first_s = time.monotonic()
            raise KeyboardInterrupt
        if time.monotonic() - self._first_s > PATIENCE_S and not kill_java():
            raise KeyboardInterrupt


@contextmanager
def _users_code() -> Iterator[None]:
    from framework.frontends.loading import TOPOLOGIES
    from framework.model.importing import importable, project_folders

    with importable((*project_folders(Path(TOPOLOGIES, "any.yaml")), *project_folders(None))):
        yield


@contextmanager
def _without_noise() -> Iterator[None]:
    """Leave out what nobody who types a command can do anything about."""
    from spark_ingest.engine.failing import unlogged

    with unlogged(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
