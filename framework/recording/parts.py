"""The parts of a recording: their names, and the writing and reading of one task's part.

A part is a sequence of pickles. Each is a pair of a kind and a list; the kind says what the list holds:

- tuples: (positions, tags, rows) for each batch: packed positions; for each row its stream as uint16, or None
  if the component has one stream; the pickled list of rows
- ticks: (ts, hi, lo, passed, kind) for each tick

The rows are pickled inside the pickle so that a reader that looks for a position can pass over them. A part
that was not closed ends with its last whole pickle.
"""

from __future__ import annotations

import enum
import io
import os
import pickle
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, NamedTuple

from framework.model.errors import RecordingError
from framework.recording.timeline import Tick, TickKind
from viper.position import Position, Positions

HEADER = "header.json"
"""The member that comes first, and that every recording has."""
BUFFER_BYTES = 64 * 1024


def part_name(task_id: int) -> str:
    """The member with what a task recorded."""
    return f"task-{task_id}.pickles"


def summary_name(task_id: int) -> str:
    """The file with a part's summary, beside it until the recording is put together."""
    return f"task-{task_id}.json"


class Members:
    """The members of a recording, to be read; close it in the end.

    Args:
        path: a recording, or the folder that a run which was killed left behind.

    Raises:
        RecordingError: it is neither; also where a member turns out to be damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._zip: zipfile.ZipFile | None = None
        self._open: set[ExitStack] = set()
        """The members that are being read; one that is left in the middle is closed with the recording."""
        with self._understood():
            if not self.path.is_dir():
                self._zip = zipfile.ZipFile(self.path)
        if not self.has(HEADER):
            self.close()
            raise RecordingError(f"{self.path} is no recording: there is no {HEADER} in it")

    def has(self, name: str) -> bool:
        """True if there is a member of that name."""
        return name in self._zip.namelist() if self._zip else (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        """All of a small member."""
        with self.opened(name) as file:
            return file.read()

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A member, to be read from its beginning; several may be open at a time."""
        with self._understood(), ExitStack() as stack:
            self._open.add(stack)
            stack.callback(self._open.discard, stack)
            if self._zip is None:
                yield stack.enter_context((self.path / name).open("rb", BUFFER_BYTES))
                return
            member = stack.enter_context(self._zip.open(name))
            # Many small reads of a compressed member are slow.
            yield io.BufferedReader(member, BUFFER_BYTES)  # type: ignore[type-var]

    def close(self) -> None:
        """Close the file, and all members that are still open."""
        for stack in tuple(self._open):
            stack.close()
        if self._zip:
            self._zip.close()

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecordingError(f"cannot read {self.path}: {error.strerror or error}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, pickle.UnpicklingError) as error:
            raise RecordingError(
                f"{self.path} is no recording, or a damaged one: {error or type(error).__name__}"
            ) from error


class Batch(NamedTuple):
    """The rows that a task emitted at one time, packed."""

    positions: bytes
    tags: bytes | None
    rows: bytes


class _Kind(enum.StrEnum):
    TUPLES = "tuples"
    TICKS = "ticks"


def write_batches(file: BinaryIO, batches: Sequence[Batch]) -> None:
    """Append a chunk of tuples."""
    plain = [tuple(batch) for batch in batches]  # no class of ours in the file
    _write(file, _Kind.TUPLES, plain)


def write_ticks(file: BinaryIO, ticks: Sequence[Tick]) -> None:
    """Append a chunk of ticks."""
    _write(file, _Kind.TICKS, [(*tick.at, tick.passed, str(tick.kind)) for tick in ticks])


def read_batches(file: BinaryIO) -> Iterator[Batch]:
    """All batches of a part, chunk by chunk."""
    for chunk in _read(file, _Kind.TUPLES):
        yield from map(Batch._make, chunk)


def read_ticks(file: BinaryIO) -> Iterator[Tick]:
    """All ticks of a part."""
    for chunk in _read(file, _Kind.TICKS):
        for ts, hi, lo, passed, kind in chunk:
            yield Tick(Position(ts, hi, lo), passed, TickKind(kind))


def _write(file: BinaryIO, kind: _Kind, chunk: Sequence[tuple[Any, ...]]) -> None:
    pickle.dump((str(kind), chunk), file, pickle.HIGHEST_PROTOCOL)


def _read(file: BinaryIO, wanted: _Kind) -> Iterator[list[Any]]:
    while True:
        try:
            kind, chunk = pickle.load(file)
        except EOFError:
            return
        except pickle.UnpicklingError as error:
            if "truncated" not in str(error):
                raise
            return  # its writer died; whether it should have is for the caller to say
        if kind == wanted:
            yield chunk


_WORDS = Struct("=qQQ")
SIZE = _WORDS.size
"""Bytes of one position."""


def packed(positions: Positions) -> bytes:
    """All positions of an array."""
    return positions.to_bytes()


def unpacked(data: bytes) -> Iterator[Position]:
    """The positions that were packed."""
    return map(Position._make, _WORDS.iter_unpack(data))


def last_packed(data: bytes) -> Position:
    """The last of some packed positions; there must be one."""
    return Position._make(_WORDS.unpack_from(data, len(data) - SIZE))


def is_ordered(data: bytes, after: Position) -> bool:
    """True if packed positions do not descend, beginning with one that came before them."""
    previous: tuple[int, ...] = after
    for position in _WORDS.iter_unpack(data):
        if position < previous:
            return False
        previous = position
    return True
