"""Rows as lines of a file: JSON, CSV, or plain text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from framework.model.errors import SinkError
from framework.operators.sinks.arrival import check_whole
from framework.operators.sinks.columns import Chosen
from framework.operators.sinks.file_sink import FileSink
from framework.operators.sinks.sink import Row


class JsonLinesSink(FileSink):
    """Writes an object of JSON per row, by the names of its fields.

        JsonLinesSink("counts.jsonl")

    Args:
        path: the file; see `FileSink`, also for `grow`.
        columns: the fields that are written, in this order; None: all.
        grow: whether the file itself grows.

    Raises:
        SinkError: there is no such folder.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, *, grow: bool = False) -> None:
        super().__init__(path, grow=grow)
        self._columns = columns

    def choose(self, context: Mapping[str, Any]) -> None:
        """As in the base class."""
        self._chosen = Chosen(context, self._columns)

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        return {**super().layout, "columns": list(self._chosen.names)}

    def apply_as(self, layout: Mapping[str, Any]) -> None:
        """Prepare for lines of other fields, which may come before those of these: each has the names of its
        own.

        Raises:
            SinkError: the rows were taken by a sink of another format.
        """
        super().apply_as({**layout, "columns": self.layout["columns"]})

    def _check_head(self) -> None:
        """Refuse to add to a file that has no objects of JSON.

        Raises:
            SinkError: it begins with something else.
        """
        with open(self._path, "rb") as file:
            found = file.read(_MOST_SHOWN).lstrip()
        if found and not found.startswith(b"{"):
            raise SinkError(
                f"{self._path} begins with {found.splitlines()[0]!r}, expected b'{{...', as JsonLinesSink "
                "writes an object of JSON per row: let the sink write as before, or name another file"
            )

    def encode(self, rows: Sequence[Row]) -> bytes:
        """A line per row.

        Raises:
            SinkError: a value that JSON cannot write.
        """
        return check_whole(self._chosen.of(rows), self._objects)

    def _objects(self, rows: Sequence[Row]) -> bytes:
        objects = [dict(zip(self._chosen.names, row, strict=True)) for row in rows]
        is_plain = all(set(map(type, values)) <= _PLAIN for values in zip(*rows, strict=True))
        try:
            lines = (
                _plain_lines(objects) if is_plain else "".join([_dumps(found) + "\n" for found in objects])
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"JSON cannot write a row: {error}; make it text or a number first") from None
        return lines.encode()


_MOST_SHOWN = 200
"""Bytes of a file that are looked at, and shown."""
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""The classes of values that are no objects or lists of JSON."""
_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": ")).encode
_dumps_on_lines = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("\n", ": ")).encode


def _plain_lines(objects: Sequence[Mapping[str, Any]]) -> str:
    """Objects of plain values as lines, in a third of the time that they take one by one.

    All are written at once with a new line, which no text of JSON contains, between any two values. So one
    between braces is between two objects.
    """
    text = _dumps_on_lines(objects)[1:-1] + "\n"
    return text.replace("}\n", "}\0").replace("\n", ", ").replace("\0", "\n")


class CsvSink(FileSink):
    """Writes a CSV record per row, behind a line with the names of the columns. None becomes an empty text.

        CsvSink("counts.csv", columns=["word", "count"])

    Args:
        path: the file; see `FileSink`, also for `grow`.
        columns: the fields that are written, in this order; None: all.
        delimiter: the text between two values.
        header: whether there is a line with the names.
        grow: whether the file itself grows; the names are written into an empty file only.

    Raises:
        SinkError: there is no such folder, or a delimiter that cannot be.
    """

    def __init__(
        self,
        path: str,
        columns: Sequence[str] | None = None,
        *,
        delimiter: str = ",",
        header: bool = True,
        grow: bool = False,
    ) -> None:
        super().__init__(path, grow=grow)
        self._columns = columns
        self._delimiter = delimiter
        self._header = header
        try:
            csv.writer(io.StringIO(), delimiter=delimiter)
        except (TypeError, ValueError) as error:
            raise SinkError(f"delimiter {delimiter!r}: {error}") from None
        if delimiter in '"\r\n':
            raise SinkError(f"delimiter {delimiter!r}: expected neither the quote nor an end of a line")

    def choose(self, context: Mapping[str, Any]) -> None:
        """As in the base class."""
        self._chosen = Chosen(context, self._columns)

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        columns = list(self._chosen.names)
        return {**super().layout, "columns": columns, "delimiter": self._delimiter, "header": self._header}

    def head(self) -> bytes:
        """The line of names."""
        return self._records([tuple(self._chosen.names)]) if self._header else b""

    def _check_head(self) -> None:
        """As in the base class; without a line of names, refuse records with another number of values.

        Raises:
            SinkError: there are such.
        """
        super()._check_head()
        if self._header:
            return
        with open(self._path, encoding="utf-8", errors="replace", newline="") as file:
            found = next(csv.reader(file, delimiter=self._delimiter), None)
        if found and len(found) != len(self._chosen.names):
            raise SinkError(
                f"{self._path} begins with a record of {len(found)} values, {found!r:.200}, and the sink "
                f"would write {len(self._chosen.names)}, of {list(self._chosen.names)!r:.200}: name as many "
                "(columns=[...]), or another file"
            )

    def as_before(self, first: bytes) -> str:
        """As in the base class."""
        line = first.decode(errors="replace").removesuffix("\n")
        for delimiter in (self._delimiter, *",;\t|"):
            names = next(csv.reader([line], delimiter=delimiter), [])
            if names and all(name in self._chosen.fields for name in names):
                other = f", delimiter={delimiter!r}" if delimiter != self._delimiter else ""
                return f" (columns={names!r}{other})"
        return ""

    def encode(self, rows: Sequence[Row]) -> bytes:
        """A record per row.

        Raises:
            SinkError: a value that is no text, or has none.
        """
        return check_whole(self._chosen.of(rows), self._records)

    def _records(self, rows: Sequence[Row]) -> bytes:
        return records_text(rows, self._delimiter).encode()


def records_text(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Rows as records of CSV, each on a line of its own.

    Args:
        rows: their values, of which None becomes an empty text.
        delimiter: the text between two values.
    """
    lines: list[str] = []
    # Before Python 3.13 a value is quoted only for the ends of lines that the writer makes itself; with
    # another one in it, nobody could read the record.
    file = SimpleNamespace(write=lines.append)
    csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return "".join([line[:-2] + "\n" for line in lines])


class TextSink(FileSink):
    """Writes a line per row: its values as text, between separators.

        TextSink("lines.txt", separator=" ")

    Args:
        path: the file; see `FileSink`, also for `grow`.
        separator: the text between two values of a row.
        grow: whether the file itself grows.

    Raises:
        SinkError: there is no such folder.
    """

    def __init__(self, path: str, separator: str = "\t", *, grow: bool = False) -> None:
        super().__init__(path, grow=grow)
        self._separator = separator

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        return {**super().layout, "separator": self._separator}

    def encode(self, rows: Sequence[Row]) -> bytes:
        """A line per row.

        Raises:
            SinkError: a value that has no text.
        """
        return check_whole(rows, self._lines)

    def _lines(self, rows: Sequence[Row]) -> bytes:
        return "".join([self._separator.join(map(str, row)) + "\n" for row in rows]).encode()
