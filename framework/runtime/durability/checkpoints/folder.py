"""The folder that holds the checkpoints of a run: each of them is there as a whole, or not at all.

A checkpoint is a folder of its own, ``checkpoint-000012``, with parts and a manifest that names each part,
its length and its checksum. Parts that it has in common with the checkpoint before are hard links to the same
files. It is written under a hidden name: the parts are fsynced, then the manifest, then the hidden folder.
Renaming that one is the moment in which the checkpoint exists; fsyncing the folder above makes it last. Only
then are older checkpoints removed, which are hidden first.
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from framework.model.errors import CheckpointError

FORMAT = "viperstorm-checkpoint"
VERSION = 3
"""Of the layout of manifest and parts. A program reads the versions that it knows, and refuses others."""
_READ = (2, VERSION)
"""The versions that are read; the content of the second one lacks the meaning of windows and others."""
MANIFEST = "manifest.json"
_Content = TypeVar("_Content", bytes, memoryview)
_NAME = re.compile(r"checkpoint-(\d{6,})")
_PARTIAL = ".partial"
_REMOVED = ".removed"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that was read: the content of its manifest, and the list of its parts."""

    path: Path
    id: int
    """From 1 upwards; a later one has a larger id."""
    content: Mapping[str, Any]
    """The manifest's content, as the writer passed it."""
    parts: Mapping[str, tuple[int, int]]
    """Length in bytes and CRC-32 of each part, by name."""
    files: Files

    @property
    def size(self) -> int:
        """Bytes of all its parts together."""
        return sum(length for length, _ in self.parts.values())

    def part(self, name: str) -> memoryview:
        """Read a part and verify its length and checksum.

        Raises:
            CheckpointError: it is damaged.
        """
        length, checksum = self.parts[name]
        path = self.path / name
        content = _read(self.files.view, path)
        if len(content) != length or zlib.crc32(content) != checksum:
            raise CheckpointError(
                f"{path} is damaged: found {len(content)} bytes with checksum {zlib.crc32(content):08x}, "
                f"expected {length} with {checksum:08x}; go on from an older checkpoint"
            )
        return content


class CheckpointFolder:
    """The checkpoints in a folder.

    Args:
        path: of the folder; it need not exist as long as nothing is written.
        files: does what is done with files.
    """

    def __init__(self, path: Path, files: Files | None = None) -> None:
        self.path = path
        self._files: Files = files or SystemFiles()

    @property
    def ids(self) -> Sequence[int]:
        """Of all its checkpoints, the oldest first."""
        found = map(_NAME.fullmatch, self._files.names(self.path))
        return sorted(int(match[1]) for match in found if match)

    def latest(self) -> Checkpoint:
        """Read the last one.

        Raises:
            CheckpointError: there is none, or it cannot be used.
        """
        ids = self.ids
        if not ids:
            raise CheckpointError(f"there is no checkpoint in {self.path}")
        return self.open(ids[-1])

    def open(self, number: int) -> Checkpoint:
        """Read one.

        Raises:
            CheckpointError: it does not exist, or cannot be used.
        """
        return read_checkpoint(self.path / _name(number), self._files)

    def prepare(self) -> None:
        """Make the folder, and remove what a run has left there that died while it wrote or removed."""
        self._files.make_folder(self.path)
        for name in self._files.names(self.path):
            if name.startswith(".checkpoint-") and name.endswith((_PARTIAL, _REMOVED)):
                self._files.remove(self.path / name)

    def begin(self, number: int) -> None:
        """Make the hidden folder in which others write parts of the checkpoint of an id; what is there of
        others that were given up is removed.

        Raises:
            OSError: it cannot be made.
        """
        with contextlib.suppress(OSError):  # a task may be writing there, that has not heard of it
            self.prepare()
        self._files.make_folder(hidden_folder(self.path, number))

    def write(
        self,
        content: Callable[[], Mapping[str, Any]],
        parts: Iterable[tuple[str, bytes]],
        keep: int,
        above: int = 0,
        made: Mapping[str, tuple[int, int]] | None = None,
    ) -> Checkpoint:
        """Write a checkpoint; when this returns, it is on the disk.

        Args:
            content: what its manifest says, as JSON can; it is asked for when all parts have been written.
            parts: names and contents, which are asked for one after the other.
            keep: how many checkpoints there are at most afterwards, this one included.
            above: its id is larger than this, and than those of all other checkpoints in the folder.
            made: length in bytes and CRC-32 of the parts that others have written since `begin`, and of those
                of the last checkpoint that belong to this one too.

        Raises:
            OSError: it cannot be written; it does not exist then.
        """
        number = max((above, *self.ids)) + 1
        hidden = hidden_folder(self.path, number)
        self._files.make_folder(hidden)
        told: dict[str, Sequence[int]] = dict(made or {})
        self._gather(hidden, told)
        for name, part in parts:
            self._files.write(hidden / name, part)
            told[name] = [len(part), zlib.crc32(part)]
        manifest = {"id": number, "content": content(), "parts": told}
        self._files.write(hidden / MANIFEST, _sealed(manifest))
        self._files.sync_folder(hidden)
        self._files.rename(hidden, self.path / _name(number))
        self._files.sync_folder(self.path)
        self._keep(keep)
        return self.open(number)

    def _gather(self, hidden: Path, names: Iterable[str]) -> None:
        """Have parts last that others have written, and link those that the last checkpoint has."""
        written = frozenset(self._files.names(hidden))
        for name in names:
            if name in written:
                self._files.sync(hidden / name)
            else:
                self._files.link(checkpoint_path(self.path, max(self.ids, default=0)) / name, hidden / name)

    def _keep(self, count: int) -> None:
        """Remove all but the last ones; what is no longer whole is no longer called a checkpoint."""
        hidden = []
        for number in self.ids[:-count]:
            hidden.append(self.path / f".{_name(number)}{_REMOVED}")
            self._files.rename(self.path / _name(number), hidden[-1])
        if hidden:
            self._files.sync_folder(self.path)
        for path in hidden:
            self._files.remove(path)


def checkpoint_path(path: Path, number: int) -> Path:
    """Return the path of the checkpoint of an id in a folder."""
    return path / _name(number)


def hidden_folder(path: Path, number: int) -> Path:
    """Return the folder in which the parts of a checkpoint are written until it is complete.

    Args:
        path: the folder of checkpoints.
        number: its id.
    """
    return path / f".{_name(number)}{_PARTIAL}"


def read_checkpoint(path: Path, files: Files | None = None) -> Checkpoint:
    """Read the checkpoint that lies in a folder of its own.

    Raises:
        CheckpointError: there is none, it is damaged, or a newer program has written it.
    """
    files = files or SystemFiles()
    manifest = path / MANIFEST
    head, _, body = _read(files.read, manifest).partition(b"\n")
    words = head.split()
    if len(words) != 3 or words[0] != FORMAT.encode():
        raise CheckpointError(
            f"{manifest} is no manifest of a checkpoint: expected a first line {FORMAT} ..."
        )
    if words[1] not in [str(version).encode() for version in _READ]:
        raise CheckpointError(
            f"{manifest} has version {words[1].decode(errors='replace')} of the format: expected "
            f"{' or '.join(map(str, _READ))}; "
            "use the version of ViperStorm that has written it"
        )
    if words[2] != _checksum(body):
        raise CheckpointError(f"{manifest} is damaged: its checksum does not fit; use an older checkpoint")
    told = json.loads(body)
    parts = {name: (length, checksum) for name, (length, checksum) in told["parts"].items()}
    return Checkpoint(path, told["id"], told["content"], parts, files)


def folder_of(path: Path) -> Path:
    """The folder that holds the checkpoint at a path; the path itself where that is no checkpoint."""
    return path.parent if (path / MANIFEST).exists() else path


def found_at(path: Path) -> Checkpoint:
    """The checkpoint at a path, or the last one of the folder at that path.

    Raises:
        CheckpointError: there is none, or it cannot be used.
    """
    return read_checkpoint(path) if (path / MANIFEST).exists() else CheckpointFolder(path).latest()


def _name(number: int) -> str:
    return f"checkpoint-{number:06}"


def _sealed(manifest: Mapping[str, Any]) -> bytes:
    body = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
    return b"%s %d %s\n%s" % (FORMAT.encode(), VERSION, _checksum(body), body)


def _checksum(body: bytes) -> bytes:
    return f"{zlib.crc32(body):08x}".encode()


def _read(read: Callable[[Path], _Content], path: Path) -> _Content:
    try:
        return read(path)
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from error


class Files(Protocol):
    """The file system as a checkpoint folder uses it; every method may raise OSError.

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
"""The errors of file systems without hard links, or with too many links to one file, at one more link."""


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

        Its pages are free afterwards for the next file. As long as each checkpoint took fresh pages, tasks
        wrote 1.4 GB/s on a virtual machine, whose host had to provide them first; now it is 3.9.
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
