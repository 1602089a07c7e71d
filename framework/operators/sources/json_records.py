"""Rows of texts that have an object of JSON each: lines of a file, or messages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from framework.model.errors import SourceError
from framework.model.topology import did_you_mean, unknown
from framework.operators.sources.times import EventTime
from framework.operators.sources.values import Type, columns_of, is_float

_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_INFINITE = (math.inf, -math.inf)
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""The classes of JSON's values that no consumer can change."""


MOST_LEVELS = 200
"""The most objects and lists within each other. Python reads and copies as many as its stack has room for,
which depends on who calls it: 450 of them pass through a run, and 500 do not. So a text must have far fewer,
or the rows of a file would depend on the workers."""
_TOO_DEEP = f"objects and lists are nested more than {MOST_LEVELS} levels deep: {{}}"
Row = tuple[Any, ...]


class JsonRecords:
    """Makes rows of objects of JSON.

    A value is what JSON has: text, a number, true, false, null (None), a list, a dict. If a key occurs twice,
    the last value counts. ``NaN``, ``Infinity`` and ``-Infinity`` are numbers, as for Python's module `json`.

    Args:
        fields: the keys whose values make a row, in this order. None: a row has the whole object, as a dict.
        types: types of fields by name, in Arrow's words, or functions of a value.
        defaults: the values of keys that an object need not have.
        event_time: reads the event time of an object; None where it has none.

    Raises:
        SourceError: an argument cannot be.
    """

    def __init__(
        self,
        fields: Sequence[str] | None,
        types: Mapping[str, Type] | None = None,
        defaults: Mapping[str, Any] | None = None,
        event_time: EventTime | None = None,
    ) -> None:
        if fields is None and (types or defaults):
            raise SourceError("types and defaults are about fields: name them (fields=[...])")
        self.fields = None if fields is None else list(fields)
        """The keys; None for whole objects."""
        self.defaults = dict(defaults or {})
        """The values of keys that an object need not have."""
        for name in self.defaults:
            if name not in (fields or ()):
                raise SourceError(f"defaults: {unknown('field', name, fields or ())}")
        self.types = dict(types or {})
        """The types of fields that have one."""
        self.is_mutable = False
        """True if a row may hold a value that a consumer can change. Once one does, all are said to."""
        self._columns = columns_of(self.fields or [], types, of_text=False)
        self._event_time = event_time

    @property
    def definition(self) -> tuple[object, ...]:
        """All that rows depend on, as far as it can be written down."""
        types = {
            name: kind if isinstance(kind, str) else kind.__qualname__ for name, kind in self.types.items()
        }
        return sorted(types.items()), sorted(map(str, self.defaults.items()))

    def many(self, texts: Sequence[str]) -> tuple[list[Row], list[int] | None]:
        """The rows of texts that have nothing but an object each, and their event times if they have some.

        Raises:
            Exception: one of them is malformed, or has no object; `one` says which and why.
        """
        objects = _objects(texts)
        rows, event_time = self._rows(objects), self._event_time
        if event_time is None:
            return rows, None
        return rows, event_time.many([found[event_time.field] for found in objects])

    def one(self, text: str) -> tuple[Row, int | None] | None:
        """The row of a text, and its event time if it has one; None where the text is blank.

        Raises:
            ValueError: it is malformed.
        """
        if not text.strip():
            return None
        try:
            found = json.loads(text)
        except RecursionError:
            raise ValueError(_TOO_DEEP.format(f"{text:.100}")) from None
        except ValueError as error:
            raise ValueError(f"no JSON: {error}: {text:.100}") from None
        if type(found) is not dict:
            raise ValueError(f"expected an object of JSON ({{...}}), found {text:.100}")
        if _is_too_deep(text, found):
            raise ValueError(_TOO_DEEP.format(f"{text:.100}"))
        event_time = self._event_time
        needed = [name for name in self.fields or () if name not in self.defaults]
        for name in (*needed, *((event_time.field,) if event_time else ())):
            if name not in found:
                advice = did_you_mean(name, found) or ": give it in defaults if objects may do without"
                raise ValueError(f"no {name!r} in {text:.100}{advice}")
        self._check_size(text, found)
        row = self._one(found)
        return row, None if event_time is None else event_time.one(found[event_time.field])

    def _rows(self, objects: list[dict[str, Any]]) -> list[Row]:
        if self.fields is None:
            self.is_mutable = True
            return list(zip(objects, strict=True))
        values: list[Sequence[Any]] = []
        for name, column in zip(self.fields, self._columns, strict=True):
            if name in self.defaults:
                default = self.defaults[name]
                found: Sequence[Any] = [object.get(name, default) for object in objects]
            else:
                found = [object[name] for object in objects]
            if is_float(self.types.get(name)) and any(value in found for value in _INFINITE):
                raise ValueError("an infinite number, perhaps one that is too large: its text tells")
            values.append(found if column is None else column.many(found))
        self.is_mutable = self.is_mutable or not all(set(map(type, column)) <= _PLAIN for column in values)
        return list(zip(*values, strict=True))

    def _check_size(self, text: str, found: dict[str, Any]) -> None:
        """Refuse a number that is too large for its float type: Python reads it as ``Infinity``.

        Raises:
            ValueError: there is one.
        """
        for name in self.fields or ():
            if is_float(self.types.get(name)) and found.get(name) in _INFINITE:
                written = json.loads(text, parse_float=str)[name]
                if type(written) is str:
                    raise ValueError(
                        f"{name!r} is {written:.100}: expected {self.types[name]} (it is too large)"
                    )

    def _one(self, found: dict[str, Any]) -> Row:
        if self.fields is None:
            self.is_mutable = True
            return (found,)
        values = [found[name] if name in found else self.defaults[name] for name in self.fields]
        row = tuple(
            value if column is None else column.one(value)
            for value, column in zip(values, self._columns, strict=True)
        )
        self.is_mutable = self.is_mutable or not set(map(type, row)) <= _PLAIN
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
