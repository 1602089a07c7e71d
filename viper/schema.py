"""Schemas: the types of a stream's fields, in Arrow's words.

A type is named as Arrow names it: ``int64``, ``timestamp[us, UTC]``, ``decimal128(10, 2)``, ``list<string>``,
``struct<x: float64, y: float64>``, ``map<string, int64>``. A field takes None unless its type ends in
``not null``. Nothing here needs pyarrow, so a schema can be declared, printed and checked without it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_INTEGERS: Final = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_PLAIN: Final = ("bool", *_INTEGERS, "float32", "float64", "string", "binary", "date32")
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "boolean": "bool",
    "float": "float32",
    "double": "float64",
    "str": "string",
    "utf8": "string",
    "bytes": "binary",
    "date": "date32",
    "decimal": "decimal128",
}
_UNITS: Final[Mapping[str, Sequence[str]]] = {
    "timestamp": ("s", "ms", "us", "ns"),
    "duration": ("s", "ms", "us"),
    "time32": ("s", "ms"),
    "time64": ("us",),
}
_EXAMPLES: Final = (
    f"{', '.join(_PLAIN)}, timestamp[us], timestamp[us, UTC], duration[us], time64[us], decimal128(10, 2), "
    "list<T>, struct<name: T>, map<K, V>, each also with ' not null' behind it"
)
_TOKEN: Final = re.compile(r"\s*(?:(not\s+null)\b|([A-Za-z_]\w*)|(\d+)|([<>\[\](),:])|([^\s\]]+))")
_MOST_DIGITS: Final = 38
"""The most digits of a decimal of 128 bits."""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a field, or of what it is nested in."""

    name: str
    """Arrow's name without arguments, e.g. ``timestamp``."""
    nullable: bool = True
    """True if None is among its values."""
    unit: str = ""
    """The unit that its numbers count: s, ms, us or ns; empty if it has none."""
    zone: str | None = None
    """The time zone of a timestamp; None for one without."""
    precision: int = 0
    """The digits of a decimal."""
    scale: int = 0
    """The digits of a decimal that follow the point."""
    children: tuple[tuple[str, ColumnType], ...] = ()
    """The types that it nests, by name: the fields of a struct; ``item``; of a map ``key`` and ``value``."""

    def __str__(self) -> str:
        return self._text() + ("" if self.nullable else " not null")

    def _text(self) -> str:
        if self.unit:
            return f"{self.name}[{self.unit}{f', {self.zone}' if self.zone else ''}]"
        if self.name == "decimal128":
            return f"{self.name}({self.precision}, {self.scale})"
        if self.name == "struct":
            return f"struct<{', '.join(f'{name}: {child}' for name, child in self.children)}>"
        if self.children:
            return f"{self.name}<{', '.join(str(child) for _, child in self.children)}>"
        return self.name


@dataclass(frozen=True, slots=True)
class Schema:
    """The types of a stream's fields, in their order."""

    types: tuple[ColumnType, ...]

    @classmethod
    def of(cls, declared: Any, fields: Sequence[str]) -> Schema:
        """The schema of a declaration.

        Args:
            declared: the type of each field by name, as a mapping of text to text; or the types alone, in the
                order of the fields.
            fields: the names of the fields.

        Raises:
            TypeError: it is neither mapping nor sequence, or a type is no text.
            ValueError: an unknown type, a field without one, a type without a field, or two fields of a name.
        """
        twice = [name for name, count in Counter(fields).items() if count > 1]
        if twice:
            raise ValueError(f"schema of a stream with two fields {twice[0]!r}: expected a name for each")
        if isinstance(declared, Schema):
            declared = list(map(str, declared.types))
        if isinstance(declared, Mapping):
            _check_names(declared, fields)
            types = [declared[name] for name in fields]
        elif isinstance(declared, list | tuple):
            types = list(declared)
        else:
            raise TypeError(f"Stream schema must map fields to types, found {declared!r}")
        if len(types) != len(fields):
            raise ValueError(f"schema with {len(types)} types for {len(fields)} fields: {list(fields)}")
        pairs = zip(fields, types, strict=True)
        return cls(tuple(parsed(found, f"field {name!r}") for name, found in pairs))

    def __str__(self) -> str:
        return ", ".join(map(str, self.types))

    def named(self, fields: Sequence[str]) -> dict[str, str]:
        """The types by field, as a declaration that means the same."""
        return {name: str(kind) for name, kind in zip(fields, self.types, strict=True)}


def _check_names(declared: Mapping[str, Any], fields: Sequence[str]) -> None:
    for name in declared:
        if name not in fields:
            raise ValueError(f"schema names {name!r}, which is no field: the fields are {list(fields)}")
    for name in fields:
        if name not in declared:
            raise ValueError(f"schema names no type for field {name!r}")


def parsed(text: Any, what: str) -> ColumnType:
    """The type that a text names.

    Args:
        text: e.g. ``timestamp[us, UTC] not null``.
        what: what it is the type of, for messages.

    Raises:
        TypeError: it is no text.
        ValueError: it names no type.
    """
    if not isinstance(text, str):
        raise TypeError(f"{what}: a type is a text such as 'int64', found {text!r}")
    parser = _Parser(text, what)
    found = parser.type()
    parser.expect_end()
    return found


class _Parser:
    """Reads one type from the left to the right."""

    def __init__(self, text: str, what: str) -> None:
        self._text = text
        self._what = what
        self._tokens = [found.group().strip() for found in _TOKEN.finditer(text)]

    def type(self) -> ColumnType:
        name = self._next()
        name = _OTHER_NAMES.get(name, name)
        if name in _UNITS:
            return self._with_unit(name)
        if name == "decimal128":
            return self._decimal()
        if name in ("list", "map", "struct"):
            return self._nested(name)
        if name not in _PLAIN:
            raise self._refused()
        if name == "date32" and self._peek() == "[":
            self._expect("[", "day", "]")
        return ColumnType(name, self._nullable())

    def expect_end(self) -> None:
        if self._tokens:
            raise self._refused()

    def _with_unit(self, name: str) -> ColumnType:
        self._expect("[")
        unit, zone = self._next(), None
        if self._peek() == ",":
            self._expect(",")
            zone = self._zone()
        self._expect("]")
        if unit not in _UNITS[name] or (zone is not None and name != "timestamp"):
            raise self._refused()
        return ColumnType(name, self._nullable(), unit=unit, zone=zone)

    def _zone(self) -> str:
        parts = []
        while self._tokens and self._peek() != "]":
            parts.append(self._next())
        zone = "".join(parts).removeprefix("tz=")
        if not zone:
            raise self._refused()
        return zone

    def _decimal(self) -> ColumnType:
        self._expect("(")
        precision, scale = self._number(), 0
        if self._peek() == ",":
            self._expect(",")
            scale = self._number()
        self._expect(")")
        if not (1 <= precision <= _MOST_DIGITS and scale <= precision):
            raise self._refused()
        return ColumnType("decimal128", self._nullable(), precision=precision, scale=scale)

    def _nested(self, name: str) -> ColumnType:
        self._expect("<")
        if name == "struct":
            children = self._fields()
        elif name == "list":
            if self._tokens[1:2] == [":"]:  # as pyarrow prints it, with the name of the items
                self._next()
                self._expect(":")
            children = (("item", self.type()),)
        else:
            key = self.type()
            self._expect(",")
            children = (("key", key), ("value", self.type()))
        self._expect(">")
        return ColumnType(name, self._nullable(), children=children)

    def _fields(self) -> tuple[tuple[str, ColumnType], ...]:
        fields: dict[str, ColumnType] = {}
        while True:
            name = self._next()
            self._expect(":")
            if name in fields:
                raise self._refused()
            fields[name] = self.type()
            if self._peek() != ",":
                return tuple(fields.items())
            self._expect(",")

    def _nullable(self) -> bool:
        if not re.fullmatch(r"not\s+null", self._peek()):
            return True
        self._next()
        return False

    def _number(self) -> int:
        text = self._next()
        if not text.isdecimal():
            raise self._refused()
        return int(text)

    def _peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _next(self) -> str:
        if not self._tokens:
            raise self._refused()
        return self._tokens.pop(0)

    def _expect(self, *tokens: str) -> None:
        for token in tokens:
            if self._next() != token:
                raise self._refused()

    def _refused(self) -> ValueError:
        return ValueError(f"{self._what}: {self._text!r} is no type: expected one of {_EXAMPLES}")
