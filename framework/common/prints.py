"""Stdout is for data: what user code prints while it is loaded goes to stderr.

While a topology runs, what its components print goes to their logs: ``framework/operators/log/stdout.py``.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_STDOUT, _STDERR = 1, 2


@contextmanager
def prints_to_stderr() -> Iterator[None]:
    """For as long as the block runs, what this process and those that it starts print goes to stderr.

    The file descriptor of stdout leads to stderr meanwhile. So the prints of extensions in C and of other
    programs are covered too, and user code may configure, wrap or keep ``sys.stdout`` as it does elsewhere.
    The block concerns all threads of the process. Blocks may be nested.
    """
    stdout = sys.stdout
    with _stdout_descriptor_to_stderr():
        if stdout is None or _is_on_descriptor(stdout):
            with _line_by_line(stdout):
                yield
            return
        sys.stdout = sys.stderr  # stdout is an object of its own, e.g. in a notebook
        try:
            yield
        finally:
            sys.stdout = stdout


@contextmanager
def _stdout_descriptor_to_stderr() -> Iterator[None]:
    _flush()  # what was printed before is not to go there
    try:
        before = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # one of them is closed
        yield
        return
    try:
        yield
    finally:
        _flush()
        _flush_c()
        os.dup2(before, _STDOUT)
        os.close(before)


@contextmanager
def _line_by_line(stdout: TextIO | None) -> Iterator[None]:
    """Show each printed line at once, as stderr does, also where stdout gathers lines for a pipe."""
    if not isinstance(stdout, io.TextIOWrapper) or stdout.line_buffering:
        yield
        return
    stdout.reconfigure(line_buffering=True)
    try:
        yield
    finally:
        if not stdout.closed:
            stdout.reconfigure(line_buffering=False)


def _is_on_descriptor(stdout: TextIO) -> bool:
    try:
        return stdout.fileno() == _STDOUT
    except (OSError, ValueError, AttributeError):
        return False


def _flush() -> None:
    # Where stdout is closed, or nobody reads it, the command that writes its data finds out and says so.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()


def _flush_c() -> None:
    """Write what extensions have left in C's own buffer of stdout, which Python knows nothing of."""
    libc = _libc()
    if libc is not None:
        libc.fflush(None)


@functools.cache
def _libc() -> Any:
    """The C library of this process, once, as what `ctypes` makes of it refers to itself; None without it."""
    try:
        import ctypes
    except ImportError:  # as where Python was built without libffi
        return None
    return ctypes.CDLL(None)
