"""A folder that appears whole or not at all, and of which there is one writer at a time.

The new one is made in a working folder beside it, ``.NAME.preparing``, whose lock the writer holds. The
kernel drops the lock of a writer that dies, so the next one knows that what it left is nobody's.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_ingest.datasets import manifest as manifests
from spark_ingest.errors import DatasetError

NEW, OLD, LOCK = "new", "old", "lock"
_AT_CWD = -100
_EXCHANGE = 2


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """The working folder for a new version of a folder, empty and its own; it is removed in the end.

    Args:
        folder: the dataset that is to be made or replaced, absolute.

    Raises:
        DatasetError: the folder is somebody's who is no dataset, or another process is at it, or it cannot be
            written.
    """
    work = working_folder(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = _locked(work)
    except OSError as error:
        raise DatasetError(f"cannot write to {folder.parent}: {error.strerror}") from error
    try:
        _restore(work, folder)
        _check_ours(folder)
        _clear(work)
        yield work
    finally:
        _remove(work)
        os.close(lock)


def working_folder(folder: Path) -> Path:
    """Name the folder in which the next version of a folder is made."""
    return folder.with_name(f".{folder.name}.preparing")


def publish(new: Path, folder: Path) -> None:
    """Have a finished folder take the place of another, or of none, and remove the other.

    Raises:
        OSError: it cannot be moved.
    """
    old = working_folder(folder) / OLD
    if not folder.exists():
        os.rename(new, folder)
    elif _exchanged(new, folder):
        os.rename(new, old)
    else:  # A kill between these two leaves the old one in the working folder, from where it is restored.
        os.rename(folder, old)
        os.rename(new, folder)
    settle(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _locked(work: Path) -> int:
    """A lock on a file in the working folder, which its holder before may just be removing."""
    path = work / LOCK
    while True:
        work.mkdir(exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue
        if _holds(handle, path):
            return handle


def _holds(handle: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
            return True
    except BlockingIOError:
        who = os.pread(handle, 20, 0).decode(errors="replace")
        os.close(handle)
        name = path.parent.name.removeprefix(".").removesuffix(".preparing")
        raise DatasetError(
            f"{path.parent.with_name(name)} is being prepared by process {who}: "
            f"wait for it, or choose another folder"
        ) from None
    except FileNotFoundError:
        pass
    os.close(handle)
    return False


def _restore(work: Path, folder: Path) -> None:
    if not folder.exists() and (work / OLD / manifests.MANIFEST).is_file():
        os.rename(work / OLD, folder)


def _check_ours(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DatasetError(f"{folder} is a file: expected a new folder, or one that `viper prepare` made")
    if any(folder.iterdir()) and not manifests.is_dataset(folder):
        raise DatasetError(
            f"{folder} holds something else than a dataset, and is not overwritten: "
            f"choose another folder, or empty it"
        )


def _clear(work: Path) -> None:
    """Remove what a killed writer has left; a Java of its may still be writing there for a moment."""
    for left in work.iterdir():
        if left.name != LOCK:
            shutil.rmtree(left, ignore_errors=True)


def _remove(work: Path) -> None:
    """Remove all else before the lock, and the folder only if nobody has claimed it since."""
    with contextlib.suppress(OSError):
        _clear(work)
        (work / LOCK).unlink()
        work.rmdir()


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders' names in one step, where the system can."""
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if exchange is None:
        return False
    return bool(exchange(_AT_CWD, os.fsencode(one), _AT_CWD, os.fsencode(other), _EXCHANGE) == 0)


def settle(path: Path) -> None:
    """Have the disk hold what was written to a file or a folder.

    Raises:
        OSError: it cannot.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
