"""Conversion of the texts of a CSV file, and of the values of JSON, to the declared types of their fields."""

from __future__ import annotations

import datetime
import math
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from framework.common.coroutines import check_awaits_nothing
from framework.common.units import PER_SECOND, date_of, micros_of_plain, nanos_of
from framework.model.errors import SourceError
from framework.model.topology import did_you_mean, unknown
from viper.columns.fitting import Fit, MisfitError, fit_of
from viper.schema import ColumnType, parsed

Type = str | Callable[[Any], Any]
"""A type in Arrow's words, e.g. ``int64``, or a function of a value."""


@dataclass(frozen=True, slots=True)
class Column:
    """Makes the values of a field."""

    field: str
    expected: str
    """The expected form of a value, in words."""
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
            told = str(error) if isinstance(error, _Refused) else f"{type(error).__name__}: {error}"
            reason = f" ({told})" if told else ""
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
        return [self.convert(value) for value in values]  # as `map` would end where it raises StopIteration


class _Refused(ValueError):
    """A value that is not of its type; its text says more than what was expected, where that is not all."""


def columns_of(
    fields: Sequence[str], types: Mapping[str, Type] | None, *, of_text: bool
) -> list[Column | None]:
    """Return the makers of the fields' values, in order; None for a value that stays as it is.

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


def is_float(kind: Type | None) -> bool:
    """True if a type is one of floats, whose numbers may be infinite."""
    return isinstance(kind, str) and parsed(kind, "types").name in _FLOATS


def _column(field: str, kind: Type | None, of_text: bool) -> Column | None:
    if kind is None:
        return None
    if callable(kind):
        check_awaits_nothing(f"types: {field!r}", kind)
        return Column(field, f"a value that {getattr(kind, '__name__', repr(kind))} takes", kind)
    try:
        found = parsed(kind, f"types: {field!r}")
    except TypeError as error:
        raise SourceError(str(error)) from None
    except ValueError:
        told = f"types: {field!r}: {kind!r} is no type: expected {_MADE_OF_FILES}{did_you_mean(kind, _NAMES)}"
        raise SourceError(told) from None
    if found.name not in _NAMES:
        made, advice = ("text", "") if of_text else ("JSON", _AS_IT_IS if found.children else "")
        raise SourceError(
            f"types: {field!r}: {found} cannot be made of {made}: expected {_MADE_OF_FILES}{advice}"
        )
    if of_text and found.name == "string" and found.nullable:
        return None
    convert, bulk = _text_maker(found) if of_text else _json_maker(found)
    return Column(field, str(found), convert, bulk)


_Read = Callable[[Any], Any]
"""Makes a value that need not fit the type; raises ValueError or TypeError where there is none."""
_Bulk = Callable[[Sequence[Any]], Sequence[Any]]
_Maker = tuple[Callable[[Any], Any], _Bulk | None]


def _text_maker(kind: ColumnType) -> _Maker:
    """Of a text; an empty one is None, where that is allowed and text itself is not wanted."""
    if kind.name == "string":
        return _not_empty, None
    fitted = _fitted(_TEXT_READS.get(kind.name) or _rare(kind), fit_of(kind))
    if not kind.nullable:
        return fitted, _text_bulk(kind)
    return lambda text: None if text == "" else fitted(text), _text_bulk(kind)


def _json_maker(kind: ColumnType) -> _Maker:
    """Of a value of JSON; null is None where that is allowed."""
    classes = _JSON_CLASSES.get(kind.name)
    fitted = _fitted(_same if classes is not None else _rare(kind), fit_of(kind))
    if not kind.nullable:
        return fitted, _json_bulk(kind)
    return lambda value: None if value is None else fitted(value), _json_bulk(kind)


def _fitted(read: _Read, fit: Fit) -> Callable[[Any], Any]:
    """As a typed stream carries it, so that what is read does not depend on whether the stream is typed."""

    def of(value: Any) -> Any:
        try:
            return fit(read(value))
        except MisfitError as error:
            raise _Refused(str(error)) from None
        except (ValueError, KeyError, TypeError, OverflowError):
            raise _Refused from None

    return of


def _same(value: Any) -> Any:
    return value


def _not_empty(text: str) -> str:
    if not text:
        raise _Refused
    return text


# -- one text

_WHOLE: Final = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NUMBER: Final = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?\s*", re.ASCII)
"""The texts that other programs read as numbers; Python also reads 1_000, and digits of any script."""


def whole_of(text: str) -> int:
    """The whole number that a text is, such as ``-5``.

    Raises:
        ValueError: it is none.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError("no whole number")
    return int(text)


def decimal_of(text: str) -> Decimal:
    """The number that a text is, such as ``1.50`` or ``1e3``, with all its digits.

    Raises:
        ValueError: it is none.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError("no number")
    return Decimal(text)


def _float(text: str) -> float:
    if "_" in text or not text.isascii():
        raise _Refused
    value = float(text)
    if math.isinf(value) and _NUMBER.fullmatch(text):
        raise MisfitError("it is too large")
    return value


def _truth(text: str) -> bool:
    return _TRUTH[text.strip()]


_TRUTH = {
    **{text: True for text in ("true", "True", "TRUE", "1")},
    **{text: False for text in ("false", "False", "FALSE", "0")},
}
_WHOLES: Final = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS: Final = frozenset({"float32", "float64"})
_RARE: Final = frozenset({"timestamp", "date32", "decimal128"})
_NAMES: Final = _WHOLES | _FLOATS | _RARE | {"bool", "string"}
"""The types that values of files become, by their names."""
_MADE_OF_FILES: Final = (
    "one of bool, int8 to int64, uint8 to uint64, float32, float64, string, timestamp[us] (or s, ms, ns), "
    "date32, decimal128(10, 2), each also with ' not null' behind it, or in Python a function of a value"
)
_AS_IT_IS: Final = "; without a type a list or an object stays as JSON has it"
_TEXT_READS: Mapping[str, _Read] = {
    **dict.fromkeys(_WHOLES, whole_of),
    **dict.fromkeys(_FLOATS, _float),
    "bool": _truth,
}
_JSON_CLASSES: Mapping[str, type] = {
    **dict.fromkeys(_WHOLES, int),
    **dict.fromkeys(_FLOATS, float),
    "bool": bool,
    "string": str,
}
"""The class of a value of JSON, by the types that have one."""


def _rare(kind: ColumnType) -> _Read:
    """Of types that JSON writes as text."""
    if kind.name == "timestamp":
        return _timestamp(PER_SECOND[kind.unit])
    if kind.name == "date32":
        return date_of
    assert kind.name == "decimal128"
    return lambda value: decimal_of(value) if isinstance(value, str) else value


def _timestamp(per_second: int) -> _Read:
    """Of a time in ISO 8601, or of a whole number in the unit; the value is a number in the unit."""

    def of(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if _WHOLE.fullmatch(value):
            return int(value)
        nanos, is_inexact = nanos_of(value)
        number, rest = divmod(nanos, PER_SECOND["ns"] // per_second)
        if rest or is_inexact:
            raise MisfitError("it is finer than the unit")
        return number

    return of


# -- many values at once, where all are plain


def _text_bulk(kind: ColumnType) -> _Bulk | None:
    if kind.name == "bool":
        return lambda texts: list(map(_TRUTH.__getitem__, texts))
    if kind.name in _FLOATS:
        return lambda texts: _finite(_floats(kind, list(map(float, plain(texts)))))
    if kind.name in _WHOLES:
        check = _limits(kind)
        return lambda texts: check(list(map(int, plain(texts))))
    if kind.name == "timestamp":
        return _times_bulk(PER_SECOND[kind.unit])
    if kind.name == "date32":
        return _lines_bulk(r"\d{4}-\d\d-\d\d", datetime.date.fromisoformat)
    if kind.name == "decimal128":
        return _decimals_bulk(kind.precision, kind.scale)
    return None


def _lines_bulk(form: str, make: Callable[[str], Any]) -> _Bulk:
    """Of texts in one form alone; a look at all of them takes a fifth of the time of a look at each."""
    are_plain = re.compile(rf"{form}(?:\n{form})*", re.ASCII).fullmatch

    def of(texts: Sequence[str]) -> Sequence[Any]:
        if not are_plain("\n".join(texts)):
            raise _Refused
        return list(map(make, texts))

    return of


def _decimals_bulk(precision: int, scale: int) -> _Bulk:
    """Of decimals with just their digits behind the point, and of no zero with a sign."""
    before = rf"(?:-(?=[\d.]*[1-9]))?\d{{1,{precision - scale}}}" if precision > scale else "0"
    return _lines_bulk(before + (rf"\.\d{{{scale}}}" if scale else ""), Decimal)


def _times_bulk(per_second: int) -> _Bulk:
    """Of times as most programs write them, but in nanoseconds, which do not reach as far as these."""
    step = PER_SECOND["us"] // per_second

    def of(texts: Sequence[str]) -> Sequence[int]:
        micros = micros_of_plain(texts)
        if not step or (step > 1 and any(number % step for number in micros)):
            raise _Refused
        return micros if step == 1 else [number // step for number in micros]

    return of


def _json_bulk(kind: ColumnType) -> _Bulk | None:
    expected = _JSON_CLASSES.get(kind.name)
    if expected is None:
        return None
    check: _Bulk = _limits(kind) if kind.name in _WHOLES else lambda values: values
    if kind.name == "float32":
        check = lambda values: _finite(_floats(kind, values))  # noqa: E731
    if kind.name == "string":
        check = _characters

    def of(values: Sequence[Any]) -> Sequence[Any]:
        if set(map(type, values)) != {expected}:
            raise _Refused
        return check(values)

    return of


def plain(texts: Sequence[str]) -> Sequence[str]:
    """The texts, if they have nothing that Python alone takes for a part of a number."""
    joined = "".join(texts)
    if "_" in joined or not joined.isascii():
        raise _Refused
    return texts


def _limits(kind: ColumnType) -> _Bulk:
    bits = int(kind.name.removeprefix("u").removeprefix("int"))
    least, greatest = (0, 2**bits - 1) if kind.name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def check(values: Sequence[int]) -> Sequence[int]:
        if values and not (least <= min(values) and max(values) <= greatest):
            raise _Refused
        return values

    return check


def _floats(kind: ColumnType, values: Sequence[float]) -> Sequence[float]:
    return array("f", values).tolist() if kind.name == "float32" else values


def _finite(values: Sequence[float]) -> Sequence[float]:
    """The values, unless one is infinite: was it written so, or is it too large?"""
    if math.inf in values or -math.inf in values:
        raise _Refused
    return values


def _characters(values: Sequence[str]) -> Sequence[str]:
    """The texts, if UTF-8 can carry them: JSON may write half a character (UnicodeEncodeError)."""
    "".join(values).encode()
    return values
