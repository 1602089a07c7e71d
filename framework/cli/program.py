"""The meaning of signals to a program before its command deals with them itself, and after that has ended."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from framework.cli.exit_codes import ExitCode
from framework.cli.leftovers import ending_without_them
from framework.cli.messages import warning_line

PATIENCE_S = 2.0
"""Seconds in which a program that has come to its end leaves; what holds it longer can be interrupted."""
_ASK_FOR_THE_END = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def as_a_program(warn: Callable[[str], None] = warning_line) -> Iterator[None]:
    """For as long as the block runs, SIGTERM is what Ctrl-C is.

    After it, neither changes how the program ends: its exit code says what it has done. Python's own work at
    its end is not to be broken off with a traceback. Threads of components do not hold it for ever. Only a
    process's main thread can do so; elsewhere the block just runs.

    Args:
        warn: says on stderr what is left behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    atexit.register(_ignore)  # runs after all that is registered later; then Python takes handlers away
    signal.signal(signal.SIGTERM, _interrupt)
    code: object = ExitCode.FAILED
    try:
        yield
        code = ExitCode.OK
    except SystemExit as error:
        code = error.code or ExitCode.OK
        raise
    finally:
        _leave(code if isinstance(code, int) else ExitCode.FAILED, warn)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _leave(code: int, warn: Callable[[str], None]) -> None:
    ended_s = time.monotonic()

    def leave(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - ended_s > PATIENCE_S:
            os._exit(code)

    for number in _ASK_FOR_THE_END:
        signal.signal(number, leave)

    def without_them(left: Sequence[str]) -> None:
        for line in left:
            warn(line)
        atexit.unregister(_ignore)  # which only the main thread can call

    ending_without_them(code, without_them)


def _ignore() -> None:
    for number in _ASK_FOR_THE_END:
        signal.signal(number, signal.SIG_IGN)
