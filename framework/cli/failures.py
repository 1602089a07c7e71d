"""From exceptions to messages on stderr and exit codes."""

from __future__ import annotations

import os
import select
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import error_line, failure, problem_lines, warning_line
from framework.cli.plugins import PluginGroup
from framework.cli.program import as_a_program
from framework.model.errors import (
    ComponentError,
    InternalError,
    NoRoomError,
    TopologyError,
    ViperError,
    has_no_room,
)
from framework.model.tracebacks import name_of, of_user_code

TRACEBACKS = "framework.cli.tracebacks"
"""The key in a context's `meta` that says whether errors come with a traceback."""


class ViperGroup(PluginGroup):
    """A group of commands whose errors end in one place."""

    _context: click.Context | None = None
    """That of the command, which says how messages look."""

    def main(self, args: Sequence[str] | None = None, *others: Any, **more: Any) -> Any:
        """Run a command line: `args`, or that of this process, which is a program then."""
        with as_a_program(self._warn) if args is None else nullcontext():
            return super().main(args, *others, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its errors become a message and an exit code."""
        self._context = ctx
        _open_stderr()
        try:
            with _flushing_stdout():
                return super().invoke(ctx)
        except click.FileError as error:
            error.show()
            ctx.exit(ExitCode.USAGE)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _drop_stdout()
            ctx.exit(ExitCode.BROKEN_PIPE)
        except KeyboardInterrupt as error:
            error_line(str(error) or "stopped at once; what was in flight is lost")
            ctx.exit(ExitCode.STOPPED)
        except Exception as error:
            if _broke_a_pipe(error.__cause__) and _nobody_reads_stdout():
                _drop_stdout()
                ctx.exit(ExitCode.BROKEN_PIPE)
            ctx.exit(_reported(error, bool(ctx.meta.get(TRACEBACKS))))


    def _warn(self, message: str) -> None:
        """Write a warning when the command has ended, from any thread."""
        with nullcontext() if self._context is None else self._context.scope(cleanup=False):
            warning_line(message)


def _open_stderr() -> None:
    """Open a stderr where it was closed: else the next file that is opened gets its descriptor."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


@contextmanager
def _flushing_stdout() -> Iterator[None]:
    """Flush stdout at the end of the block: an error there is reported now, not when Python ends."""
    try:
        yield
    finally:
        if sys.stdout is not None:
            _flush_stdout()


def _flush_stdout() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_stdout()
        raise click.ClickException(f"cannot write to stdout: {error.strerror or error}") from error


def _reported(error: Exception, with_traceback: bool) -> ExitCode:
    """Tell what went wrong, and choose the exit code."""
    text = "".join(traceback.format_exception(error)) if with_traceback else ""
    notes: Sequence[str] = getattr(error, "__notes__", ())
    if isinstance(error, TopologyError):
        if text:
            failure(f"{len(error.problems)} problems", error, text)
        problem_lines(error.problems, err=True)
    elif isinstance(error, ComponentError):
        raised = error.__cause__ or error
        shown = text or "".join(of_user_code(error.__cause__))
        failure(str(error), raised, shown, notes, component=error.component, task=error.task)
    elif isinstance(error, ViperError):
        failure(str(error), error, text, notes)
    elif has_no_room(error):
        failure(f"cannot write: {error}", error, text)
    else:
        what = f"{type(error).__name__}: {error}"
        hint = "" if with_traceback else "; viper --debug shows its traceback"
        failure(f"this is a bug in ViperStorm, please report it: {what}{hint}", error, text)
    return _exit_code(error)


def _exit_code(error: Exception) -> ExitCode:
    """By what a `ViperError` is besides, so that those of other packages have theirs."""
    if isinstance(error, NoRoomError):
        return ExitCode.FAILED
    if isinstance(error, ViperError) and not isinstance(error, InternalError):
        return ExitCode.INVALID if isinstance(error, ValueError) else ExitCode.FAILED
    return ExitCode.FAILED if has_no_room(error) else ExitCode.INTERNAL


def _broke_a_pipe(cause: BaseException | None) -> bool:
    return cause is not None and name_of(cause) == BrokenPipeError.__name__


def _nobody_reads_stdout() -> bool:
    """True if a component's broken pipe was stdout, and not some connection of its own."""
    if sys.stdout is None:
        return False
    waiting = select.poll()
    waiting.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in waiting.poll(0))


def _drop_stdout() -> None:
    # What is still buffered would be written when the interpreter ends, which would complain once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
