"""Rows of files with an object of JSON on each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from framework.model.errors import SourceError
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.json_records import JsonRecords
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import checked_encoding
from framework.operators.sources.portion import Portion
from framework.operators.sources.values import Type, plain_types


class JsonLinesSource(FileSource):
    """Reads files that have an object of JSON on each line, a row for each object.

        JsonLinesSource("events/", ["user", "action"], defaults={"action": "view"}, timestamp="at", unit="ms")

    A value is what JSON has: text, a number, true, false, null (None), a list, a dict. A type that is given
    is checked, and a time in text becomes a number if it is ``timestamp[us]``. Empty lines are left out.

    A line is malformed if it is no object, has not all fields, or has a value that is not of its type. It is
    malformed, too, if lists and objects are nested more than 200 levels deep. If a key occurs twice, the last
    value counts. ``NaN``, ``Infinity`` and ``-Infinity`` are numbers, as for Python's module `json`.
    ``1e400`` is malformed in a field of a float type, and Python's `inf` in a field without a type.

    Args:
        path: a file, a folder, a pattern (``events/*.jsonl.gz``), or a list of these.
        fields: the keys whose values make a row, in this order; others are left out. None: a row has the
            whole object, as a dict, in a field ``object``.
        types: types of fields by name, in Arrow's words (``int64``, ``float64``, ``bool``, ``string``,
            ``timestamp[us]``), or functions of a value.
        typed: whether the stream has a schema, so that bolts get columns (it wants pyarrow).
        defaults: the values of keys that a line need not have.
        encoding: of the files, as Python names it.
        **options: as of `FileSource`: ``timestamp``, ``unit``, ``timestamp_format``, ``in_turn``, ``follow``,
            ``end_marker``, ``on_malformed``.

    Raises:
        SourceError: there is no such file, or an argument cannot be.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        fields: Sequence[str] | None = None,
        *,
        types: Mapping[str, Type] | None = None,
        typed: bool = False,
        defaults: Mapping[str, Any] | None = None,
        encoding: str = "utf-8",
        **options: Any,
    ) -> None:
        super().__init__(path, **options)
        if fields is None and (types or typed or defaults):
            raise SourceError("types, typed and defaults are about fields: name them (fields=[...])")
        self._encoding = checked_encoding(encoding)
        self._records = JsonRecords(fields, types, defaults, self._event_time)
        declared = plain_types(fields or [], types) if typed else None
        self._outputs = self._streams(["object"] if fields is None else fields, declared)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields."""
        return self._outputs

    def _reading(self) -> tuple[object, ...]:
        return *super()._reading(), *self._records.definition, self._encoding

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        return self._portions_of_lines(file, self._encoding, first, partial(self._portion, file))

    def _portion(self, file: SourceFile, lines: list[str], first: int) -> Portion:
        try:
            rows, times = self._records.many(lines)
        except Exception:  # of a user's function, perhaps: which line it was, and why, is told then
            return self._sifted(
                file, lines, first, self._records.one, lambda number: (number + 1, lines[number - first])
            )
        return Portion(rows, range(first, first + len(lines)), times, first + len(lines))

    @property
    def _is_mutable(self) -> bool:  # type: ignore[override]
        return self._records.is_mutable
