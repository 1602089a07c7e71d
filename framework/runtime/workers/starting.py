"""Starts worker processes."""

from __future__ import annotations

import contextlib
import errno
import logging
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from types import ModuleType
from typing import Final

from framework.common.lifeline import Lifeline
from framework.runtime.coordination.signals import LEFT_TO_PARENT, blocked
from framework.runtime.workers import main as child
from framework.runtime.workers.messages import Handles
from framework.runtime.workers.server import current_server
from framework.runtime.workers.standby import OF_STATE

log = logging.getLogger("viperstorm.worker")

TRIES = 3
"""The number of servers in a row that may end while they start a process."""
SCARCE: Final = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""The error numbers by which a system says that it has no room for one more process or file."""
HASH_SEED = "0"
"""Python's hashes of texts are the same in all worker processes and runs, and so is the order of sets."""
_TIDYING = "framework.runtime.workers.tidying"
"""A module for the server alone, which nobody else may import."""
_one_at_a_time = threading.Lock()
"""Held while the environment and the main module of this process are changed to start another."""


def make_context() -> BaseContext:
    """The way to start processes: from a server that has imported what they need, or each from scratch."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(preloaded())
    return context


def preloaded() -> list[str]:
    """The modules that the server imports, so that no process has to which it starts."""
    ported = (
        ["framework.frontends.streamparse.ported_host", "streamparse"] if "streamparse" in sys.modules else []
    )
    return [child.__name__, *OF_STATE, *ported, _TIDYING]


def start(
    context: BaseContext,
    name: str,
    main: Callable[..., None],
    lifeline: Lifeline,
    handles: Handles,
    packed: bytes,
    needs_main: bool,
) -> tuple[BaseProcess, Connection]:
    """Start a process; returns it and this end of the pipe to it.

    Args:
        context: how.
        name: of the process.
        main: what it executes, as `child.main`.
        lifeline: of this process.
        handles: of the memory that the processes share.
        packed: its job.
        needs_main: true if that refers to what the main module defines, which is a script.

    Raises:
        ServerEndedError: as often as that is tried, the server has ended meanwhile.
        OSError: there is no room for it.
    """
    for left in reversed(range(TRIES)):
        ours, theirs = context.Pipe()
        process = context.Process(  # type: ignore[attr-defined]
            target=main, args=(theirs, lifeline, handles, _Streams(), packed), name=name
        )
        left_out = contextlib.nullcontext() if needs_main else _main_module_left_out()
        try:
            _have_tracker()
            with _one_at_a_time, left_out, _fixed_hashes(), blocked(LEFT_TO_PARENT):
                process.start()
        except (OSError, EOFError) as error:
            ours.close()  # of which a process that has got so far hears
            server = current_server()
            if server is None or getattr(error, "errno", None) in SCARCE or not server.ends():
                raise
            told = f"the server process that starts the others (pid {server.pid}) has ended meanwhile"
            if not left:
                raise ServerEndedError(f"{told}, {TRIES} times in a row") from error
            log.warning("%s cannot be started, as %s; another one is started", name, told)
        else:
            return process, ours
        finally:
            theirs.close()
    raise AssertionError


class ServerEndedError(OSError):
    """No process can be started, as each server ends that is to start it."""


def _have_tracker() -> None:
    """Start the process that `multiprocessing` has for resources with names, unless it runs.

    Nothing of a run is kept there, so one that was killed takes nothing with it.
    """
    with (
        blocked(frozenset({signal.SIGQUIT})),  # which Ctrl-\\ sends to all processes of a terminal
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        resource_tracker.ensure_running()  # which unblocks other signals when it is started later
    if told:
        log.warning(
            "the resource tracker of multiprocessing had ended, and was started again; nothing of this run "
            "was kept there"
        )


def environment() -> dict[str, str]:
    """The environment of this process, without what another thread changes in it to start a process."""
    with _one_at_a_time:
        return dict(os.environ)


@contextlib.contextmanager
def _fixed_hashes() -> Iterator[None]:
    """A process that is started meanwhile hashes texts as all others do."""
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = HASH_SEED
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONHASHSEED"]
        else:
            os.environ["PYTHONHASHSEED"] = before


@contextlib.contextmanager
def _main_module_left_out() -> Iterator[None]:
    """A process that is started meanwhile does not import the main module, as it would otherwise.

    That takes time, and a script that runs a topology at its top level would run it again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Streams:
    """Stdout and stderr as they are now, for a process that is about to be started."""

    def __reduce__(self) -> tuple[type, tuple[list[tuple[int, object]]]]:
        return dict, ([(number, DupFd(number)) for number in (1, 2) if _is_open(number)],)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
