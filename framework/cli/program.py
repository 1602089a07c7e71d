"""A command as a program: the meaning of signals around it, and threads of components that outlive it."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from framework.cli.exit_codes import ExitCode
from framework.cli.messages import warning_line

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

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


LAST_THREADS_S = 3.0
"""Seconds that threads and processes of components may still take at the end of a command."""
LAST_CALLS_S = 2.0
"""Seconds that functions may take which were registered by `atexit`, after that."""
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_HINT = "end it in close(), or make it a daemon"


def ending_without_them(code: int, tell: Callable[[Sequence[str]], None]) -> None:
    """From now on, end this process with an exit code if components' threads or processes hold it for long.

    Python waits for them, for ever perhaps, before a process ends. Storm kills a worker with all its threads,
    and so does a run with its worker processes. So the command waits a while, says what was left, and ends
    without it.

    Everything of the command itself is over by now: what it has opened is closed, and stdout is flushed.
    Meanwhile Python ends what ends by itself, such as the threads of a pool that have nothing to do.

    Args:
        code: the exit code.
        tell: called before that with a line for each of them.
    """
    if _threads() or _processes():
        threading.Thread(target=_end, args=(code, tell), name="viper-leftovers", daemon=True).start()


def _end(code: int, tell: Callable[[Sequence[str]], None]) -> None:
    until_s = time.monotonic() + LAST_THREADS_S
    holding: list[threading.Thread | BaseProcess] = [*_threads(), *_processes()]
    for held in holding:
        held.join(max(until_s - time.monotonic(), 0.0))
    told = [*map(_of_thread, _threads()), *map(_of_process, _processes())]
    if not told:
        return
    tell([f"{line}; the command ends without it: {_HINT}" for line in told])
    for process in _processes():
        process.kill()
    last = threading.Thread(target=_call_last, name="viper-last", daemon=True)
    last.start()
    last.join(LAST_CALLS_S)
    os._exit(code)


def _call_last() -> None:
    """Do what Python does at its end."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _threads() -> list[threading.Thread]:
    """The threads that Python waits for."""
    return [t for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()]


def _processes() -> list[BaseProcess]:
    """The processes that it waits for, of those that multiprocessing has started."""
    module = sys.modules.get("multiprocessing.process")
    return [] if module is None else [child for child in module.active_children() if not child.daemon]


def _of_thread(thread: threading.Thread) -> str:
    from framework.operators.log import starter_of

    origin = starter_of(thread)
    of = f" of component {origin.component!r}, task {origin.task}," if origin else ""
    where = next(_places(sys._current_frames().get(thread.ident or 0)), "")
    return f"the thread {thread.name!r}{of} goes on{where}"


def _places(frame: FrameType | None) -> Iterator[str]:
    """The place where a thread is, by its innermost lines: first of user code, then of Python's own."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    for each in sorted(frames, key=lambda each: each.f_code.co_filename.startswith(_STDLIB)):
        yield f" in {each.f_code.co_qualname}, {each.f_code.co_filename}:{each.f_lineno}"


def _of_process(process: BaseProcess) -> str:
    return f"the process {process.name!r} (pid {process.pid}) that a component has started goes on"
