"""The folder that holds the checkpoints of a run: each of them is there as a whole, or not at all.

A checkpoint is a folder of its own, ``checkpoint-000012``, with parts and a manifest that names each part,
its length and its checksum. Parts that it has in common with the checkpoint before are hard links to the same
files. It is written under a hidden name: the parts are fsynced, then the manifest, then the hidden folder.
Renaming that one is the moment in which the checkpoint exists; fsyncing the folder above makes it last. Only
then are older checkpoints removed, which are hidden first.
"""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from framework.model.errors import CheckpointError
from framework.runtime.durability.checkpoints.files import Files, SystemFiles

FORMAT = "viperstorm-checkpoint"
VERSION = 3
"""Of the layout of manifest and parts. A program reads the versions that it knows, and refuses others."""
_READ = (2, VERSION)
"""The versions that are read; the content of the second one does not tell what windows and others mean."""
MANIFEST = "manifest.json"
_Content = TypeVar("_Content", bytes, memoryview)
_NAME = re.compile(r"checkpoint-(\d{6,})")
_PARTIAL = ".partial"
_REMOVED = ".removed"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that was read: what its manifest says, and where its parts lie."""

    path: Path
    id: int
    """From 1 upwards; a later one has a larger id."""
    content: Mapping[str, Any]
    """What the writer has put into the manifest."""
    parts: Mapping[str, tuple[int, int]]
    """Length in bytes and CRC-32 of each part, by name."""
    files: Files

    @property
    def size(self) -> int:
        """Bytes of all its parts together."""
        return sum(length for length, _ in self.parts.values())

    def part(self, name: str) -> memoryview:
        """What a part holds.

        Raises:
            CheckpointError: it is not what was written.
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
    """Where the checkpoint of an id lies in a folder."""
    return path / _name(number)


def hidden_folder(path: Path, number: int) -> Path:
    """Where the parts of a checkpoint are written that does not exist as yet.

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
