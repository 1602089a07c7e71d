"""What the texts of a CSV file and the values of JSON become, by the type that their field was given."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.errors import SourceError
from framework.topology import unknown
from framework.units import PER_SECOND, micros_of
from viper.schema import ColumnType, parsed

Type = str | Callable[[Any], Any]
"""A type in Arrow's words, e.g. ``int64``, or a function of a value."""


@dataclass(frozen=True, slots=True)
class Column:
    """Makes the values of a field."""

    field: str
    expected: str
    """What a value must be, in words."""
    convert: Callable[[Any], Any]
    """Makes one value; raises where it cannot."""
    bulk: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    """Makes many at once, faster, and raises any exception where not all of them are plain."""

    def one(self, value: Any) -> Any:
        """One value.

        Raises:
            ValueError: it is not of the type.
        """
        try:
            return self.convert(value)
        except Exception as error:
            reason = "" if isinstance(error, _Refused) else f" ({type(error).__name__}: {error})"
            raise ValueError(f"{self.field!r} is {value!r:.100}: expected {self.expected}{reason}") from error

    def many(self, values: Sequence[Any]) -> Sequence[Any]:
        """Many values, in order.

        Raises:
            Exception: one of them is not of the type; `one` says which and why.
        """
        if self.bulk is not None:
            try:
                return self.bulk(values)
            except (ValueError, KeyError, TypeError):  # not all are plain: some are empty, perhaps
                pass
        return list(map(self.convert, values))


class _Refused(ValueError):
    """A value that is not of its type; what was expected says it all."""


def columns_of(
    fields: Sequence[str], types: Mapping[str, Type] | None, *, of_text: bool
) -> list[Column | None]:
    """What makes the values of fields, in order; None where a value stays as it is.

    Args:
        fields: the names of the fields.
        types: those that were given, by field.
        of_text: whether values are texts, as in CSV, and not JSON's.

    Raises:
        SourceError: a type of an unknown field, or no type.
    """
    given = dict(types or {})
    for name in given:
        if name not in fields:
            raise SourceError(f"types: {unknown('field', name, fields)}")
    return [_column(name, given.get(name), of_text) for name in fields]


def plain_types(fields: Sequence[str], types: Mapping[str, Type] | None) -> dict[str, str]:
    """The types of fields as a stream's schema declares them; text where none was given.

    Raises:
        SourceError: one of them is a function.
    """
    found: dict[str, str] = {}
    for name in fields:
        kind = (types or {}).get(name, "string")
        if not isinstance(kind, str):
            raise SourceError(f"types: {name!r} is made by a function, so typed=True cannot tell its type")
        found[name] = kind
    return found


def _column(field: str, kind: Type | None, of_text: bool) -> Column | None:
    if kind is None:
        return None
    if callable(kind):
        return Column(field, f"a value that {getattr(kind, '__name__', repr(kind))} takes", kind)
    try:
        found = parsed(kind, f"types: {field!r}")
    except (TypeError, ValueError) as error:
        raise SourceError(str(error)) from None
    if of_text and found.name == "string" and found.nullable:
        return None
    convert, bulk = _text_maker(found) if of_text else _json_maker(found)
    return Column(field, str(found), convert, bulk)


_Maker = tuple[Callable[[Any], Any], Callable[[Sequence[Any]], Sequence[Any]] | None]


def _text_maker(kind: ColumnType) -> _Maker:
    """Of a text; an empty one is None, where that is allowed and text itself is not wanted."""
    if kind.name == "string":
        return _not_empty, None
    if kind.name in _LIMITS:
        return _nullable(kind, _whole(kind)), _wholes(kind)
    if kind.name in ("float32", "float64"):
        return _nullable(kind, _float), _floats
    if kind.name == "bool":
        return _nullable(kind, _TRUTH.__getitem__), lambda texts: list(map(_TRUTH.__getitem__, texts))
    return _nullable(kind, _rare(kind)), None


def _json_maker(kind: ColumnType) -> _Maker:
    """Of a value of JSON; null is None where that is allowed."""
    classes = _JSON_CLASSES.get(kind.name)
    if classes is None:
        return _nullable(kind, _rare(kind)), None
    allowed = frozenset(classes) | ({type(None)} if kind.nullable else frozenset())
    is_float = kind.name in ("float32", "float64")

    def one(value: Any) -> Any:
        if type(value) not in allowed:
            raise _Refused
        if kind.name in _LIMITS and value is not None:
            _check_limits(kind, [value])
        return float(value) if is_float and value is not None else value

    def many(values: Sequence[Any]) -> Sequence[Any]:
        found = set(map(type, values))
        if not found <= {float if is_float else classes[0]}:
            raise _Refused
        if kind.name in _LIMITS:
            _check_limits(kind, values)
        return values

    return one, many


_LIMITS: Mapping[str, tuple[int, int]] = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""The least and the greatest value of each type of whole numbers."""

_JSON_CLASSES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(_LIMITS, (int,)),
    "float32": (float, int),
    "float64": (float, int),
    "bool": (bool,),
    "string": (str,),
}

_TRUTH = {
    **{text: True for text in ("true", "True", "TRUE", "1")},
    **{text: False for text in ("false", "False", "FALSE", "0")},
}


def _nullable(kind: ColumnType, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of(value: Any) -> Any:
        if value is None or value == "":
            if kind.nullable:
                return None
            raise _Refused
        try:
            return make(value)
        except (ValueError, KeyError, TypeError, OverflowError, decimal.InvalidOperation):
            raise _Refused from None

    return of


def _not_empty(text: str) -> str:
    if not text:
        raise _Refused
    return text


def _whole(kind: ColumnType) -> Callable[[str], int]:
    least, greatest = _LIMITS[kind.name]

    def of(text: str) -> int:
        if "_" in text or not least <= (value := int(text)) <= greatest:
            raise _Refused
        return value

    return of


def _wholes(kind: ColumnType) -> Callable[[Sequence[str]], Sequence[int]]:
    def of(texts: Sequence[str]) -> Sequence[int]:
        _refuse_underscores(texts)
        values = list(map(int, texts))
        _check_limits(kind, values)
        return values

    return of


def _float(text: str) -> float:
    if "_" in text:
        raise _Refused
    return float(text)


def _floats(texts: Sequence[str]) -> Sequence[float]:
    _refuse_underscores(texts)
    return list(map(float, texts))


def _refuse_underscores(texts: Sequence[str]) -> None:
    """Python takes 1_000 for a number, and nobody else does."""
    if "_" in "".join(texts):
        raise _Refused


def _check_limits(kind: ColumnType, values: Sequence[int]) -> None:
    least, greatest = _LIMITS[kind.name]
    if values and not (least <= min(values) and max(values) <= greatest):
        raise _Refused


def _rare(kind: ColumnType) -> Callable[[Any], Any]:
    """Of types that few files have.

    Raises:
        SourceError: no file of text has such values.
    """
    if kind.name == "timestamp":
        return _timestamp(kind.unit)
    if kind.name == "date32":
        return datetime.date.fromisoformat
    if kind.name == "decimal128":
        return lambda value: decimal.Decimal(value if isinstance(value, str | int) else _refuse())
    raise SourceError(
        f"types: {kind} cannot be made of text: expected bool, whole numbers, floats, string, "
        "timestamp[unit], date32, decimal128(digits, scale), or a function of a value"
    )


def _timestamp(unit: str) -> Callable[[Any], int]:
    """Of a time in ISO 8601, or of a number in the unit; the value is a number in the unit."""

    def of(value: Any) -> int:
        if isinstance(value, str) and value.lstrip("-").isdecimal():
            return int(value)
        if type(value) is int:
            return value
        return micros_of(value, unit) * PER_SECOND[unit] // PER_SECOND["us"]

    return of


def _refuse() -> str:
    raise _Refused
