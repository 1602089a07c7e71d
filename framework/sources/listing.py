"""The files of a source: found by a path, in an order that every run finds them in, and known again."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from framework.errors import SourceError

_HIDDEN = (".", "_")
"""What names of files begin with that are not data: drafts, markers, manifests."""


class SourceFile(NamedTuple):
    """A file as it was when it was found."""

    path: str
    bytes: int
    """Its size."""
    changed_ns: int
    """When it was changed last, in nanoseconds since 1970."""
    inode: int | None = None
    """The number by which the file system knows a file that grows; None for one that is not to change."""

    @classmethod
    def at(cls, path: str) -> SourceFile:
        """The file at a path, as it is now.

        Raises:
            SourceError: there is none.
        """
        try:
            found = os.stat(path)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from None
        return cls(path, found.st_size, found.st_mtime_ns)

    @classmethod
    def growing(cls, path: str) -> SourceFile:
        """The file at a path, to which others append.

        Raises:
            SourceError: there is none.
        """
        found = cls.at(path)
        return found._replace(inode=os.stat(path).st_ino)

    def check(self, opened: IO[Any]) -> None:
        """Compare the file with one that is open, before its first byte is used and after its last.

        Raises:
            SourceError: that is another file, or it has been changed since.
        """
        found = os.fstat(opened.fileno())
        if self.inode is not None:
            self._check_grown(found)
        elif (found.st_size, found.st_mtime_ns) != (self.bytes, self.changed_ns):
            raise SourceError(
                f"{self.path} was changed or replaced while the run read it ({self.bytes:,} bytes when it "
                f"was found, {found.st_size:,} now): write files aside and rename them when they are whole"
            )

    def _check_grown(self, found: os.stat_result) -> None:
        if found.st_ino != self.inode or found.st_size < self.bytes:
            raise SourceError(
                f"{self.path} was cut off or replaced while it is followed ({self.bytes:,} bytes when it was "
                f"found, {found.st_size:,} now): put it back, or start from the beginning"
            )


def listed(paths: Sequence[str]) -> list[SourceFile]:
    """The files that paths, folders and patterns name.

    The files of a folder and of a pattern come in the order of their names, whatever the file system thinks.
    Names that begin with a dot or an underscore are no data. A file that is named twice is read once.

    Args:
        paths: each a file, a folder, of which every file is meant, or a pattern as of `glob`, where ``**``
            stands for any folders.

    Raises:
        SourceError: there is no file at all, or not the one that is named.
    """
    found = dict.fromkeys(path for wanted in paths for path in _matching(wanted))
    if not found:
        raise SourceError(f"no file to read: nothing matches {', '.join(paths) or 'an empty list of paths'}")
    return [SourceFile.at(path) for path in found]


def in_folder(folder: str) -> list[str]:
    """The paths of the files of a folder, in the order of their names.

    Raises:
        SourceError: it cannot be read.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError as error:
        raise SourceError(f"{folder}: {error.strerror or error}") from None
    return [os.path.join(folder, name) for name in names if not name.startswith(_HIDDEN)]


def digest_of(files: Iterable[SourceFile], *beside: object) -> str:
    """Names some files and what is made of them, in a few characters.

    A file is known by its name, without folders, its size and the time of its last change, so nothing has to
    be read. A copy that keeps the time (``cp -p``) is the same data.

    Args:
        files: the files, in their order.
        *beside: values on which it also depends which rows they have.
    """
    known = [(os.path.basename(file.path), file.bytes, file.changed_ns) for file in files]
    return hashlib.blake2b(repr((known, beside)).encode(), digest_size=8).hexdigest()


def _matching(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        yield from in_folder(path)
    elif os.path.exists(path) or not glob.has_magic(path):
        yield path
    else:
        for match in sorted(glob.glob(path, recursive=True)):
            if os.path.isfile(match) and not os.path.basename(match).startswith(_HIDDEN):
                yield match
