"""From exceptions to messages on stderr and exit codes."""

from __future__ import annotations

import os
import select
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import error_line, failure, problem_lines
from framework.errors import (
    ComponentError,
    ConfigError,
    EmitError,
    LoadError,
    RecordingError,
    TopologyError,
    ViperError,
    WorkerError,
)
from framework.tracebacks import of_user_code

TRACEBACKS = "framework.cli.tracebacks"
"""The key in a context's `meta` that says whether errors come with a traceback."""

_INVALID = (TopologyError, ConfigError, LoadError, EmitError, RecordingError)


class ViperGroup(click.Group):
    """A group of commands whose errors end in one place."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its errors become a message and an exit code."""
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
        except KeyboardInterrupt:
            error_line("stopped at once; what was in flight is lost")
            ctx.exit(ExitCode.STOPPED)
        except Exception as error:
            if isinstance(error.__cause__, BrokenPipeError) and _nobody_reads_stdout():
                _drop_stdout()
                ctx.exit(ExitCode.BROKEN_PIPE)
            ctx.exit(_reported(error, bool(ctx.meta.get(TRACEBACKS))))


@contextmanager
def _flushing_stdout() -> Iterator[None]:
    """Find out here whether somebody still reads stdout, and not when the interpreter ends."""
    try:
        yield
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _reported(error: Exception, with_traceback: bool) -> ExitCode:
    """Tell what went wrong, and choose the exit code."""
    text = "".join(traceback.format_exception(error)) if with_traceback else ""
    if isinstance(error, TopologyError):
        if text:
            failure(f"{len(error.problems)} problems", error, text)
        problem_lines(error.problems, err=True)
    elif isinstance(error, ComponentError):
        raised = error.__cause__ or error
        failure(str(error), raised, text or "".join(of_user_code(error.__cause__)))
    elif isinstance(error, ViperError):
        failure(str(error), error, text)
    else:
        what = f"{type(error).__name__}: {error}"
        hint = "" if with_traceback else "; viper --debug shows its traceback"
        failure(f"this is a bug in ViperStorm, please report it: {what}{hint}", error, text)
    return _exit_code(error)


def _exit_code(error: Exception) -> ExitCode:
    if isinstance(error, _INVALID):
        return ExitCode.INVALID
    if isinstance(error, ComponentError | WorkerError):
        return ExitCode.FAILED
    return ExitCode.INTERNAL


def _nobody_reads_stdout() -> bool:
    """Whether a component's broken pipe was stdout, and not some connection of its own."""
    waiting = select.poll()
    waiting.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in waiting.poll(0))


def _drop_stdout() -> None:
    # What is still buffered would be written when the interpreter ends, which would complain once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
