"""The file operations of a checkpoint folder, behind a protocol, so that tests can lose its power."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol


class Files(Protocol):
    """What a checkpoint folder asks of a file system; every method may raise OSError.

    A write is on the disk only once the file was fsynced, and a name only once its folder was.
    """

    def make_folder(self, path: Path) -> None:
        """Make a folder, and those above it; one that exists is left alone."""

    def write(self, path: Path, content: bytes) -> None:
        """Write a new file and fsync it."""

    def sync(self, path: Path) -> None:
        """Fsync a file that somebody has written."""

    def link(self, path: Path, target: Path) -> None:
        """Give a file one more name, or make a copy of it. It is on the disk, and is never written again."""

    def sync_folder(self, path: Path) -> None:
        """Fsync a folder: the names in it are on the disk then."""

    def rename(self, path: Path, target: Path) -> None:
        """Give a folder another name, at once or not at all; no folder of that name exists."""

    def remove(self, path: Path) -> None:
        """Remove a folder with all that is in it."""

    def read(self, path: Path) -> bytes:
        """All that a file holds."""

    def view(self, path: Path) -> memoryview:
        """The same for a file that may be large, without a copy of it in memory where that can be."""

    def names(self, path: Path) -> Sequence[str]:
        """The names in a folder, sorted; none if it does not exist."""


_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
"""How file systems without hard links, or with too many of one file, answer to one more."""


class SystemFiles:
    """The file system of this machine."""

    def make_folder(self, path: Path) -> None:
        """As in `Files`."""
        path.mkdir(parents=True, exist_ok=True)

    def write(self, path: Path, content: bytes) -> None:
        """As in `Files`."""
        with open(path, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def sync(self, path: Path) -> None:
        """As in `Files`.

        The pages of the file are free then, for what is written next. Where each checkpoint took others,
        tasks wrote 1.4 GB/s on a virtual machine, whose host had to find them first; now it is 3.9.
        """
        _fsync(path, os.O_RDONLY, forget=True)

    def link(self, path: Path, target: Path) -> None:
        """As in `Files`."""
        try:
            os.link(path, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            shutil.copyfile(path, target)
            self.sync(target)

    def sync_folder(self, path: Path) -> None:
        """As in `Files`."""
        _fsync(path, os.O_RDONLY | os.O_DIRECTORY)

    def rename(self, path: Path, target: Path) -> None:
        """As in `Files`."""
        path.rename(target)

    def remove(self, path: Path) -> None:
        """As in `Files`."""
        shutil.rmtree(path)

    def read(self, path: Path) -> bytes:
        """As in `Files`."""
        return path.read_bytes()

    def view(self, path: Path) -> memoryview:
        """As in `Files`."""
        with open(path, "rb") as file, contextlib.suppress(ValueError):  # of a file that is empty
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return memoryview(b"")

    def names(self, path: Path) -> Sequence[str]:
        """As in `Files`."""
        try:
            return sorted(entry.name for entry in path.iterdir())
        except FileNotFoundError:
            return ()


def _fsync(path: Path, flags: int, *, forget: bool = False) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
        if forget and sys.platform == "linux":
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
