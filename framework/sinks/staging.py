"""Rows that a sink has taken and not yet applied, in files whose lengths are known."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from framework.errors import InternalError, SinkError

_HEAD = struct.Struct("<III")
"""Before each entry: its length, the CRC-32 of its bytes, and how many rows it holds."""
_CUT = ".cut"
_EAGER = ".eager"
_NOTE = ".left-out"


class Stage:
    """Entries in a folder: those of a cut each in a file of its own, the others behind them in an open one.

    An entry that a crash has torn is left out when the file is opened again; it was never told to anybody.
    While a stage is open no other process can open it.

    Args:
        folder: made if it is not there.
        eager: whether cuts are made at any time, and not with checkpoints; what such a run leaves behind when
            it is killed is told apart by its name.

    Raises:
        SinkError: the folder cannot be written to, or another process has it open.
    """

    def __init__(self, folder: Path, *, eager: bool = True) -> None:
        self.folder = folder
        self.rows = 0
        """Rows behind the last cut."""
        self.length = 0
        """Bytes behind the last cut."""
        self._suffix = _EAGER if eager else ""
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._file = -1
            self._take_lock()
            self._open()

    def append(self, entry: bytes, rows: int) -> None:
        """Add an entry behind the others.

        Raises:
            SinkError: there is no room; nothing of the entry stays.
        """
        framed = _HEAD.pack(len(entry), zlib.crc32(entry), rows) + entry
        with _explained(self.folder):
            try:
                write_all(self._file, framed)
            except OSError:
                os.ftruncate(self._file, self.length)
                raise
        self.length += len(framed)
        self.rows += rows

    def cut(self, number: int) -> None:
        """Put all entries since the last cut under a number; they are on disk when it returns.

        Once more with the same number, and no entry since, it changes nothing.
        """
        target = self._cut_path(number)
        if target.exists():
            if self.rows:
                raise InternalError(f"{target} is there already, and {self.rows} rows have come since")
            return
        with _explained(self.folder):
            os.fsync(self._file)
            os.rename(self._open_path, target)
            os.close(self._file)
            self._file = -1
            self._open()
            sync_folder(self.folder)

    @property
    def cuts(self) -> list[int]:
        """The numbers of the cuts that are there, ascending."""
        return sorted(int(path.name.partition(".")[0]) for path in self._cuts())

    @property
    def all_rows(self) -> int:
        """Rows in all cuts that are there, and behind the last one."""
        total = self.rows
        for path in self._cuts():
            with _explained(self.folder), open(path, "rb") as file:
                total += sum(rows for _, rows in _read(file.fileno()))
        return total

    def entries(self, number: int) -> Iterator[bytes]:
        """The entries of a cut, in order.

        Raises:
            SinkError: the file is damaged.
        """
        path = next(path for path in self._cuts() if int(path.name.partition(".")[0]) == number)
        length = 0
        with _explained(self.folder), open(path, "rb") as file:
            for entry, _ in _read(file.fileno()):
                length += _HEAD.size + len(entry)
                yield entry
            whole = os.fstat(file.fileno()).st_size == length
        if not whole:
            raise SinkError(
                f"{path} is damaged behind its first {length:,} bytes: what was staged there is lost"
            )

    def note(self, number: int, rows: int) -> None:
        """Remember with a cut how many rows have come that were not staged; it is on disk when it returns."""
        with _explained(self.folder):
            write_whole(self._note_path(number), str(rows).encode())

    def noted(self, number: int) -> int:
        """What was remembered with a cut; 0 if nothing was."""
        try:
            return int(self._note_path(number).read_text())
        except FileNotFoundError:
            return 0

    def remove(self, number: int) -> None:
        """Forget a cut, once it has been applied."""
        for path in self._cuts():
            if int(path.name.partition(".")[0]) == number:
                path.unlink()

    def drop_open(self) -> int:
        """Forget what stands behind the last cut; returns how many rows that were."""
        dropped, self.rows, self.length = self.rows, 0, 0
        with _explained(self.folder):
            os.ftruncate(self._file, 0)
        return dropped

    def keep(self, length: int, rows: int) -> None:
        """Forget what stands behind so many bytes after the last cut, which are so many rows.

        Raises:
            SinkError: there are fewer bytes.
        """
        if length > self.length:
            raise SinkError(
                f"{self._open_path} has {self.length:,} bytes, and {length:,} were staged: somebody has cut "
                "it off; begin anew"
            )
        with _explained(self.folder):
            os.ftruncate(self._file, length)
        self.length, self.rows = length, rows

    def keep_of_cut(self, number: int, length: int) -> None:
        """Forget what stands behind so many bytes of a cut."""
        path = next(path for path in self._cuts() if int(path.name.partition(".")[0]) == number)
        with _explained(self.folder):
            os.truncate(path, length)

    def discard(self) -> None:
        """Forget everything."""
        self.drop_open()
        self.discard_others()
        for number in self.cuts:
            self.remove(number)
        for path in self.folder.glob(f"*{_NOTE}"):
            path.unlink()

    def discard_others(self) -> None:
        """Forget what runs of the other kind have left: those with checkpoints, or those without."""
        for path in [*self._cuts(), *self.folder.glob("open*")]:
            if (path.suffix == _EAGER) != bool(self._suffix):
                path.unlink()

    def close(self) -> None:
        """Let others open it; what is there stays."""
        for file in (self._file, self._lock):
            if file >= 0:
                os.close(file)
        self._file = self._lock = -1

    def delete(self) -> None:
        """Close it, and remove its folder; a folder above it goes as well if nothing else is in it."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.folder.parent.rmdir()

    # -- the open file

    @property
    def _open_path(self) -> Path:
        return self.folder / f"open{self._suffix}"

    def _open(self) -> None:
        """Open the file that entries are added to, behind the last one that is whole."""
        self._file = os.open(self._open_path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.length = self.rows = 0
        for entry, rows in _read(self._file):
            self.length += _HEAD.size + len(entry)
            self.rows += rows
        os.ftruncate(self._file, self.length)

    def _take_lock(self) -> None:
        try:
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise
            raise SinkError(
                f"{self.folder} is in use: another run writes by the same sink; wait for its end, or give "
                "this one another place to write to"
            ) from None

    def _note_path(self, number: int) -> Path:
        return self.folder / f"{number:020d}{_NOTE}"

    def _cut_path(self, number: int) -> Path:
        return self.folder / f"{number:020d}{_CUT}{self._suffix}"

    def _cuts(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{_CUT}*"))


def _read(file: int) -> Iterator[tuple[bytes, int]]:
    """The whole entries of a file from its beginning on, and how many rows each has."""
    offset = 0
    while len(head := os.pread(file, _HEAD.size, offset)) == _HEAD.size:
        length, crc, rows = _HEAD.unpack(head)
        entry = os.pread(file, length, offset + _HEAD.size)
        if len(entry) < length or zlib.crc32(entry) != crc:
            return
        yield entry, rows
        offset += _HEAD.size + length


def write_all(file: int, data: bytes) -> None:
    """Write all of the data to an open file, where it stands.

    Raises:
        OSError: there is no room, or only for a part of it.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def sync_folder(folder: Path) -> None:
    """See that what was renamed in a folder is on disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, or as it was before.

    Raises:
        OSError: it cannot be written.
    """
    aside = path.with_name(f"{path.name}.new")
    try:
        with open(aside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SinkError(f"{folder}: {advised(error)}") from error


def advised(error: OSError) -> str:
    """What an error of the file system means to somebody who runs a topology, and what to do."""
    told = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{told}: make room, and run again; nothing has been applied in part"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{told}: whoever runs the topology must be allowed to write there"
    return told
