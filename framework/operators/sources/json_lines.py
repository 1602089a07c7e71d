"""Rows of files with an object of JSON on each line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from framework.model.errors import SourceError
from framework.model.topology import did_you_mean, unknown
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import checked_encoding
from framework.operators.sources.portion import Portion
from framework.operators.sources.values import Type, columns_of, is_float, plain_types

_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_INFINITE = (math.inf, -math.inf)
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""The classes of JSON's values that no consumer can change."""


MOST_LEVELS = 200
"""The most objects and lists within each other. Python reads and copies as many as its stack has room for,
which depends on who calls it: 450 of them pass through a run, and 500 do not. So a line must have far fewer,
or the rows of a file would depend on the workers."""
_TOO_DEEP = f"objects and lists are nested more than {MOST_LEVELS} levels deep: {{}}"


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
        self._fields = None if fields is None else list(fields)
        self._defaults = dict(defaults or {})
        for name in self._defaults:
            if name not in (fields or ()):
                raise SourceError(f"defaults: {unknown('field', name, fields or ())}")
        self._columns = columns_of(self._fields or [], types, of_text=False)
        self._types = dict(types or {})
        declared = plain_types(self._fields or [], types) if typed else None
        self._outputs = self._streams(["object"] if self._fields is None else self._fields, declared)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields."""
        return self._outputs

    def _reading(self) -> tuple[object, ...]:
        types = {
            name: kind if isinstance(kind, str) else kind.__qualname__ for name, kind in self._types.items()
        }
        return (
            *super()._reading(),
            sorted(types.items()),
            sorted(map(str, self._defaults.items())),
            self._encoding,
        )

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        return self._portions_of_lines(file, self._encoding, first, partial(self._portion, file))

    def _portion(self, file: SourceFile, lines: list[str], first: int) -> Portion:
        try:
            objects = _objects(lines)
            rows = self._rows(objects)
            event_time = self._event_time
            times = (
                None
                if event_time is None
                else event_time.many([found[event_time.field] for found in objects])
            )
        except Exception:  # of a user's function, perhaps: which line it was, and why, is told then
            return self._sifted(
                file, lines, first, self._row, lambda number: (number + 1, lines[number - first])
            )
        return Portion(rows, range(first, first + len(lines)), times, first + len(lines))

    def _rows(self, objects: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        if self._fields is None:
            self._is_mutable = True
            return list(zip(objects, strict=True))
        values: list[Sequence[Any]] = []
        for name, column in zip(self._fields, self._columns, strict=True):
            if name in self._defaults:
                default = self._defaults[name]
                found: Sequence[Any] = [object.get(name, default) for object in objects]
            else:
                found = [object[name] for object in objects]
            if is_float(self._types.get(name)) and any(value in found for value in _INFINITE):
                raise ValueError("an infinite number, perhaps one that is too large: its line tells")
            values.append(found if column is None else column.many(found))
        # Once a value can be changed, all blocks are said to have such: they are copied, and that is all.
        self._is_mutable = self._is_mutable or not all(set(map(type, column)) <= _PLAIN for column in values)
        return list(zip(*values, strict=True))

    def _row(self, line: str) -> tuple[tuple[Any, ...], int | None] | None:
        if not line.strip():
            return None
        try:
            found = json.loads(line)
        except RecursionError:
            raise ValueError(_TOO_DEEP.format(f"{line:.100}")) from None
        except ValueError as error:
            raise ValueError(f"no JSON: {error}: {line:.100}") from None
        if type(found) is not dict:
            raise ValueError(f"expected an object of JSON ({{...}}), found {line:.100}")
        if _is_too_deep(line, found):
            raise ValueError(_TOO_DEEP.format(f"{line:.100}"))
        event_time = self._event_time
        needed = [name for name in self._fields or () if name not in self._defaults]
        for name in (*needed, *((event_time.field,) if event_time else ())):
            if name not in found:
                advice = did_you_mean(name, found) or ": give it in defaults if lines may do without"
                raise ValueError(f"no {name!r} in {line:.100}{advice}")
        self._check_size(line, found)
        row = self._one(found)
        return row, None if event_time is None else event_time.one(found[event_time.field])

    def _check_size(self, line: str, found: dict[str, Any]) -> None:
        """Refuse a number that is too large for its float type: Python reads it as ``Infinity``.

        Raises:
            ValueError: there is one.
        """
        for name in self._fields or ():
            if is_float(self._types.get(name)) and found.get(name) in _INFINITE:
                written = json.loads(line, parse_float=str)[name]
                if type(written) is str:
                    raise ValueError(
                        f"{name!r} is {written:.100}: expected {self._types[name]} (it is too large)"
                    )

    def _one(self, found: dict[str, Any]) -> tuple[Any, ...]:
        if self._fields is None:
            self._is_mutable = True
            return (found,)
        values = [found[name] if name in found else self._defaults[name] for name in self._fields]
        row = tuple(
            value if column is None else column.one(value)
            for value, column in zip(values, self._columns, strict=True)
        )
        self._is_mutable = self._is_mutable or not set(map(type, row)) <= _PLAIN
        return row


def _objects(lines: Sequence[str]) -> list[dict[str, Any]]:
    """The objects of lines that have nothing but one each (0.6 of the time that `json.loads` takes for each).

    Raises:
        ValueError: a line has something else, or more.
    """
    found = list(map(_scan, lines, repeat(0)))  # which ends, without a word, at a line with no value at all
    if len(found) != len(lines):
        raise ValueError("a line without an object")
    objects = [value for value, _ in found]
    if [end for _, end in found] != list(map(len, lines)) or set(map(type, objects)) - {dict}:
        raise ValueError("a line with more or other than an object")
    if max(map(len, lines), default=0) > MOST_LEVELS and any(map(_is_too_deep, lines, objects)):
        raise ValueError("a line that is nested too deeply")
    return objects


def _is_too_deep(line: str, found: dict[str, Any]) -> bool:
    """True if an object has more levels than may be; it is looked at only if the line has enough brackets."""
    if line.count("[") + line.count("{") <= MOST_LEVELS:
        return False
    level: list[Any] = [found]
    for _ in range(MOST_LEVELS):
        nested = [value for value in level if type(value) is dict or type(value) is list]
        level = [inner for value in nested for inner in (value.values() if type(value) is dict else value)]
    return any(type(value) is dict or type(value) is list for value in level)
