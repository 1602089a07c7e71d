"""The files of a source: found by a path, in an order that every run finds them in, and known again."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from framework.model.errors import SourceError
from framework.model.topology import did_you_mean

_HIDDEN = (".", "_")
"""The first characters of names of files that are not data: drafts, markers, manifests."""


class SourceFile(NamedTuple):
    """A file as it was when it was found."""

    path: str
    bytes: int
    """Its size."""
    changed_ns: int
    """The time of its last change, in nanoseconds since 1970."""
    inode: int | None = None
    """The number by which the file system knows a file that grows; None for one that is not to change."""

    @classmethod
    def at(cls, path: str) -> SourceFile:
        """The file at a path, as it is now.

        Raises:
            SourceError: there is none, or something that cannot be read again.
        """
        try:
            found = os.stat(path)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}{_instead_of(path)}") from None
        except ValueError as error:
            raise SourceError(f"{path!r} is no path: {error}") from None
        if not stat.S_ISREG(found.st_mode):
            raise SourceError(
                f"{path} is {_kind(found.st_mode)}: expected a file, which can be read twice: write what "
                "comes into one first"
            )
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
        SourceError: there is no file at all, or none of one of these paths.
    """
    found: dict[str, None] = {}
    for wanted in paths:
        matching = list(_matching(wanted))
        if not matching:
            raise SourceError(f"no file to read: {_why_none(wanted)}")
        found |= dict.fromkeys(matching)
    if not found:
        raise SourceError("no file to read: an empty list of paths")
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


_MOST_LOOKED_AT = 10_000
"""Names of files and folders that are looked through for a message."""


def _why_none(path: str) -> str:
    """The reason why a folder or a pattern has no file, and what to name instead."""
    if os.path.isdir(path):
        names, what = os.listdir(path), f"the folder {path}"
        entries = [os.path.join(path, name) for name in names]
    else:
        entries, what = glob.glob(path, recursive=True, include_hidden=True), path
    if not entries:
        return f"{what} is empty" if os.path.isdir(path) else f"nothing matches {path}{_instead_of(path)}"
    folders = sorted(entry for entry in entries if os.path.isdir(entry))
    for folder in folders:
        if below := _first_below(folder):
            pattern = os.path.join(path, "**", "*" + os.path.splitext(below)[1])
            columns = "; the values in names of folders are no columns" if "=" in below else ""
            return (
                f"{what} has folders only: name the files in them, such as {below}, by {pattern!r}{columns}"
            )
    hidden = sorted(entry for entry in entries if os.path.basename(entry).startswith(_HIDDEN))
    if hidden and os.path.isfile(hidden[0]):
        return f"{what} has only files whose names begin with a dot or an underscore, such as {hidden[0]}"
    return f"{what} has no file: {', '.join(sorted(entries)[:3])} {'is' if len(entries) == 1 else 'are'} none"


def _first_below(folder: str) -> str | None:
    """A file somewhere in a folder that is no draft, by its name; None if there is none, or none near."""
    looked = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        looked += len(folders) + len(names)
        for name in sorted(names):
            if not name.startswith(_HIDDEN) and os.path.isfile(os.path.join(root, name)):
                return os.path.join(root, name)
        if looked > _MOST_LOOKED_AT:
            break
    return None


def _instead_of(path: str) -> str:
    """The nearest name of a file beside one that is not there, or the reason why it cannot be there."""
    if "://" in path:
        return ": expected a path of this machine, not an address"
    if path.startswith("~"):
        return f": expected {os.path.expanduser(path)!r}, as only a shell knows the tilde"
    if path == "-":
        return ": standard input is no file: write it into one first"
    if os.path.islink(path):
        return f": it is a link to {os.readlink(path)!r}"
    if glob.has_magic(path):
        return ""
    try:
        beside = os.listdir(os.path.dirname(path) or ".")[:_MOST_LOOKED_AT]
    except (OSError, ValueError):
        return ""
    return did_you_mean(os.path.basename(path), beside)


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
