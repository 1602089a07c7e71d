"""The one form of each value: what is taken, what becomes of it, what is refused, in C as in Python."""

from __future__ import annotations

import array
import datetime as dt
import enum
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.columns.drawn import bounds, kinds, values
from viper.columns.fitting import Fitting, MisfitError, code_of
from viper.rows import plain_rows
from viper.schema import ColumnType, Schema, parsed


def fitted(kind: str, value: Any) -> Any:
    """The form of a value in a field of a type."""
    return Fitting(Schema.of([kind], ["f"]), ["f"]).row([value])[0]


def in_c(kind: ColumnType, value: Any) -> list[Any]:
    """Make a row with this value in C: the row, or nothing if C leaves the row to Python."""
    made: list[Any] = []
    plain_rows([[value]], 1, 0, made, bytes([code_of(kind)]))
    return made


BERLIN = dt.timezone(dt.timedelta(hours=2))


class Colour(enum.IntEnum):
    RED = 3


class Name(str):
    def __str__(self) -> str:
        return "something else"


TAKEN: list[tuple[str, Any, Any]] = [
    *((name, end, end) for name in ("int8", "int16", "int32", "int64", "uint64") for end in bounds(name)),
    ("int64", Colour.RED, 3),
    ("int64", np.int8(-3), -3),
    ("uint64", np.uint64(2**64 - 1), 2**64 - 1),
    ("bool", np.bool_(True), True),
    ("float64", 2**53, 9007199254740992.0),
    ("float64", -0.0, -0.0),
    ("float64", float("nan"), float("nan")),
    ("float64", np.float32(0.5), 0.5),
    ("float64", np.float64(0.1), 0.1),
    ("float64", np.longdouble(0.5), 0.5),
    ("int64", np.array(5), 5),
    ("float32", 0.1, 0.10000000149011612),
    ("float32", 2**24, 16777216.0),
    ("float32", float("inf"), float("inf")),
    ("string", Name("me"), "me"),
    ("string", np.str_("a"), "a"),
    ("binary", bytearray(b"ab"), b"ab"),
    ("binary", memoryview(b"abcd")[::2], b"ac"),
    ("binary", np.bytes_(b"a"), b"a"),
    ("timestamp[s]", -(2**63), -(2**63)),
    ("timestamp[us]", dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), -1),
    ("timestamp[ms]", dt.datetime(1970, 1, 1, 2, tzinfo=BERLIN), 0),
    ("timestamp[ns, UTC]", dt.datetime(2020, 1, 1), 1_577_836_800_000_000_000),
    ("timestamp[s]", np.datetime64("2020-01-01", "ns"), 1_577_836_800),
    ("timestamp[ns]", np.datetime64("1969-12-31T23:59:59.999999999", "ns"), -1),
    ("timestamp[us]", np.datetime64("2020-01-01", "s"), 1_577_836_800_000_000),
    ("date32", dt.date(1, 1, 1), dt.date(1, 1, 1)),
    ("date32", np.datetime64("2020-02-29", "D"), dt.date(2020, 2, 29)),
    ("time64[us]", dt.time(1, 2, fold=1), dt.time(1, 2)),
    ("time32[s]", dt.time(23, 59, 59), dt.time(23, 59, 59)),
    ("duration[ms]", dt.timedelta(milliseconds=-1), dt.timedelta(milliseconds=-1)),
    ("duration[s]", dt.timedelta(days=-999_999_999), dt.timedelta(days=-999_999_999)),
    ("duration[us]", np.timedelta64(5000, "ns"), dt.timedelta(microseconds=5)),
    ("decimal128(5, 2)", 7, Decimal("7.00")),
    ("decimal128(5, 2)", Decimal("-0"), Decimal("0.00")),
    ("decimal128(5, 2)", Decimal("1.5"), Decimal("1.50")),
    ("decimal128(5, 2)", Decimal("1.500"), Decimal("1.50")),
    ("decimal128(3, 0)", Decimal("9.99E2"), Decimal("999")),
    ("decimal128(38, 38)", Decimal("1E-38"), Decimal("1E-38")),
    ("list<int64>", [1, None], (1, None)),
    ("list<int64>", (), ()),
    ("list<int64>", np.array([1, 2], "i2"), (1, 2)),
    ("list<float64>", array.array("f", [0.5]), (0.5,)),
    ("list<timestamp[s]>", np.array(["2020-01-01"], "M8[ns]"), (1_577_836_800,)),
    ("list<list<int8>>", np.array([[1], [2]]), ((1,), (2,))),
    ("struct<a: int64, b: string>", {"b": "x"}, (None, "x")),
    ("struct<a: int64, b: string>", MappingProxyType({"a": 1, "b": "x"}), (1, "x")),
    ("struct<a: int64, b: string>", [1, "x"], (1, "x")),
    ("map<string, int64>", {"b": 1, "a": None}, (("b", 1), ("a", None))),
    ("map<string, int64>", [["a", 1], ("a", 2)], (("a", 1), ("a", 2))),
]


@pytest.mark.parametrize(("kind", "given_value", "expected"), TAKEN)
def test_what_is_taken(kind: str, given_value: Any, expected: Any) -> None:
    found = fitted(kind, given_value)
    assert repr(found) == repr(expected)
    assert type(found) is type(expected)


REFUSED: list[tuple[str, Any, str]] = [
    ("int64", 1.5, r"field 'f' is 1\.5, a float: expected int64$"),
    ("int64", 1.0, "a float: expected int64"),
    ("int64", True, "True, a bool: expected int64"),
    ("int64", np.bool_(True), "expected int64"),
    ("int64", np.float64(1), "expected int64"),
    ("int64", "1", "'1', a str: expected int64"),
    ("int64", 2**63, rf"expected int64 \(from {-(2**63)} to {2**63 - 1}\)"),
    *((name, bounds(name)[0] - 1, f"expected {name}") for name in ("int8", "uint8", "uint64")),
    *((name, bounds(name)[1] + 1, f"expected {name}") for name in ("int8", "uint8", "uint64")),
    ("int64 not null", None, r"None, a NoneType: expected int64 not null \(it takes no None\)"),
    ("int64", np.datetime64("2020-01-01", "ns"), "a datetime64: expected int64"),
    ("bool", 1, "expected bool"),
    ("float64", 2**53 + 1, r"expected float64 \(it has more digits than a float\)"),
    ("float64", 10**400, "too large"),
    ("float64", True, "expected float64"),
    ("float64", Decimal(1), "expected float64"),
    ("float32", 2**24 + 1, r"expected float32 \(it has more digits than a float\)"),
    ("float32", 1e39, "too large"),
    ("string", b"a", "expected string"),
    ("string", "\ud800", "surrogate"),
    ("binary", "a", "expected binary"),
    ("timestamp[s]", 1.5, "expected timestamp"),
    ("timestamp[s]", dt.datetime(2020, 1, 1, microsecond=1), "finer than the unit"),
    ("timestamp[s]", np.datetime64(1, "ns"), "finer than the unit"),
    ("timestamp[ns]", dt.datetime.max, "from -9223372036854775808"),
    ("timestamp[us]", dt.date(2020, 1, 1), "a date: expected"),
    ("timestamp[us] not null", np.datetime64("NaT", "us"), "it takes no None"),
    ("timestamp[us]", np.timedelta64(1, "us"), "expected timestamp"),
    ("date32", dt.datetime(2020, 1, 1), "a datetime: expected date32"),
    ("time32[ms]", dt.time(microsecond=1), "finer than the unit"),
    ("time64[us]", dt.time(tzinfo=dt.UTC), "a time has no zone"),
    ("duration[s]", dt.timedelta(milliseconds=1), "finer than the unit"),
    ("duration[us]", dt.timedelta.max, "from -9223372036854775808"),
    ("duration[us]", 5, "expected duration"),
    ("duration[us]", np.datetime64(5, "us"), "expected duration"),
    ("decimal128(5, 2)", Decimal("1.234"), "more digits behind the point"),
    ("decimal128(5, 2)", Decimal(1000), "too many digits"),
    ("decimal128(5, 2)", Decimal("NaN"), "expected decimal128"),
    ("decimal128(5, 2)", Decimal("sNaN"), "expected decimal128"),
    ("decimal128(5, 2)", Decimal("-Infinity"), "expected decimal128"),
    ("decimal128(5, 2)", 1.5, "expected decimal128"),
    ("list<int64>", "ab", "expected list<int64>"),
    ("list<int64>", {1}, "expected list<int64>"),
    ("list<int64>", np.array(5), "expected list<int64>"),
    ("list<int64>", [1.5], "expected list<int64>"),
    ("list<int64 not null>", [None], "it takes no None"),
    ("struct<a: int64>", {"b": 1}, "it has no 'b'"),
    ("struct<a: int64>", (1, 2), "expected struct"),
    ("struct<a: int64 not null>", {}, "it takes no None"),
    ("map<string, int64>", {None: 1}, "a map has no key None"),
    ("map<string, int64>", [("a",)], "expected map"),
    ("map<string, int64>", "ab", "expected map"),
]


@pytest.mark.parametrize(("kind", "value", "message"), REFUSED)
def test_what_is_refused(kind: str, value: Any, message: str) -> None:
    with pytest.raises(MisfitError, match=message):
        fitted(kind, value)
    assert in_c(parsed(kind, "f"), value) == []


@given(st.data())
def test_the_form_that_is_carried_stays_as_it_is(data: st.DataObject) -> None:
    kind = data.draw(kinds())
    value = data.draw(values(kind))
    found = fitted(str(kind), value)
    assert repr(found) == repr(value)


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        [
            end + step
            for name in ("int8", "uint32", "int64", "uint64")
            for end in bounds(name)
            for step in (-1, 0, 1)
        ]
    ),
    st.floats(),
    st.text(st.characters(codec=None), max_size=3),
    st.sampled_from(
        [
            "\ud800",
            "a\udfff\U0001f600",
            Name("x"),
            Colour.RED,
            np.int8(1),
            np.float64(1),
            b"x",
            bytearray(b"x"),
        ]
    ),
    st.binary(max_size=3),
    st.dates(),
    st.datetimes(),
    st.decimals(),
)


@given(st.data())
def test_c_takes_nothing_that_python_would_take_in_another_way(data: st.DataObject) -> None:
    kind, value = data.draw(kinds(depth=0)), data.draw(ANYTHING)
    made = in_c(kind, value)
    if made:
        assert repr(made[0][0]) == repr(fitted(str(kind), value)) == repr(value)
        assert type(made[0][0]) is type(fitted(str(kind), value))


BY_ITSELF = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float64",
    "string",
    "binary",
    "timestamp[ns]",
)


@pytest.mark.parametrize("name", BY_ITSELF)
def test_c_takes_the_common_types_without_asking(name: str) -> None:
    """At the ends of their ranges, too."""

    @settings(max_examples=30)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        kind = parsed(name, "f")
        value = data.draw(values(kind))
        assert in_c(kind, value) == [(value,)] or value != value

    check()


class TestTimestampsOfPandas:
    """They are datetimes, with nanoseconds besides, which datetimes do not have."""

    def test_nanoseconds_are_kept_or_refused(self) -> None:
        pandas = pytest.importorskip("pandas")
        time = pandas.Timestamp("1969-12-31T23:59:59.999999999", tz="UTC")
        assert fitted("timestamp[ns]", time) == -1
        assert fitted("timestamp[us]", time.floor("us")) == -1
        with pytest.raises(MisfitError, match="finer than the unit"):
            fitted("timestamp[us]", time)

    def test_what_is_missing_is_none(self) -> None:
        pandas = pytest.importorskip("pandas")
        assert fitted("timestamp[ns]", pandas.NaT) is None
        assert fitted("timestamp[ns]", np.datetime64("NaT", "ns")) is None
        assert fitted("int64", pandas.NA) is None
        with pytest.raises(MisfitError, match="it takes no None"):
            fitted("int64 not null", pandas.NA)

    def test_spans(self) -> None:
        pandas = pytest.importorskip("pandas")
        assert fitted("duration[us]", pandas.Timedelta("1s")) == dt.timedelta(seconds=1)
        with pytest.raises(MisfitError, match="has nanoseconds"):
            fitted("duration[us]", pandas.Timedelta("1ns"))
