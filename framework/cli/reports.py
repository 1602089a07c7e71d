"""The report of a run as JSON, and the file that it is written to."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.json_text import json_text

if TYPE_CHECKING:
    from framework.runtime import RunReport


def report_json(report: RunReport) -> str:
    """A JSON object with the report's fields, and the rate; results that are no JSON are shown as text."""
    from framework.runtime.order.positions.offsets import checksum

    told = {**asdict(replace(report, shared=None)), "rate": report.rate, "lost": report.lost}
    told["again"] = report.again
    told["checksum"] = checksum(told)
    return json_text(told, default=str, indent=2, ensure_ascii=False) + "\n"


class ReportFile:
    """A file that will hold a report: at every moment it holds all of one, or what it held before.

    Args:
        path: of the file; ``-`` is stdout. Pipes and devices are written to as they are.

    Raises:
        OSError: nothing can be written there.
    """

    def __init__(self, path: str) -> None:
        self._name = path
        self._path = Path(path).resolve()  # as user code may change the current folder
        self._in_place = path == "-" or self._is_special() or not self._can_be_replaced()

    def _is_special(self) -> bool:
        return self._path.exists() and not (self._path.is_file() or self._path.is_dir())

    def _can_be_replaced(self) -> bool:
        """True if another file can take its place; one that can only be written to is in a folder of others.

        Raises:
            OSError: it can neither be replaced nor written to.
        """
        if self._path.exists():
            with open(self._path, "ab"):
                pass
        try:
            with tempfile.TemporaryFile(dir=self._path.parent):
                return True
        except PermissionError:
            if self._path.exists():
                return False
            raise

    def write(self, text: str) -> None:
        """Write a report.

        Raises:
            BrokenPipeError: nobody reads it any more.
            click.ClickException: it cannot be written, e.g. as the disk is full.
        """
        try:
            if self._name == "-":
                sys.stdout.write(text)
                sys.stdout.flush()
            elif self._in_place:
                self._path.write_text(text, encoding="utf-8")
            else:
                self._replace(text.encode())
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.ClickException(
                f"cannot write the report to {self._name}: {error.strerror or error}"
            ) from error

    @contextmanager
    def telling_failure(self) -> Iterator[None]:
        """A run that fails has no report; the file then says why."""
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:
            self.write(json.dumps({"error": str(error) or "stopped at once"}) + "\n")
            raise

    def _replace(self, content: bytes) -> None:
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), "wb") as file:
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(file.fileno(), stat.S_IMODE(self._path.stat().st_mode))
                file.write(content)
                file.flush()
                # The new name must not reach the disk before what it names.
                os.fsync(file.fileno())
            os.replace(beside, self._path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def parse_report(ctx: click.Context, param: click.Parameter, value: str | None) -> ReportFile | None:
    """The file of a path; one that cannot be written is refused before anything starts."""
    try:
        return None if value is None else ReportFile(value)
    except OSError as error:
        raise click.BadParameter(f"{value!r}: {error.strerror or error}") from error
