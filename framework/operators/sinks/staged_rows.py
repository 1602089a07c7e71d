"""Staged rows as people see them, and as they can be taken out of the way of those that follow."""

from __future__ import annotations

import base64
import contextlib
import json
import marshal
import os
import pickle
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from framework.model.errors import SinkError
from framework.operators.sinks.sink import Row
from framework.operators.sinks.staging import (
    LABEL,
    DamagedLabelError,
    Label,
    entries_in,
    files_in,
    has_rows,
    label_of,
    locked,
    rewrite,
)

_OF_FILES = "bytes"


class SetAside(NamedTuple):
    """The rows that were taken out of a folder."""

    rows: int
    damaged: Sequence[Path]
    """The new places of damaged files; the rows before the damage are among the rows."""


class StagedRows:
    """The rows in a folder of a sink.

    Args:
        folder: the folder; it has a label, perhaps a damaged one.

    Raises:
        SinkError: it has none.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.label: Label | None = None
        """For whom the rows were staged; None where the label is damaged."""
        self.damage = ""
        """The fault of the label, or an empty text."""
        try:
            self.label = label_of(folder)
        except DamagedLabelError as error:
            self.damage = str(error)
        if self.label is None and not self.damage:
            raise SinkError(
                f"{folder} is no folder of staged rows: it has no label.json; see viper staged ls"
            )
        self._form = _form_in(folder) if self.label is None else self.label.form

    @property
    def names(self) -> Sequence[str]:
        """The names of the values of a row; empty if only the sink knows them, or the label is damaged."""
        if self._form == _OF_FILES:
            return ["line"]
        return [] if self.label is None else list(self.label.layout.get("columns", ()))

    @property
    def target(self) -> str:
        """The target for which the rows were staged, as far as the label names it."""
        return "an unknown target" if self.label is None else self.label.target

    def rows(self) -> Iterator[Row]:
        """All rows, in the order in which they were taken.

        Pickled values are loaded, which may run code: staged rows are trusted like a program.

        Raises:
            SinkError: a file is damaged; the rows before the damage have come by then.
        """
        for path in files_in(self.folder):
            for entry, _ in entries_in(path):
                yield from self._decoded(entry)

    def line(self, row: Row) -> str:
        """A row as JSON: an object with the names of its values; values that JSON lacks are written in
        full."""
        whole = dict(zip(self.names, row, strict=True)) if len(self.names) == len(row) else list(row)
        return json.dumps(whole, default=_told)

    def set_aside(self, numbers: Collection[int], output: TextIO) -> SetAside:
        """Write rows to a file, and then take them out of the folder.

        Cuts of runs with checkpoints stay, without these rows, so that such a run can resume. A damaged label
        goes with the last row, so that the next run can use the folder.

        Args:
            numbers: of the rows, counted from 1 in the order of `rows`; all if it is empty.
            output: a file on a disk.

        Raises:
            SinkError: a run has the folder open. Or there is no such row, or rows of such sinks cannot be
                told apart. Or a file is damaged, and only some rows are to be set aside. Nothing has changed
                then.
            OSError: the output cannot be written; nothing has changed.
        """
        with locked(self.folder):
            kept: list[tuple[Path, list[tuple[bytes, int]] | None]] = []
            number = written = 0
            for path in files_in(self.folder):
                entries: list[tuple[bytes, int]] = []
                kept.append((path, entries))
                try:
                    for entry, count in entries_in(path):
                        rows = self._decoded(entry)
                        chosen = [not numbers or number + nth in numbers for nth in range(1, len(rows) + 1)]
                        number += len(rows)
                        taken = [row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen]
                        output.writelines(f"{self.line(row)}\n" for row in taken)
                        written += len(taken)
                        if not taken:
                            entries.append((entry, count))
                        elif len(taken) < len(rows):
                            left = [row for row, is_chosen in zip(rows, chosen, strict=True) if not is_chosen]
                            entries.append((self._encoded(left), len(left)))
                except SinkError:
                    if numbers:
                        raise
                    kept[-1] = path, None
            if numbers and max(numbers) > number:
                raise SinkError(f"{self.folder} has {number:,} rows: there is no row {max(numbers):,}")
            output.flush()
            os.fsync(output.fileno())
            damaged = [self._kept(path, entries, Path(output.name)) for path, entries in kept]
            if self.damage and not has_rows(self.folder):
                (self.folder / LABEL).unlink()
        return SetAside(written, [path for path in damaged if path is not None])

    def _kept(self, path: Path, entries: list[tuple[bytes, int]] | None, output: Path) -> Path | None:
        """Leave entries in a file; returns where the file lies now if it was damaged."""
        if entries is None:
            aside = output.with_name(f"{output.name}.{path.name}")
            os.replace(path, aside)
            return aside
        if entries or path.suffix == ".cut":
            rewrite(path, entries)
        else:
            path.unlink()
        return None

    def _decoded(self, entry: bytes) -> Sequence[Row]:
        form = self._form
        if form == "marshal":
            return list(marshal.loads(entry))
        if form == _OF_FILES:
            return [(line.decode(errors="backslashreplace"),) for line in entry.splitlines()]
        if form == "arrow":
            from framework.operators.sinks.parquet_sink import rows_of

            return rows_of(entry)
        try:
            return [tuple(row) for row in pickle.loads(entry)]
        except Exception:  # whatever a class raises that is loaded, or is not here
            return [({"pickle": base64.b64encode(entry).decode()},)]

    def _encoded(self, rows: Sequence[Row]) -> bytes:
        if self._form == "marshal":
            return marshal.dumps(list(rows), 4)
        if self._form == "pickle":
            return pickle.dumps(list(rows), protocol=pickle.HIGHEST_PROTOCOL)
        raise SinkError(f"rows for {self.target} are staged many at once: leave out --row")


def stages_in(path: Path) -> Iterator[Path]:
    """The folders with staged rows at a path, and up to two below it."""
    for pattern in ("", "*", "*/*"):
        for folder in sorted(path.glob(pattern)) if pattern else [path]:
            if (folder / LABEL).is_file() and (has_rows(folder) or _has_damaged_label(folder)):
                yield folder


def _has_damaged_label(folder: Path) -> bool:
    """True if the label of a sink's folder cannot be read; others may have files of that name."""
    if not (folder / "lock").is_file():
        return False
    try:
        label_of(folder)
    except DamagedLabelError:
        return True
    return False


def _form_in(folder: Path) -> str:
    """The encoding of the entries in a folder, as far as the first whole one shows it."""
    for path in files_in(folder):
        with contextlib.suppress(SinkError):
            for entry, rows in entries_in(path):
                return _form_of(entry, rows)
    return _OF_FILES


def _form_of(entry: bytes, rows: int) -> str:
    """The encoding of an entry of so many rows: no text begins with the first bytes of the binary forms."""
    if entry[8:12] == b"\xff\xff\xff\xff" and int.from_bytes(entry[:8], "little") == len(entry) - 8:
        return "arrow"
    if entry.startswith(b"\x80"):  # as each pickle since protocol 2
        return "pickle"
    if entry[:1] in (b"[", b"\xdb") and int.from_bytes(entry[1:5], "little") == rows:
        with contextlib.suppress(Exception):  # a text that begins like a list of as many values
            found = marshal.loads(entry)
            if isinstance(found, list) and len(found) == rows:
                return "marshal"
    return _OF_FILES


def _told(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    return {"repr": repr(value), "pickle": base64.b64encode(pickle.dumps(value)).decode()}


def told_rows(folder: Path) -> tuple[int, str]:
    """The number of rows of a folder that can be read, and the fault of the folder, or an empty text."""
    count = 0
    try:
        for path in files_in(folder):
            for _, rows in entries_in(path):
                count += rows
    except SinkError as error:
        return count, str(error)
    return count, ""
