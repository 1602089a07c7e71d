"""What components and the runtime log, on stderr."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click

from framework.components.levels import LEVELS

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
    def __init__(self, before: Callable[[], None]) -> None:
        super().__init__()
        self._before = before
        self.setFormatter(
            logging.Formatter("%(asctime)s %(levelname)-7s %(shortname)s: %(message)s", "%H:%M:%S")
        )

    def emit(self, record: logging.LogRecord) -> None:
        record.shortname = record.name.rpartition("viperstorm.component.")[2]
        try:
            self._before()
            click.secho(self.format(record), err=True, fg=_COLOURS.get(record.levelno))
        except Exception:
            self.handleError(record)


@contextmanager
def logging_to_stderr(levels: Mapping[str, int], before: Callable[[], None]) -> Iterator[None]:
    """For as long as the block runs, write log lines to stderr.

    Args:
        levels: by name of the logger; the empty name is for all that are not named.
        before: called before each line, to clear what stands on the terminal's last line.
    """
    handler = _Stderr(before)
    root = logging.getLogger()
    previous = {name: logging.getLogger(name).level for name in levels}
    root.addHandler(handler)
    try:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        yield
    finally:
        root.removeHandler(handler)
        for name, level in previous.items():
            logging.getLogger(name).setLevel(level)
