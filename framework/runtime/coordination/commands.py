"""Commands to a run from other processes: by a socket in the folder that it holds.

A request is a line of JSON, ``{"command": ..., "arguments": {...}}``, and so is its answer.
Whoever may write to the folder may ask. A run that was killed leaves its socket behind, which nobody answers
at, and the next run replaces it.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framework.model.errors import RunNotFoundError, SuspendError, ViperError
from framework.runtime.durability.checkpoints.last_run import left_there
from framework.runtime.durability.checkpoints.lock import is_locked

_log = logging.getLogger("viperstorm.run")

SOCKET = "control"
"""Its name in the folder."""
_COMING = "control.coming"
"""Its name until it can be connected to, so that whoever finds it gets an answer."""
_LONGEST_PATH = 100
"""Bytes of a path that a socket's address has room for on every system."""
_LAST_ANSWERS_S = 5.0

Command = Callable[..., Mapping[str, Any]]


@contextmanager
def answering(folder: Path, commands: Mapping[str, Command]) -> Iterator[None]:
    """Let other processes give commands while the block runs.

    Args:
        folder: of the checkpoints; the run holds its lock.
        commands: by name what is called with the arguments, in a thread of its own; it returns what the
            answer holds, or raises a `ViperError`. Commands in progress when the block ends may still answer.
    """
    _remove_from(folder)  # those of a run that was killed
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    answers: list[threading.Thread] = []
    with contextlib.closing(listening):
        with _address_of(folder, _COMING) as address:
            listening.bind(address)
        os.chmod(folder / _COMING, 0o600)
        listening.listen()
        os.replace(folder / _COMING, folder / SOCKET)
        arguments = (listening, commands, answers)
        accepting = threading.Thread(target=_accept, args=arguments, name="viper-control", daemon=True)
        accepting.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)  # which ends the accept that is going on
            (folder / SOCKET).unlink(missing_ok=True)
            accepting.join(_LAST_ANSWERS_S)
            for answer in answers:
                answer.join(_LAST_ANSWERS_S)


def forget_killed(folder: Path) -> None:
    """Remove the socket that a killed run has left in a folder, unless another run has the folder."""
    if folder.is_dir() and not is_locked(folder):
        _remove_from(folder)


def _remove_from(folder: Path) -> None:
    for name in (SOCKET, _COMING):
        (folder / name).unlink(missing_ok=True)


def nobody_at(folder: Path) -> RunNotFoundError:
    """Return the error that a folder leads to no run in progress, with the contents of the folder."""
    return RunNotFoundError(
        f"no run is going on that is found by {folder}: {left_there(folder)}; viper ps lists those that go on"
    )


def ask(
    folder: Path,
    command: str,
    *,
    refused: type[ViperError] = SuspendError,
    within_s: float | None = None,
    **arguments: Any,
) -> Mapping[str, Any]:
    """Give the run that holds a folder a command, and wait for its answer.

    Args:
        folder: of the checkpoints.
        command: its name.
        refused: what is raised if the run refuses.
        within_s: seconds that its answer may take; None for any number.
        arguments: what the command takes, as JSON has it.

    Raises:
        RunNotFoundError: there is no such run, or it ends without an answer.
        ViperError: it refuses.
    """
    if not is_locked(folder):
        raise nobody_at(folder)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(within_s)
        try:
            with _address_of(folder, SOCKET) as address:
                line.connect(address)
            line.sendall(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
            answer = json.loads(_line_from(line))
        except (OSError, ValueError) as error:
            raise RunNotFoundError(f"the run that holds {folder} gives no answer: {error}") from error
    if "error" in answer:
        raise refused(answer["error"])
    found: Mapping[str, Any] = answer
    return found


@contextmanager
def _address_of(folder: Path, name: str) -> Iterator[str]:
    """A path of a socket that is short enough for a system that has few bytes for it."""
    path = folder / name
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield str(path)
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def _accept(
    listening: socket.socket, commands: Mapping[str, Command], answers: list[threading.Thread]
) -> None:
    with contextlib.suppress(OSError):  # the run has ended
        while True:
            line, _ = listening.accept()
            answer = threading.Thread(target=_answer, args=(line, commands), name="viper-answer", daemon=True)
            answers[:] = [*(known for known in answers if known.is_alive()), answer]
            answer.start()


def _answer(line: socket.socket, commands: Mapping[str, Command]) -> None:
    with line, contextlib.suppress(OSError):  # whoever has asked may be gone
        line.sendall(json.dumps(_done(_line_from(line), commands)).encode() + b"\n")


def _done(request: bytes, commands: Mapping[str, Command]) -> Mapping[str, Any]:
    try:
        asked = json.loads(request)
        command, arguments = commands[asked["command"]], dict(asked.get("arguments", {}))
        inspect.signature(command).bind(**arguments)
    except (ValueError, TypeError, KeyError):
        return {"error": f"the run does not know what to do for {request!r:.100}"}
    try:
        return command(**arguments)
    except ViperError as error:
        return {"error": str(error)}
    except Exception as error:  # which must not leave whoever has asked without an answer
        _log.exception("the command %s has failed", asked["command"])
        return {"error": f"{type(error).__name__}: {error}"}


def _line_from(line: socket.socket) -> bytes:
    with line.makefile("rb") as file:
        found = file.readline()
    if not found:
        raise ConnectionError("the connection was closed")
    return found
