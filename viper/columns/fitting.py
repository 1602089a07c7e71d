"""The one form of each value that a typed stream carries, whoever emits it and however it travels.

    bool                        bool
    int8 to int64, uint8 ...    int
    float32, float64            float; of float32 the nearest one
    string, binary              str, bytes
    date32                      date
    timestamp                   int in the declared unit, since 1970 UTC
    duration, time32, time64    timedelta, time
    decimal128                  Decimal with the declared scale
    list, struct, map           tuple; of a struct its values, of a map its pairs (key, value)
    null                        None

All of them are immutable. An emitted value may also be of a kind that fits without loss: an int for a float
or a decimal, a datetime for a timestamp, a bytearray for bytes. So may a mapping for a struct or a map, and a
NumPy scalar for the value that it holds.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from viper.scalars import ScalarError, python_of
from viper.schema import ColumnType, Schema

Fit = Callable[[Any], Any]
"""Makes the form that is carried of a value, or raises ValueError."""

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_FLOAT32: Final = struct.Struct("<f")  # in native form it makes infinity of what is too large
LEAST_SPAN_US: Final = -(2**63 // 1_000_000) * 1_000_000
"""The least duration in microseconds that pyarrow makes: it counts whole seconds first."""


class MisfitError(ValueError):
    """A value that is not of the declared type."""


class Fitting:
    """Makes the values of a typed stream's tuples fit.

    Args:
        schema: the types.
        fields: their names, for messages.
    """

    def __init__(self, schema: Schema, fields: Sequence[str]) -> None:
        self._schema = schema
        self._fields = tuple(fields)
        self._fits = [fit_of(kind) for kind in schema.types]
        self.codes = bytes(map(code_of, schema.types))
        """For each field what C may accept by itself, see `viper.rows.Outbox`."""

    def row(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of one tuple, as many as there are fields, in the form that is carried.

        Raises:
            MisfitError: a value is not of its field's type.
        """
        return tuple([self._value(index, value) for index, value in enumerate(values)])

    def column(self, index: int, values: Iterable[Any]) -> list[Any]:
        """Values of one field, in that form; errors as for `row`."""
        return [self._value(index, value) for value in values]

    def _value(self, index: int, value: Any) -> Any:
        try:
            return self._fits[index](value)
        except MisfitError as error:
            declared = self._schema.types[index]
            reason = f" ({error})" if str(error) else ""
            raise MisfitError(
                f"field {self._fields[index]!r} is {value!r:.200}, a {type(value).__name__}: "
                f"expected {declared}{reason}"
            ) from None


def fit_of(kind: ColumnType) -> Fit:
    """The function that makes values of a type fit."""
    fit = _fit(kind)

    def or_none(value: Any) -> Any:
        if value is not None and type(value).__module__.startswith(("numpy", "pandas")):
            value = _held(value)
        if value is None:
            if kind.nullable:
                return None
            raise MisfitError("it takes no None")
        return fit(value)

    return or_none


def _held(scalar: Any) -> Any:
    """The value of Python that a scalar of NumPy or pandas stands for, or a time with its unit.

    A type may be finer than Python's own times.
    """
    if getattr(getattr(scalar, "dtype", None), "kind", "") in ("m", "M") and scalar.ndim == 0:
        unit = scalar.dtype.name.partition("[")[2].rstrip("]")
        if scalar == scalar and unit in _PER_SECOND:
            return _Counted(int(scalar.astype("int64")), unit, scalar.dtype.kind == "M")
    if isinstance(finest := getattr(scalar, "nanosecond", 0), int) and finest:  # a time of pandas, and no NaT
        return scalar
    try:
        return python_of(scalar)
    except ScalarError as error:
        raise MisfitError(str(error)) from None


class _Counted(NamedTuple):
    """A time or a span of NumPy."""

    number: int
    unit: str
    is_time: bool
    """True if it counts from 1970."""

    def count_of(self, per_second: int) -> int:
        """Convert it to a number of a unit; refuses one that is no whole number of them."""
        made, rest = divmod(self.number * per_second, _PER_SECOND[self.unit])
        if rest:
            raise MisfitError("it is finer than the unit")
        return made


def _fit(kind: ColumnType) -> Fit:
    if kind.name.startswith(("int", "uint")):
        return _integer(kind.name)
    if kind.name == "timestamp":
        return _timestamp(_PER_SECOND[kind.unit])
    if kind.name in ("duration", "time32", "time64"):
        return _unit_of_time(kind)
    if kind.name == "decimal128":
        return _decimal(kind.precision, kind.scale)
    if kind.children:
        return _nested(kind)
    return _PLAIN[kind.name]


def _integer(name: str) -> Fit:
    bits = int(name.removeprefix("u").removeprefix("int"))
    least, most = (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def fit(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise MisfitError
        if not least <= value <= most:
            raise MisfitError(f"from {least} to {most}")
        return int(value)

    return fit


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MisfitError
    return value


def _float64(value: Any) -> float:
    if isinstance(value, float):
        return float(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise MisfitError
    try:
        made = float(value)
    except OverflowError:
        raise MisfitError("it is too large") from None
    if made != value:
        raise MisfitError("it has more digits than a float")
    return made


def _float32(value: Any) -> float:
    try:
        made: float = _FLOAT32.unpack(_FLOAT32.pack(_float64(value)))[0]
    except OverflowError:
        raise MisfitError("it is too large") from None
    if isinstance(value, int) and made != value:
        raise MisfitError("it has more digits than a float")
    return made


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise MisfitError
    try:
        value.encode()
    except UnicodeEncodeError:
        raise MisfitError("it holds a surrogate, which UTF-8 cannot carry") from None
    return str.__str__(value)


def _binary(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise MisfitError
    return bytes(value)


def _date(value: Any) -> datetime.date:
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise MisfitError
    return datetime.date(value.year, value.month, value.day)


_PLAIN: Final[Mapping[str, Fit]] = {
    "bool": _bool,
    "float32": _float32,
    "float64": _float64,
    "string": _string,
    "binary": _binary,
    "date32": _date,
}


def _timestamp(per_second: int) -> Fit:
    number = _integer("int64")

    def fit(value: Any) -> int:
        if isinstance(value, _Counted) and value.is_time:
            return int(number(value.count_of(per_second)))
        if not isinstance(value, datetime.datetime):
            return int(number(value))
        known = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
        nanos = (known - _EPOCH) // _MICROSECOND * 1000 + getattr(value, "nanosecond", 0)  # of pandas
        made, rest = divmod(nanos * per_second, _PER_SECOND["ns"])
        if rest:
            raise MisfitError("it is finer than the unit")
        return int(number(made))

    return fit


def _unit_of_time(kind: ColumnType) -> Fit:
    expected = datetime.timedelta if kind.name == "duration" else datetime.time
    coarse = datetime.timedelta(microseconds=1_000_000 // _PER_SECOND[kind.unit])
    number = _integer("int64")

    def fit(value: Any) -> Any:
        if isinstance(value, _Counted) and not value.is_time:
            value = _span(value)
        if type(value) is not expected:
            raise MisfitError
        if isinstance(value, datetime.time):
            if value.tzinfo is not None:
                raise MisfitError("a time has no zone")
            value = value.replace(fold=0)  # which tells two hours of a zone apart, and is not carried
            rest = datetime.timedelta(microseconds=value.microsecond) % coarse
        else:
            rest = value % coarse
            number(value // coarse)
            if value // _MICROSECOND < LEAST_SPAN_US and kind.unit == "us":
                raise MisfitError(f"from {LEAST_SPAN_US}")
        if rest:
            raise MisfitError("it is finer than the unit")
        return value

    return fit


def _span(counted: _Counted) -> datetime.timedelta:
    try:
        return datetime.timedelta(microseconds=counted.count_of(_PER_SECOND["us"]))
    except OverflowError:
        raise MisfitError("it is too long") from None


def _decimal(precision: int, scale: int) -> Fit:
    step = Decimal(1).scaleb(-scale)
    context = Context(prec=precision, Emax=999_999, Emin=-999_999)

    def fit(value: Any) -> Decimal:
        if not isinstance(value, int | Decimal) or isinstance(value, bool):
            raise MisfitError
        given = Decimal(value)
        if not given.is_finite():
            raise MisfitError("it is no number of digits")
        try:
            made = given.quantize(step, context=context)
        except InvalidOperation:
            raise MisfitError("it has too many digits") from None
        if made != given:
            raise MisfitError("it has more digits behind the point")
        return made if made else abs(made)  # which has one zero only

    return fit


def _nested(kind: ColumnType) -> Fit:
    fits = [fit_of(child) for _, child in kind.children]
    if kind.name == "struct":
        return _struct([name for name, _ in kind.children], fits)
    if kind.name == "map":
        return _map(*fits)
    (item,) = fits

    def fit(value: Any) -> tuple[Any, ...]:
        return tuple(map(item, _items(value)))

    return fit


def _items(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return value
    if not hasattr(value, "tolist") or getattr(value, "ndim", 1) == 0:
        raise MisfitError
    # An array of the array module, or of NumPy, whose own lists hold times without their units.
    of_times = getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M")
    return list(value) if of_times else value.tolist()


def _struct(names: Sequence[str], fits: Sequence[Fit]) -> Fit:
    def fit(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Mapping):
            unknown = [name for name in value if name not in names]
            if unknown:
                raise MisfitError(f"it has no {unknown[0]!r}")
            value = [value.get(name) for name in names]
        if not isinstance(value, list | tuple) or len(value) != len(fits):
            raise MisfitError
        return tuple([one(given) for one, given in zip(fits, value, strict=True)])

    return fit


def _map(key: Fit, item: Fit) -> Fit:
    def fit(value: Any) -> tuple[tuple[Any, Any], ...]:
        pairs = list(value.items()) if isinstance(value, Mapping) else _items(value)
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            raise MisfitError
        return tuple([(_key(key, one), item(other)) for one, other in pairs])

    return fit


def _key(fit: Fit, value: Any) -> Any:
    if value is None:
        raise MisfitError("a map has no key None")
    return fit(value)


_CODES: Final = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64")
_NULLABLE: Final = 0x80


def code_of(kind: ColumnType) -> int:
    """Encode what C accepts for a type without asking `Fitting`: from 1 on only the type's own form, 0 none.

    The highest bit stands for None. ``string`` is 11, ``binary`` 12.
    """
    codes = {**{name: number for number, name in enumerate(_CODES, 1)}, "string": 11, "binary": 12}
    code = codes.get(kind.name, codes["int64"] if kind.name == "timestamp" else 0)
    return code | (_NULLABLE if kind.nullable else 0)
