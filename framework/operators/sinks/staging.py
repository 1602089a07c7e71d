"""Rows that a sink has taken and not yet applied, in files whose lengths and checksums are known.

A folder of staged rows holds

- ``label.json``: the target of the rows, and their encoding: `Label`
- ``open``: the entries since the last cut
- ``NUMBER-BYTES-ROWS.cut``: the entries of a cut, with their bytes and rows in the name
- ``NUMBER.left-out``: the number of rows that came although they were there already
- ``lock``: held by the run that has the folder open

Files of runs without checkpoints end in ``.eager`` as well. Each entry has a checksum of its own, and so has
the head before it. An entry that ends too early was torn by a crash; all else that does not fit is damage.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import shutil
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from framework.model.errors import InternalError, SinkError
from framework.model.sealing import SealError, sealed, unsealed

_HEAD = struct.Struct("<III")
"""Before each entry: its length, how many rows it holds, and the CRC-32 of its bytes."""
_SEAL = struct.Struct("<I")
"""Behind the head: its own CRC-32, so that a length that is wrong is not taken for an entry that was torn."""
_BEFORE: Final = _HEAD.size + _SEAL.size
_CUT = ".cut"
_EAGER = ".eager"
_NOTE = ".left-out"
LABEL: Final = "label.json"
_FORMAT: Final = "viperstorm-stage"
_NOTE_FORMAT: Final = "viperstorm-left-out"
_VERSION: Final = 1
_open_here: set[tuple[int, Path]] = set()
"""The folders that this process has open, with its id. Locks of files are of no use within one process."""


@dataclass(frozen=True, slots=True)
class Label:
    """For whom the rows in a folder were staged."""

    topology: str
    component: str
    index: int
    """Of the task."""
    part: str
    """The name under which the task applies them."""
    target: str
    """The target: a table of a database, a file."""
    layout: Mapping[str, Any]
    """The layout at the target, such as the names of columns."""
    form: str
    """The encoding of entries."""
    run: str = ""
    """The runs that resume one another, of which one has staged them; empty where that is not known."""


class InUseError(SinkError):
    """A folder that another run has open."""


class DamagedLabelError(SinkError):
    """A folder of which nobody can read for whom its rows were staged."""


class Stage:
    """Entries in a folder: those of a cut each in a file of its own, the others behind them in an open one.

    An entry that a crash has torn is left out when the file is opened again; nobody ever knew of it. While a
    stage is open no other process can open it.

    Args:
        folder: made if it is not there.
        eager: whether cuts are made at any time, and not with checkpoints; files that such a run leaves when
            it is killed are recognized by their names.

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
            self._file = -1
            self._lock = _taken_lock(folder)
            _open_here.add(self._here)
            try:
                self.label = label_of(folder)
                self._open()
            except BaseException:
                self.close()
                raise

    @property
    def _here(self) -> tuple[int, Path]:
        return os.getpid(), self.folder.absolute()

    def mark(self, label: Label) -> None:
        """Say for whom the rows are that come next; it is on disk when it returns."""
        if label != self.label:
            with _explained(self.folder):
                write_whole(self.folder / LABEL, sealed(_FORMAT, _VERSION, asdict(label), indent=1))
            self.label = label

    def append(self, entry: bytes, rows: int) -> None:
        """Add an entry behind the others.

        Raises:
            SinkError: there is no room; nothing of the entry stays.
        """
        framed = _framed(entry, rows)
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

        Another call with the same number, and no entry since, changes nothing.
        """
        if (found := cut_with(self.folder, number)) is not None:
            if self.rows:
                raise InternalError(f"{found} is there already, and {self.rows} rows have come since")
            return
        with _explained(self.folder):
            os.fsync(self._file)
            os.rename(self._open_path, self.folder / _cut_name(number, self.length, self.rows, self._suffix))
            os.close(self._file)
            self._file = -1
            self._open()
            sync_folder(self.folder)

    @property
    def cuts(self) -> list[int]:
        """The numbers of the cuts that are there, ascending."""
        return sorted({_number_of(path) for path in cuts_in(self.folder)})

    @property
    def all_rows(self) -> int:
        """Rows in all cuts that are there, and behind the last one."""
        return self.rows + sum(_told(path)[1] for path in cuts_in(self.folder))

    @property
    def rows_up_to(self) -> Mapping[int, int]:
        """The number of rows up to each cut that is there, from the first one on, by its number."""
        counted = sorted((_number_of(path), _told(path)[1]) for path in cuts_in(self.folder))
        return dict(itertools.accumulate(counted, lambda before, one: (one[0], before[1] + one[1])))

    def entries(self, number: int) -> Iterator[bytes]:
        """The entries of a cut, in order.

        Raises:
            SinkError: the file is damaged.
        """
        path = cut_with(self.folder, number)
        assert path is not None
        for entry, _ in entries_in(path):
            yield entry

    def note(self, number: int, rows: int) -> None:
        """Remember with a cut how many rows have come that were not staged; it is on disk when it returns."""
        with _explained(self.folder):
            write_whole(self._note_path(number), sealed(_NOTE_FORMAT, _VERSION, rows))

    def noted(self, number: int) -> int:
        """The number that was remembered with a cut; 0 if none was.

        Raises:
            SinkError: the note is damaged.
        """
        path = self._note_path(number)
        try:
            return int(unsealed(path.read_bytes(), _NOTE_FORMAT, _VERSION))
        except FileNotFoundError:
            return 0
        except SealError as error:
            raise SinkError(f"{path} {error}: begin again with another target") from None

    def remove(self, number: int) -> None:
        """Forget a cut, once it has been applied."""
        while (path := cut_with(self.folder, number)) is not None:
            path.unlink()

    def leftovers(self, above: int) -> list[int]:
        """The numbers of what a run without checkpoints has left; entries behind its last cut get one too.

        All that runs with checkpoints have left is forgotten.

        Args:
            above: the number of those entries is larger.
        """
        if not self._suffix:
            self.drop_open()
        for path in cuts_in(self.folder):
            if path.suffix != _EAGER:
                path.unlink()
        rows = self.rows
        if not self._suffix and (path := self.folder / f"open{_EAGER}").exists():
            length = rows = 0
            for entry, count in entries_in(path):
                length, rows = length + _BEFORE + len(entry), rows + count
            if rows:
                number = max([above, *self.cuts]) + 1
                with _explained(self.folder):
                    os.truncate(path, length)
                    os.rename(path, self.folder / _cut_name(number, length, rows, _EAGER))
                    sync_folder(self.folder)
        elif rows:
            self.cut(max([above, *self.cuts]) + 1)
        return self.cuts

    def drop_open(self) -> int:
        """Forget the rows after the last cut; return how many they were."""
        dropped, self.rows, self.length = self.rows, 0, 0
        with _explained(self.folder):
            os.ftruncate(self._file, 0)
        return dropped

    def keep(self, length: int, rows: int) -> None:
        """Forget all that comes after so many bytes after the last cut, which are so many rows.

        Raises:
            SinkError: there are fewer bytes.
        """
        if length > self.length:
            raise SinkError(
                f"{self._open_path} has {self.length:,} bytes, and {length:,} were staged: somebody has cut "
                "it off; begin again"
            )
        with _explained(self.folder):
            os.ftruncate(self._file, length)
        self.length, self.rows = length, rows

    def keep_of_cut(self, number: int, length: int) -> None:
        """Forget all that comes after so many bytes of a cut."""
        path = cut_with(self.folder, number)
        assert path is not None
        with _explained(self.folder):
            os.truncate(path, length)
            rows = sum(rows for _, rows in _read(path, torn=False))
            name = _cut_name(number, length, rows, _EAGER if path.suffix == _EAGER else "")
            os.rename(path, path.with_name(name))

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
        for path in [*cuts_in(self.folder), *self.folder.glob("open*")]:
            if (path.suffix == _EAGER) != bool(self._suffix):
                path.unlink()

    def close(self) -> None:
        """Let others open it; what is there stays."""
        _open_here.discard(self._here)
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
        for entry, rows in entries_in(self._open_path):
            self.length += _BEFORE + len(entry)
            self.rows += rows
        os.ftruncate(self._file, self.length)

    def _note_path(self, number: int) -> Path:
        return self.folder / f"{number:020d}{_NOTE}"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others from opening the stage of a folder for the block.

    Raises:
        SinkError: one has it open.
    """
    lock = _taken_lock(folder)
    try:
        yield
    finally:
        os.close(lock)


def _taken_lock(folder: Path) -> int:
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        raise InUseError(
            f"{folder} is in use: another run writes by the same sink; wait for its end, or give this one "
            "another place to write to"
        ) from None
    return lock


def label_of(folder: Path) -> Label | None:
    """For whom the rows in a folder were staged; None where nobody has said so.

    Raises:
        DamagedLabelError: the label is damaged.
    """
    path = folder / LABEL
    try:
        return Label(**unsealed(path.read_bytes(), _FORMAT, _VERSION))
    except FileNotFoundError:
        return None
    except SealError as error:
        rest = way_out(folder) if has_rows(folder) else f"no rows are staged there, so remove {folder}"
        raise DamagedLabelError(f"{path} {error}: {rest}") from None


def is_in_use_here(folder: Path) -> bool:
    """True if this process has the stage of a folder open."""
    return (os.getpid(), folder.absolute()) in _open_here


def has_rows(folder: Path) -> bool:
    """True if there are entries in a folder, whole or not."""
    return any(path.stat().st_size for path in files_in(folder))


def files_in(folder: Path) -> Sequence[Path]:
    """The files of a folder that hold entries, in their order: cuts by their numbers, then what is open."""
    return [*sorted(cuts_in(folder), key=_number_of), *sorted(folder.glob("open*"))]


def cuts_in(folder: Path) -> Sequence[Path]:
    """The files of the cuts in a folder."""
    return sorted(folder.glob(f"*{_CUT}*"))


def cut_with(folder: Path, number: int) -> Path | None:
    """The file of the cut with a number; None if there is none.

    There are two if somebody was killed who took rows out of it: the one with fewer rows counts.
    """
    found = [path for path in cuts_in(folder) if _number_of(path) == number]
    return min(found, key=lambda path: _told(path)[1], default=None)


def entries_in(path: Path) -> Iterator[tuple[bytes, int]]:
    """The entries of a file, and how many rows each has.

    Raises:
        SinkError: the file is damaged, or a cut holds less than its name says.
    """
    is_cut = not path.name.startswith("open")
    length = count = 0
    with _explained(path.parent):
        for entry, rows in _read(path, torn=not is_cut):
            yield entry, rows
            length, count = length + _BEFORE + len(entry), count + rows
    if is_cut and (length, count) != _told(path):
        raise _damaged(path, length)


def rewrite(path: Path, entries: Sequence[tuple[bytes, int]]) -> None:
    """Put other entries, with how many rows each has, in the place of those of a file.

    Raises:
        SinkError: there is no room; the file is as it was.
    """
    data = b"".join(_framed(entry, rows) for entry, rows in entries)
    suffix = _EAGER if path.suffix == _EAGER else ""
    with _explained(path.parent):
        if path.name.startswith("open"):
            write_whole(path, data)
            return
        rows = sum(rows for _, rows in entries)
        target = path.with_name(_cut_name(_number_of(path), len(data), rows, suffix))
        write_whole(path.with_name("rewritten"), data)
        os.replace(path.with_name("rewritten"), target)
        if target != path:
            path.unlink()
        sync_folder(path.parent)


def way_out(folder: Path) -> str:
    """The advice for staged rows that cannot be applied."""
    return (
        f"viper staged show {folder} shows staged rows, and viper staged aside {folder} -O FILE puts them "
        "into a file"
    )


def _framed(entry: bytes, rows: int) -> bytes:
    head = _HEAD.pack(len(entry), rows, zlib.crc32(entry))
    return head + _SEAL.pack(zlib.crc32(head)) + entry


def _read(path: Path, *, torn: bool) -> Iterator[tuple[bytes, int]]:
    """The whole entries of a file from its beginning on, and how many rows each has.

    Args:
        path: the file.
        torn: whether the last entry may be torn.

    Raises:
        SinkError: there is more in the file, and that is no entry.
    """
    offset = 0
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        while offset < size:
            head = os.pread(file.fileno(), _BEFORE, offset)
            whole = len(head) == _BEFORE and head[_HEAD.size :] == _SEAL.pack(zlib.crc32(head[: _HEAD.size]))
            length, rows, crc = _HEAD.unpack(head[: _HEAD.size]) if whole else (0, 0, 0)
            entry = os.pread(file.fileno(), length, offset + _BEFORE)
            if torn and (len(head) < _BEFORE if not whole else len(entry) < length):
                return
            if torn and not whole and _is_empty(file.fileno(), offset):
                return
            if not whole or len(entry) < length or zlib.crc32(entry) != crc:
                raise _damaged(path, offset)
            yield entry, rows
            offset += _BEFORE + length


def _is_empty(file: int, offset: int) -> bool:
    """True if nothing but zeros follows: the file had grown when the power went, and was not written yet."""
    while block := os.pread(file, 1 << 20, offset):
        if block.strip(b"\0"):
            return False
        offset += len(block)
    return True


def _damaged(path: Path, length: int) -> SinkError:
    return SinkError(
        f"{path} is damaged behind its first {length:,} bytes: what was staged there is lost; "
        + way_out(path.parent)
    )


def _cut_name(number: int, length: int, rows: int, suffix: str) -> str:
    return f"{number:020d}-{length}-{rows}{_CUT}{suffix}"


def _number_of(path: Path) -> int:
    return int(path.name.partition(".")[0].partition("-")[0])


def _told(path: Path) -> tuple[int, int]:
    """The bytes and rows of a cut, from its name."""
    _, length, rows = path.name.partition(".")[0].split("-")
    return int(length), int(rows)


def write_all(file: int, data: bytes) -> None:
    """Write all of the data to an open file, at its present offset.

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
    """Say in words what an error of the file system means to somebody who runs a topology, and what to do."""
    told = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{told}: make room, and run again; nothing has been applied in part"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{told}: whoever runs the topology must be allowed to write there"
    return told
