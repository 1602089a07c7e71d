"""The columns that a component may emit, what becomes of them, and those that are refused."""

from __future__ import annotations

import datetime as dt
import math
from array import array
from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from viper.columns.batches import Batches
from viper.columns.fitting import MisfitError
from viper.columns.payload import Columns
from viper.rows import is_valid
from viper.schema import Schema


def accepted(kind: str, column: Any, **options: Any) -> list[Any]:
    """The values of a column that is emitted on a stream with one field."""
    batch = Batches(Schema.of([kind], ["f"]), ["f"]).accepted({"f": column}, **options)
    batch.validate(full=True)
    return [value for (value,) in Columns(batch).rows]


def raw(numbers: list[int], kind: pa.DataType) -> pa.Array:
    """An array of a type, of which Arrow does not look at the numbers."""
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(numbers, width).view(kind)


def texts(*spelled: bytes) -> pa.Array:
    """An array of texts, of which Arrow does not look at the bytes."""
    return pa.array(spelled, pa.binary()).view(pa.string())


NOT_NULL = pa.field("item", pa.int64(), nullable=False)
HALVES = pa.chunked_array([pa.array(["a"]).dictionary_encode(), pa.array(["b", None]).dictionary_encode()])

TAKEN: list[tuple[str, Any, Any]] = [
    ("int64", np.array([1, 2]), [1, 2]),
    ("int64", np.arange(9, dtype="i1")[1::3], [1, 4, 7]),
    ("int64", np.array([1, None], object), [1, None]),
    ("int64", array("q", [5]), [5]),
    ("int64", range(2), [0, 1]),
    ("int64", (value for value in [1, None]), [1, None]),
    ("int64", [np.int8(1), 2**63 - 1, None], [1, 2**63 - 1, None]),
    ("int64", pa.array([1, None], pa.int32()), [1, None]),
    ("int64", pa.array([2**32 - 1], pa.uint32()), [2**32 - 1]),
    ("int64", pa.nulls(2), [None, None]),
    ("int64", pa.array([0, 7, 8, 9])[1:3], [7, 8]),
    ("int64", pa.chunked_array([], pa.int64()), []),
    ("uint64", pa.array([255], pa.uint8()), [255]),
    ("float64", [1, 0.5, None], [1.0, 0.5, None]),
    ("float64", np.array([1, 2], "i4"), [1.0, 2.0]),
    ("float64", np.array([np.nan, -0.0]), [float("nan"), -0.0]),
    ("float32", np.array([1.5], "f2"), [1.5]),
    ("float32", [0.1], [0.10000000149011612]),
    ("bool", np.array([True, False]), [True, False]),
    ("string", np.array(["a", "bc"]), ["a", "bc"]),
    ("string", pa.array(["a", None], pa.large_string()), ["a", None]),
    ("string", pa.array(["a", "x" * 20], pa.string_view()), ["a", "x" * 20]),
    ("string", HALVES, ["a", "b", None]),
    ("string", pa.DictionaryArray.from_arrays([0, 1, None], ["a", None]), ["a", None, None]),
    ("binary", [bytearray(b"a"), b"b"], [b"a", b"b"]),
    ("binary", pa.array([b"ab"], pa.binary(2)), [b"ab"]),
    ("timestamp[us]", np.array(["1969-12-31T23:59:59.999999"], "M8[us]"), [-1]),
    ("timestamp[ms]", [dt.datetime(1970, 1, 2), 5], [86_400_000, 5]),
    ("timestamp[us, UTC]", raw([-(2**63), 2**63 - 1], pa.timestamp("us", "UTC")), [-(2**63), 2**63 - 1]),
    ("date32", np.array(["2020-02-29"], "M8[D]"), [dt.date(2020, 2, 29)]),
    ("time64[us]", pa.array([dt.time(1)], pa.time32("s")), [dt.time(1)]),
    ("decimal128(10, 2)", [1, Decimal("1.5")], [Decimal("1.00"), Decimal("1.50")]),
    ("decimal128(10, 2)", pa.array([Decimal("1.5")], pa.decimal128(3, 1)), [Decimal("1.50")]),
    ("list<int64>", pa.array([[1], None, []], pa.list_(pa.int8())), [(1,), None, ()]),
    ("list<string>", pa.array([["a"]], pa.large_list(pa.large_string())), [("a",)]),
    ("list<int64>", pa.array([[1, 2]], pa.list_(pa.int64(), 2)), [(1, 2)]),
    ("list<int64 not null>", pa.array([[1], [2]], pa.list_(pa.int64()))[1:], [(2,)]),
    ("struct<a: int64, b: string>", [(1, "x"), {"b": "y"}, None], [(1, "x"), (None, "y"), None]),
    ("struct<a: int64 not null>", pa.array([{"a": 1}, None]), [(1,), None]),
    ("map<string, int64>", [{"b": 1}, [("a", 2)]], [(("b", 1),), (("a", 2),)]),
]


@pytest.mark.parametrize(("kind", "column", "expected"), TAKEN)
def test_what_is_taken(kind: str, column: Any, expected: list[Any]) -> None:
    assert repr(accepted(kind, column)) == repr(expected)


REFUSED: list[tuple[str, Any, str]] = [
    ("int64", [1, 1.5], r"field 'f' is 1\.5, a float: expected int64"),
    ("int64", [True], "True, a bool: expected int64"),
    ("int64", np.array([1, 2.5], object), r"2\.5, a float"),
    ("int64", [2**63], "expected int64"),
    ("int8", [128], "expected int8"),
    ("int64", np.array([1.0]), "'f' is double: expected int64, and not every double is one; cast it"),
    ("int64", pa.array([1], pa.uint64()), "not every uint64 is one"),
    ("int64", np.array([True]), "'f' is bool: expected int64"),
    ("int64", np.zeros((2, 2), int), "1-dimensional"),
    ("int64", 5, "expected int64: "),
    ("int64", {"a": 1}, "found dict, which is no column"),
    ("string", "abc", "found str, which is no column"),
    ("string", ["\ud800"], "expected string"),
    ("string", [b"a"], "b'a', a bytes: expected string"),
    ("binary", ["a"], "'a', a str: expected binary"),
    ("bool", [1], "1, a int: expected bool"),
    ("float64", [2**53 + 1], "more digits than a float"),
    ("float64", np.array([1]), "not every int64 is one"),
    ("float32", np.array([0.1]), "not every double is one"),
    ("timestamp[us]", np.array(["2020-01-01"], "M8[ns]"), "not every timestamp"),
    ("timestamp[us]", pa.array([1], pa.timestamp("us", "UTC")), "not every timestamp"),
    ("timestamp[s]", [dt.datetime(2020, 1, 1, microsecond=5)], "finer than the unit"),
    ("timestamp[s]", [1.5], r"1\.5, a float"),
    ("date32", [dt.datetime(2020, 1, 1)], "a datetime: expected date32"),
    ("time64[us]", [5], "5, a int: expected time64"),
    ("decimal128(5, 2)", [Decimal("1.234")], "more digits behind the point"),
    ("decimal128(5, 2)", pa.array([Decimal("1.2")], pa.decimal128(5, 1)), "not every decimal128"),
    ("int64 not null", [1, None], r"column 'f' is null in row 1: expected int64 not null"),
    ("int64 not null", pa.nulls(1), "'f' is null in row 0"),
    ("string not null", pa.DictionaryArray.from_arrays([0, 1], ["a", None]), "'f' is null in row 1"),
    ("list<int64 not null>", pa.array([[1], [None]]), "column 'f' holds null within a value"),
    ("list<int64 not null>", pa.array([[None]], pa.list_(NOT_NULL)), "holds null within a value"),
    ("struct<a: int64>", pa.array([{"b": 1}]), "cast it"),
    (
        "struct<item: int64 not null>",
        pa.StructArray.from_arrays([pa.nulls(1, pa.int64())], fields=[NOT_NULL]),
        "holds null within a value",
    ),
    (
        "map<string, list<int64 not null>>",
        pa.array([[("a", [None])]], pa.map_("string", pa.list_(NOT_NULL))),
        "null",
    ),
    ("date32", raw([2_932_897], pa.date32()), "holds 2932897, which is no date32"),
    ("time32[s]", raw([-1], pa.time32("s")), "holds -1, which is no time32: from 0 to 86399"),
    ("time64[us]", raw([86_400_000_000], pa.time64("us")), "which is no time64"),
    ("duration[s]", raw([2**62], pa.duration("s")), "which is no duration"),
    ("list<date32>", pa.ListArray.from_arrays([0, 1], raw([-719_163], pa.date32())), "no date32"),
    ("string", texts(b"a", b"\xff"), "column 'f' holds bytes that are no text"),
    ("string", texts(b"\xc3", b"\xa4"), "no text"),  # a character that two rows share
    ("list<string>", pa.ListArray.from_arrays([0, 1], texts(b"\xff")), "no text"),
]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "ä", None]),
        texts(b"\xff", b"a", b"b", b"\xff").slice(1, 2),
        pa.array([], pa.string()),
        pa.array([None, None], pa.string()),
    ],
)
def test_texts_that_are_some(column: pa.Array) -> None:
    assert accepted("string", column) == column.to_pylist()


@pytest.mark.parametrize(("kind", "column", "message"), REFUSED)
def test_what_is_refused(kind: str, column: Any, message: str) -> None:
    with pytest.raises(MisfitError, match=message):
        accepted(kind, column)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"a": [1]}, MisfitError, r"columns \['a'\]: expected \['a', 'b'\]"),
        ({"a": [1], "b": [1], "c": [1]}, MisfitError, "columns"),
        ({"a": [1], "b": [1, 2]}, MisfitError, "length|rows"),
        (pa.table({"a": [1], "x": [1]}), MisfitError, "columns"),
        ([[1, 2]], TypeError, "expected a record batch, a table, or columns by name"),
    ],
)
def test_columns_that_are_not_those_of_the_stream(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Batches(Schema.of(["int64", "int64"], ["a", "b"]), ["a", "b"]).accepted(given)


def test_two_columns_of_one_name() -> None:
    twice = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(MisfitError, match="columns"):
        Batches(Schema.of(["int64", "int64"], ["a", "b"]), ["a", "b"]).accepted(twice)


FORMS: dict[str, Callable[[Any], Any]] = {
    "mapping": lambda numbers: MappingProxyType({"f": numbers}),
    "array": lambda numbers: {"f": pa.array(numbers)},
    "batch": lambda numbers: pa.record_batch({"f": pa.array(numbers)}),
    "batch of the very schema": lambda numbers: pa.record_batch(
        {"f": pa.array(numbers)}, schema=pa.schema([pa.field("f", pa.int64(), nullable=False)])
    ),
    "table": lambda numbers: pa.table({"f": pa.array(numbers)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_producer_writes_later_is_not_seen(form: str) -> None:
    numbers = np.arange(3)
    batch = Batches(Schema.of(["int64 not null"], ["f"]), ["f"]).accepted(FORMS[form](numbers))
    numbers[:] = -1
    assert Columns(batch).rows == [(0,), (1,), (2,)]


def test_what_is_given_away_is_not_copied() -> None:
    numbers = np.arange(3)
    batches = Batches(Schema.of(["int64 not null"], ["f"]), ["f"])
    batch = batches.accepted({"f": numbers}, gives_away=True)
    assert batch.column(0).buffers()[1].address == numbers.ctypes.data


@pytest.mark.parametrize("gives_away", [False, True])
def test_a_small_part_of_a_large_batch_does_not_keep_it(gives_away: bool) -> None:
    large = pa.record_batch({"f": np.arange(1_000_000), "g": ["x" * 20] * 1_000_000})
    batches = Batches(Schema.of(["int64", "string"], ["f", "g"]), ["f", "g"])
    for part in (large.slice(500_000, 3), pa.table(large).slice(500_000, 3)):
        batch = batches.accepted(part, gives_away=gives_away)
        assert batch.get_total_buffer_size() < 2_000
        assert Columns(batch).rows == [(500_000 + n, "x" * 20) for n in range(3)]


def test_what_others_have_noted_in_a_schema_does_not_travel() -> None:
    noted = pa.record_batch({"f": [1]}).replace_schema_metadata({"by": "somebody"})
    batches = Batches(Schema.of(["int64"], ["f"]), ["f"])
    assert batches.accepted(noted).schema.equals(batches.schema, check_metadata=True)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, True),
        ({"a": pa.array([1, 2]), "b": pa.array(["x", "y"])}, True),
        ({"a": pa.array([1, 2]), "b": pa.array(["x", None])}, False),
        ({"a": pa.array([None, 1, 2]).slice(1)}, True),
        ({"a": pa.nulls(2)}, False),
    ],
)
def test_whether_a_batch_holds_nulls_is_told_at_once(columns: dict[str, pa.Array], expected: bool) -> None:
    assert is_valid(pa.record_batch(columns)) is expected


def test_nan_of_a_series_is_a_float_as_that_of_an_array_and_of_a_list() -> None:
    """Arrow takes NaN of pandas for null by itself, and that of NumPy not."""
    pandas = pytest.importorskip("pandas")
    batches = Batches(Schema.of({"x": "float64", "at": "timestamp[us]"}, ["x", "at"]), ["x", "at"])
    times = pandas.Series(pandas.to_datetime(["2024-01-01", None])).astype("datetime64[us]")
    for values in ([1.5, math.nan], np.array([1.5, math.nan]), pandas.Series([1.5, math.nan])):
        found = batches.accepted({"x": values, "at": times})
        assert found.column("x").null_count == 0 and math.isnan(found.column("x")[1].as_py())
        assert found.column("at").is_null().to_pylist() == [False, True]
    nullable = pandas.Series([1.5, None], dtype="Float64")
    assert batches.accepted({"x": nullable, "at": times}).column("x").to_pylist() == [1.5, None]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [(["int64", "float32", "int8 not null"], 13), (["int64", "string"], 0), (["bool"], 0), ([], 0)],
)
def test_the_bytes_of_a_row_are_known_where_all_columns_are_of_a_fixed_width(
    kinds: list[str], expected: int
) -> None:
    names = [f"f{index}" for index in range(len(kinds))]
    assert Batches(Schema.of(kinds, names), names).row_bytes == expected


def test_a_slice_takes_as_many_bytes_a_row_as_all() -> None:
    numbers = pa.record_batch({"f": np.arange(1000)})
    assert Columns(numbers, None, 8).slice(10, 20).row_bytes == Columns(numbers, None, 8).row_bytes == 8
    assert Columns(numbers).slice(10, 20).row_bytes == Columns(numbers).row_bytes == 8
