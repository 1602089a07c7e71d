"""Random types, and values of theirs in the form that a typed stream carries."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from viper.columns.fitting import LEAST_SPAN_US
from viper.schema import ColumnType, Schema

_INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_PLAIN = ("bool", *_INTEGERS, "float32", "float64", "string", "binary", "date32")
_UNITS = {
    "timestamp": ("s", "ms", "us", "ns"),
    "duration": ("s", "ms", "us"),
    "time32": ("s", "ms"),
    "time64": ("us",),
}
_ENDS = datetime.timedelta.min, datetime.timedelta.max
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def bounds(name: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits = int(name.lstrip("uint"))
    return (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2, nullable: bool | None = None) -> ColumnType:
    """A type, which nests others so deep at most."""
    may_be_null = draw(st.booleans()) if nullable is None else nullable
    nested = ("list", "struct", "map") if depth else ()
    name = draw(st.sampled_from((*_PLAIN, *_UNITS, "decimal128", *nested, *nested)))
    if name in _UNITS:
        zone = draw(st.sampled_from((None, "UTC", "Europe/Berlin"))) if name == "timestamp" else None
        return ColumnType(name, may_be_null, unit=draw(st.sampled_from(_UNITS[name])), zone=zone)
    if name == "decimal128":
        precision = draw(st.integers(1, 38))
        return ColumnType(name, may_be_null, precision=precision, scale=draw(st.integers(0, precision)))
    if name not in nested:
        return ColumnType(name, may_be_null)
    if name == "list":
        return ColumnType(name, may_be_null, children=(("item", draw(kinds(depth - 1))),))
    if name == "map":
        key = draw(kinds(0, nullable=False))
        return ColumnType(name, may_be_null, children=(("key", key), ("value", draw(kinds(depth - 1)))))
    count = draw(st.integers(1, 3))
    return ColumnType(
        name, may_be_null, children=tuple((f"f{n}", draw(kinds(depth - 1))) for n in range(count))
    )


def values(kind: ColumnType) -> st.SearchStrategy[Any]:
    """A value of a type."""
    found = _values(kind)
    return st.one_of(st.none(), found) if kind.nullable else found


def _values(kind: ColumnType) -> st.SearchStrategy[Any]:
    if kind.name in _INTEGERS:
        return st.integers(*bounds(kind.name)) | st.sampled_from(bounds(kind.name))
    if kind.name == "timestamp":
        return st.integers(*bounds("int64")) | st.sampled_from((*bounds("int64"), -1))
    if kind.unit:
        return _times(kind)
    if kind.name == "decimal128":
        most = 10**kind.precision - 1
        digits = st.integers(-most, most) | st.sampled_from((0, most, -most))
        return digits.map(lambda number: Decimal((number < 0, _digits(number), -kind.scale)))
    if kind.name == "list":
        return st.lists(values(kind.children[0][1]), max_size=3).map(tuple)
    if kind.name == "struct":
        return st.tuples(*(values(child) for _, child in kind.children))
    if kind.name == "map":
        pair = st.tuples(*(values(child) for _, child in kind.children))
        return st.lists(pair, max_size=3).map(tuple)
    return _OTHERS[kind.name]


def _digits(number: int) -> tuple[int, ...]:
    return tuple(map(int, str(abs(number))))


def _times(kind: ColumnType) -> st.SearchStrategy[Any]:
    step = 1_000_000 // PER_SECOND[kind.unit]
    if kind.name == "duration":
        least, most = (end // datetime.timedelta(microseconds=step) for end in _ENDS)
        if kind.unit == "us":
            least, most = LEAST_SPAN_US, 2**63 - 1
        ticks = st.integers(least, most) | st.sampled_from((least, most))
        return ticks.map(lambda n: datetime.timedelta(microseconds=n * step))
    midnight = datetime.datetime(2000, 1, 1)
    ticks = st.integers(0, 86_400 * PER_SECOND[kind.unit] - 1)
    return ticks.map(lambda n: (midnight + datetime.timedelta(microseconds=n * step)).time())


_OTHERS = {
    "bool": st.booleans(),
    "float32": st.floats(width=32),
    "float64": st.floats() | st.sampled_from((-0.0, float("nan"))),
    "string": st.text(max_size=9),
    "binary": st.binary(max_size=9),
    "date32": st.dates(),
}


@st.composite
def tables(draw: st.DrawFn, most: int = 6) -> tuple[Schema, list[str], list[tuple[Any, ...]]]:
    """A schema, the names of its fields, and some rows."""
    types = tuple(draw(st.lists(kinds(), min_size=1, max_size=3)))
    rows = draw(st.lists(st.tuples(*map(values, types)), max_size=most))
    return Schema(types), [f"c{n}" for n in range(len(types))], rows
