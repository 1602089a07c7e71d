"""Starts worker processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from types import ModuleType

from framework.lifeline import Lifeline
from framework.runtime.control.signals import LEFT_TO_PARENT, blocked
from framework.runtime.workers import main as child
from framework.runtime.workers.messages import Handles
from framework.runtime.workers.shipping import needs_main_module
from framework.runtime.workers.standing_by import OF_STATE

HASH_SEED = "0"
"""Python's hashes of texts are the same in all worker processes and runs, and so is the order of sets."""
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
    ported = ["framework.adapters.ported_host", "streamparse"] if "streamparse" in sys.modules else []
    return [child.__name__, *OF_STATE, *ported]


def start(
    context: BaseContext,
    name: str,
    main: Callable[..., None],
    lifeline: Lifeline,
    handles: Handles,
    packed: bytes,
) -> tuple[BaseProcess, Connection]:
    """Start a process; returns it and this end of the pipe to it.

    Args:
        context: how.
        name: of the process.
        main: what it executes, as `child.main`.
        lifeline: of this process.
        handles: of the memory that the processes share.
        packed: its job.
    """
    ours, theirs = context.Pipe()
    process = context.Process(  # type: ignore[attr-defined]
        target=main, args=(theirs, lifeline, handles, _Streams(), packed), name=name
    )
    with blocked(frozenset({signal.SIGQUIT})):  # which Ctrl-\\ sends to all processes of a terminal
        resource_tracker.ensure_running()  # which unblocks other signals when it is started later
    left_out = contextlib.nullcontext() if needs_main_module(packed) else _main_module_left_out()
    with _one_at_a_time, left_out, _fixed_hashes(), blocked(LEFT_TO_PARENT):
        process.start()
    theirs.close()
    return process, ours


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
