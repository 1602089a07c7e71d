"""Files that appear whole, or grow by whole transactions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.model.errors import SinkError
from framework.model.sealing import SealError, sealed, unsealed
from framework.operators.sinks.sink import Row
from framework.operators.sinks.staging import advised, sync_folder, write_all, write_whole
from framework.operators.sinks.transactional import TransactionalSink

_FORMAT: Final = "viperstorm-journal"
_VERSION: Final = 1
_LONGEST_HEAD: Final = 1 << 16
"""Bytes of a file's first line that are looked at."""
_MOST_NUMBERS = 1000
"""The number of transactions in the journal: a file can be brought back by so many checkpoints."""


class FileSink(TransactionalSink):
    """Writes bytes to a file; a subclass makes them of rows, by `encode`.

    The file appears whole under its name, once all input has come; until then it is NAME.part. A file of this
    name is replaced then, and stays as it is if the run fails. With `grow` rows are added to the file itself,
    by whole transactions, and what is in it stays. A hidden journal beside it holds its length after each
    transaction, so the next one cuts off everything that a crash has left after that.

    With several tasks each has a file of its own: ``counts-0000.jsonl`` and so on of ``counts.jsonl``.

    Args:
        path: the file; its folder must be there.
        grow: whether the file itself grows.

    Raises:
        SinkError: there is no such folder.
    """

    scales = False
    form = "bytes"

    def __init__(self, path: str, *, grow: bool = False) -> None:
        self._path = Path(path)
        super().__init__(str(self._path.parent / f".{self._path.name}.staged"))
        if not self._path.parent.is_dir():
            raise SinkError(f"{path}: there is no folder {self._path.parent}: make it first")
        if self._path.is_dir():
            raise SinkError(f"{path} is a folder: expected the name of a file")
        self._grows = grow
        self.keeps_leftovers = grow
        self._numbers: list[tuple[int, int]] = []
        """The number of each transaction, and the length of the file after it."""
        self._at = 0
        """The number of them that count: later ones were taken back, and the next one removes them."""
        self._is_finished = False
        self._was_closed = False
        """True if a process before this one may have finished the file, and closed it."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """See that the file can be written, and what is in it.

        Raises:
            SinkError: its folder cannot be written to, or another run writes the file.
        """
        super().initialize(storm_conf, context)
        if self._grows and self._path.exists():
            if not os.access(self._path, os.W_OK):
                raise SinkError(f"{self._path}: whoever runs the topology must be allowed to write to it")
            self._check_head()
        self._numbers, self._at = self._journaled()

    def become_task(self, index: int, count: int) -> None:
        """Take the file of one task: each of several tasks has a file of its own."""
        if count > 1:
            self._path = self._path.with_name(f"{self._path.stem}-{index:04}{self._path.suffix}")

    @property
    def target(self) -> str:
        """As in the base class; what is staged for a file lies beside it, so the folder is not named."""
        return f"file {self._path.name}"

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        return {"written": type(self).__name__, "grow": self._grows}

    def _check_head(self) -> None:
        """Refuse to add to a file that begins in another way than this sink would begin it.

        Raises:
            SinkError: it does.
        """
        head = self.head()
        with open(self._path, "rb") as file:
            first = file.readline(max(len(head), _LONGEST_HEAD))
        if first and not first.startswith(head):
            raise SinkError(
                f"{self._path} begins with {first[: max(len(head), 200)]!r}, expected {head!r:.200}: write "
                f"the same columns as before, in the same order{self.as_before(first)}, or name another file"
            )

    def as_before(self, first: bytes) -> str:
        """The arguments by which the sink would write what a file begins with, in words; empty if none do.

        Args:
            first: its first line.
        """
        return ""

    def decode(self, entry: bytes) -> Iterable[Any]:
        """The entry itself: bytes of the file."""
        return (entry,)

    def head(self) -> bytes:
        """Return the beginning of a file."""
        return b""

    def applied(self, part: str) -> int | None:
        """As in the base class."""
        return self._numbers[self._at - 1][0] or None if self._at else None

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        """Add bytes behind the last transaction.

        Raises:
            SinkError: they cannot be written; the file is as long as before.
        """
        counting = self._numbers[: self._at]
        length = counting[-1][1] if counting else 0
        if self._at < len(self._numbers):
            self._note(counting)
        try:
            length = _written(self._target, length, self.head() if not length else b"", rows)
        except OSError as error:
            raise SinkError(f"{self._target}: {advised(error)}") from error
        self._note([*counting, (number, length)])

    def rewind(self, part: str, number: int) -> bool:
        """Go to a transaction that the journal still knows; the next one cuts off what comes after it."""
        at = next((nth for nth, (known, _) in enumerate(self._numbers, 1) if known == number), None)
        if at is None:
            return False
        if not self._target.exists() and not self._grows:  # it was finished
            os.rename(self._path, self._target)
        self._note(self._numbers, at)
        return True

    def recover(self) -> None:
        """As in the base class; a file that was finished by then is open again."""
        if self._numbers and not self._grows and not self._target.exists():
            os.rename(self._path, self._target)
        self._was_closed = not self._numbers and not self._grows and self._path.exists()
        super().recover()

    def forget(self, part: str) -> None:
        """Begin the file from its start, or after its present content."""
        if not self._grows:
            self._target.unlink(missing_ok=True)
            self._note([])
            return
        length = self._path.stat().st_size if self._path.exists() else 0
        if self._numbers:  # what lies behind it was torn by a crash
            length = min(length, self._numbers[self._at - 1][1])
            if self._path.exists():
                os.truncate(self._path, length)
        self._note([(0, length)])

    def finish(self) -> None:
        """Let the file appear under its name."""
        if not self._at or (self._grows and not self._numbers[self._at - 1][0]):
            return
        if self._leaves_as_closed():
            self._target.unlink(missing_ok=True)
        if not self._grows and self._target.exists():  # else it was finished before, and then killed
            os.replace(self._target, self._path)
            sync_folder(self._path.parent)
        self._is_finished = True

    def _leaves_as_closed(self) -> bool:
        """True if the file is that of a process before, which has closed it, and no row has come since."""
        length = self._numbers[self._at - 1][1] if self._at else 0
        return self._was_closed and length <= len(self.head())

    def close(self) -> None:
        """As in the base class; of a failed run without checkpoints nothing stays."""
        is_ours = self._open_stage is not None and self._has_set_out
        super().close()
        if is_ours and self.eager and (self._is_finished or not self._grows):
            self._journal.unlink(missing_ok=True)
            if not self._grows:
                self._target.unlink(missing_ok=True)

    # -- within

    @property
    def _target(self) -> Path:
        return self._path if self._grows else self._path.with_name(f"{self._path.name}.part")

    @property
    def _journal(self) -> Path:
        return self._path.with_name(f".{self._path.name}.applied")

    @property
    def _instead(self) -> str:
        return f"to begin again, remove {self._journal} and what it tells of, {self._target}"

    def _journaled(self) -> tuple[list[tuple[int, int]], int]:
        try:
            data = self._journal.read_bytes()
            is_old = data.startswith(b"[")  # up to version 0.1 it had no checksum
            at, found_numbers = json.loads(data) if is_old else unsealed(data, _FORMAT, _VERSION)
            numbers = [(int(number), int(length)) for number, length in found_numbers]
        except FileNotFoundError:
            return [], 0
        except SealError as error:
            raise SinkError(f"{self._journal} {error}; {self._instead}") from None
        except (OSError, ValueError, TypeError) as error:
            raise SinkError(f"{self._journal} is no journal of a sink: {error}; {self._instead}") from None
        found = next((path for path in (self._target, self._path) if path.exists()), None)
        size = found.stat().st_size if found is not None else 0
        if numbers and size < numbers[-1][1]:
            raise SinkError(
                f"{found or self._target} has {size:,} bytes, and {numbers[-1][1]:,} were written: somebody "
                f"has cut it off or removed it; {self._instead}"
            )
        return numbers, min(int(at), len(numbers))

    def _note(self, numbers: Sequence[tuple[int, int]], at: int | None = None) -> None:
        """Write down the transactions, and how many of them count; by default all do."""
        dropped = max(len(numbers) - _MOST_NUMBERS, 0)
        self._numbers = list(numbers[dropped:])
        self._at = len(self._numbers) if at is None else at - dropped
        try:
            write_whole(self._journal, sealed(_FORMAT, _VERSION, [self._at, self._numbers]))
        except OSError as error:
            raise SinkError(f"{self._journal}: {advised(error)}") from error


def _written(path: Path, length: int, head: bytes, entries: Iterable[Any]) -> int:
    """Write behind the first bytes of a file, and see that it is on disk; returns how long it is then.

    Raises:
        OSError: it cannot be written; the file is as long as before.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        os.ftruncate(file, length)  # what a crash has torn goes
        os.lseek(file, length, os.SEEK_SET)
        try:
            write_all(file, head)
            for data in entries:
                write_all(file, data)
            os.fsync(file)
        except BaseException:
            os.ftruncate(file, length)
            raise
        return os.lseek(file, 0, os.SEEK_CUR)
    finally:
        os.close(file)
