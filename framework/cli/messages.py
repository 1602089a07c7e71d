"""Lines on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from framework.topology import Problem


def error_line(message: str) -> None:
    """``error: ...``"""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {message}", err=True)


def note(message: str) -> None:
    """A line that is neither an error nor a warning."""
    click.echo(message, err=True)


def problem_lines(problems: Sequence[Problem], *, err: bool) -> None:
    """Each problem on a line of its own: ``file:line: message``."""
    for problem in problems:
        line = " ".join(part.strip() for part in str(problem).splitlines())
        click.secho(line, err=err, fg="yellow" if problem.warning else None)


def counted(number: int, noun: str, nouns: str = "") -> str:
    """``1 warning``, ``2 warnings``, ``no warnings``; ``nouns`` where the plural takes more than an s."""
    return f"{number or 'no'} {noun if number == 1 else nouns or f'{noun}s'}"
