"""The lock on a checkpoint folder: one run at a time writes there, and is found there by other commands."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from framework.model.errors import CheckpointError, has_no_room

LOCK = "lock"
"""The name of the lock file. It stays when the run has ended; the system's lock on it does not."""
_TRIES, _PAUSE_S = 50, 0.002
"""The tries of a run to get a lock that nobody has signed, and the seconds between two tries."""


def folder_locked(folder: Path | None) -> AbstractContextManager[None]:
    """Make a folder and hold its lock for a block, as `locked`; None for a run that has none.

    Raises:
        CheckpointError: it cannot be made.
    """
    if folder is None:
        return nullcontext()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from error
    return locked(folder)


def _unusable(folder: Path, error: OSError) -> Exception:
    """The error that a run cannot have a folder; that of the system if there is no room."""
    if has_no_room(error):
        return error
    return CheckpointError(
        f"cannot make {folder}, or write there: {error.strerror or error}; name another folder "
        "(--checkpoints, --control)"
    )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which exists, for the block.

    The system gives up the lock of a process that dies, however it dies, so nothing has to be cleaned up.

    Raises:
        CheckpointError: another run holds it, or it cannot be written to.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unusable(folder, error) from error
    try:
        if not _has_locked(descriptor):
            raise CheckpointError(
                f"{folder} belongs to a run that is going on{_told_by(descriptor)}: suspend it with "
                f"viper stop --checkpoint {folder}, or use another folder"
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _has_locked(descriptor: int) -> bool:
    """Take a lock, unless a run has it; whoever only asks whether it is taken has it for a moment, too."""
    for left in reversed(range(_TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _told_by(descriptor):
                return False
            if left:
                time.sleep(_PAUSE_S)
        else:
            return True
    return False


def is_locked(folder: Path) -> bool:
    """True if a run in progress writes its checkpoints to a folder."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(folder / LOCK, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


def _told_by(descriptor: int) -> str:
    told = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
    return f" ({told})" if told else ""
