"""Lines on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from framework.model.tracebacks import name_of

if TYPE_CHECKING:
    from framework.model.topology import Problem

AS_JSON = "framework.cli.as_json"
"""The key in a context's `meta` that says whether each line on stderr is a JSON object, as in the log."""


def error_line(message: str) -> None:
    """``error: ...``"""
    if not _said_as_json("ERROR", message):
        click.echo(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)


def warning_line(message: str) -> None:
    """``warning: ...``"""
    if not _said_as_json("WARNING", message):
        click.echo(f"{click.style('warning:', fg='yellow')} {message}", err=True)


def note(message: str) -> None:
    """A line that is neither an error nor a warning."""
    if not _said_as_json("INFO", message):
        click.echo(message, err=True)


def problem_lines(problems: Sequence[Problem], *, err: bool) -> None:
    """Each problem on a line of its own: ``file:line: message``."""
    for problem in problems:
        line = " ".join(part.strip() for part in str(problem).splitlines())
        if not (err and _said_as_json("WARNING" if problem.warning else "ERROR", line)):
            click.secho(line, err=err, fg="yellow" if problem.warning else None)


def failure(
    message: str, error: BaseException, traceback: str, notes: Sequence[str] = (), **speaker: Any
) -> None:
    """Report the error that ended a command, after its traceback, which may be empty.

    Args:
        message: what has happened.
        error: whose type is named in JSON.
        traceback: of it.
        notes: what happened after that, a line each.
        speaker: ``component`` and ``task`` in JSON, where they are known.
    """
    told = {"error": name_of(error), "traceback": traceback or None, **speaker}
    if not _said_as_json("ERROR", message, **told, **({"notes": list(notes)} if notes else {})):
        click.echo(traceback, err=True, nl=False)
        error_line(message)
        for line in notes:
            click.echo(f"  {line}", err=True)


def _said_as_json(level: str, message: str, **more: Any) -> bool:
    """Say something as an object, if that is how it is to be said; whether it is."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(AS_JSON):
        return False
    from framework.operators.log.forms import json_line

    click.echo(json_line(level, "viperstorm.cli", message, **more), err=True)
    return True


def counted(number: int, noun: str, nouns: str = "") -> str:
    """``1 warning``, ``2 warnings``, ``no warnings``; ``nouns`` where the plural takes more than an s."""
    return f"{number or 'no'} {noun if number == 1 else nouns or f'{noun}s'}"
