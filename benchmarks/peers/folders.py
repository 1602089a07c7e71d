"""The folder that a job and its program exchange files in, which is removed even if nobody lives to do it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
_PREFIX = "benchmark-"


@contextlib.contextmanager
def job_folder(parent: Path = SHARED_MEMORY) -> Iterator[str]:
    """A folder for one job; those of processes that were killed are removed first.

    A process holds a lock on its folder, which the kernel releases when the process ends, however it ends.

    Args:
        parent: where it is made, if that can be written to; else among the temporary files.
    """
    parent = parent if os.access(parent, os.W_OK) else Path(tempfile.gettempdir())
    with _locked(parent):  # so that nobody takes a folder for an abandoned one before it is locked
        _remove_abandoned(parent)
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), _locked(folder, fcntl.LOCK_NB):  # else it is in use, or not ours
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path, how: int = 0) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(opened)
