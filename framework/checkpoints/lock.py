"""The lock on a checkpoint folder: one run at a time writes there, and is found there by other commands."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from framework.errors import CheckpointError

LOCK = "lock"
"""The name of the lock file. It stays when the run has ended; the system's lock on it does not."""


def folder_locked(folder: Path | None) -> AbstractContextManager[None]:
    """Make a folder and hold its lock for a block, as `locked`; None for a run that has none."""
    if folder is None:
        return nullcontext()
    folder.mkdir(parents=True, exist_ok=True)
    return locked(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which exists, for the block.

    The system gives up the lock of a process that dies, however it dies, so nothing has to be cleaned up.

    Raises:
        CheckpointError: another run holds it.
    """
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointError(
                f"{folder} belongs to a run that is going on{_told_by(descriptor)}: suspend it with "
                f"viper stop --checkpoint {folder}, or use another folder"
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a run is going on that writes its checkpoints to a folder."""
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
