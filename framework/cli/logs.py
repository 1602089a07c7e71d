"""The log lines of components and of the runtime, on stderr."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TextIO, cast

import click

from framework.cli.messages import note
from framework.operators.components.levels import LEVELS
from framework.operators.log import FORMS, Counting, Limits, LogForm

_COLOURS = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "red"}


def parse_levels(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> Mapping[str | None, int]:
    """``LEVEL`` or ``COMPONENT=LEVEL`` each; None stands for all components."""
    levels: dict[str | None, int] = {}
    for value in values:
        component, _, level = value.rpartition("=")
        if level.lower() not in LEVELS:
            raise click.BadParameter(f"unknown level {level!r}: expected {', '.join(LEVELS)}")
        levels[component or None] = LEVELS[level.lower()]
    return levels


class _Stderr(logging.Handler):
    def __init__(self, form: LogForm, around: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__()
        self._around = around
        self._colours = _COLOURS if form is LogForm.TEXT else {}
        self.setFormatter(FORMS[form]())

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
            with self._around():
                click.secho(line, err=True, fg=self._colours.get(record.levelno))
        except Exception:
            self.handleError(record)


def stderr_for_lines(form: LogForm) -> TextIO:
    """Choose the stream for plain text: stderr, or one that makes a JSON object of each line."""
    return sys.stderr if form is LogForm.TEXT else cast(TextIO, _Notes())


class _Notes(io.TextIOBase):
    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for line in text.splitlines():
            note(line.strip())
        return len(text)


@contextmanager
def logging_to_stderr(
    levels: Mapping[str, int],
    around: Callable[[], AbstractContextManager[None]],
    form: LogForm,
    limits: Limits,
) -> Iterator[None]:
    """For as long as the block runs, write log lines to stderr.

    Args:
        levels: by name of the logger; the empty name is for all that are not named.
        around: makes the context in which each line is written; it keeps the terminal's last line free.
        form: what a line looks like.
        limits: how often the same error is logged before it is counted.
    """
    handler = Counting(_Stderr(form, around), limits)
    root = logging.getLogger()
    previous = {name: logging.getLogger(name).level for name in levels}
    root.addHandler(handler)
    try:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        yield
    finally:
        handler.finish()
        root.removeHandler(handler)
        for name, level in previous.items():
            logging.getLogger(name).setLevel(level)
