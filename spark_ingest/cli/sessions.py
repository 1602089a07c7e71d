"""What commands that start Spark share: whose code they find, how they end, what they leave unsaid."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import error_line


@contextmanager
def spark_commands(what_is_left: str) -> Iterator[None]:
    """For as long as the block runs, Spark may.

    Modules are found as by a topology of the project in the current folder. Ctrl-C and SIGTERM end the block
    alike and in order: what it began is undone, and one line says so.

    Args:
        what_is_left: said in that line.

    Raises:
        click.exceptions.Exit: with the code of a stopped command.
    """
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with _users_code(), _without_noise():
            yield
    except KeyboardInterrupt:
        error_line(f"stopped; {what_is_left}")
        raise click.exceptions.Exit(ExitCode.STOPPED) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _users_code() -> Iterator[None]:
    from framework.importing import importable, project_folders
    from framework.loading.target import TOPOLOGIES

    with importable((*project_folders(Path(TOPOLOGIES, "any.yaml")), *project_folders(None))):
        yield


@contextmanager
def _without_noise() -> Iterator[None]:
    """Leave out what nobody who types a command can do anything about."""
    from spark_ingest.engine.failing import unlogged

    with unlogged(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield
