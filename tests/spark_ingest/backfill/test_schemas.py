"""Types of an output's fields: declared, or shown by a sample."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.schemas import check_declared, check_fields, declared_schema, inferred_schema
from spark_ingest.backfill.shapes import Output
from spark_ingest.backfill.typed import typed_stage
from spark_ingest.backfill.wire import POSITION, sent_batch
from spark_ingest.errors import JobError
from viper.position import Position, Positions

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.usefixtures("spark")  # which reads types

OUT = Output("late", "early")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
NOW = datetime.datetime(2013, 1, 1, tzinfo=datetime.UTC)


def test_fields_come_in_the_streams_order() -> None:
    schema = declared_schema(OUT, ["a", "b"], "b bigint, a array<string>")
    assert schema.simpleString() == "struct<a:array<string>,b:bigint>"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("a bigint, c string", "unknown field 'c': expected 'a' or 'b'"),
        ("a bigint", "has no type for 'b'"),
        ("a bigint b", "which Spark cannot read"),
        ("bigint", "schemas: 'late/early'"),
    ],
)
def test_what_is_no_schema_of_the_stream(declared: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        declared_schema(OUT, ["a", "b"], declared)


def test_schemas_are_of_outputs() -> None:
    with pytest.raises(JobError, match="'late' is no output: expected 'late/early'"):
        check_declared({"late": "a int"}, [OUT])


@pytest.mark.parametrize(
    ("fields", "message"),
    [((), "declares no fields"), (("_time_us",), "has a field '_time_us'"), ((POSITION,), "has a field")],
)
def test_fields_that_can_be_no_columns(fields: tuple[str, ...], message: str) -> None:
    with pytest.raises(JobError, match=message):
        check_fields(OUT, fields)


def test_a_sample_shows_types() -> None:
    row = (True, 1, 1.5, "x", b"x", Decimal("1.5"), NOW, NOW.date())
    names = list("abcdefgh")
    schema = inferred_schema(OUT, names, [(None,) * len(row), row])
    found = [field.dataType.simpleString() for field in schema]
    assert found == ["boolean", "bigint", "double", "string", "binary", "decimal(38,18)", "timestamp", "date"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no row shows the types"),
        ([(None,)], "field 'a' shows None alone"),
        ([(1,), (1.0,)], "field 'a' shows float and int"),
        ([([1],)], "field 'a' shows list"),
    ],
)
def test_a_sample_that_does_not(rows: list[Any], message: str) -> None:
    with pytest.raises(
        JobError, match=rf"{message}.*declare its types: schemas=\{{'late/early': 'a string'\}}"
    ):
        inferred_schema(OUT, ["a"], rows)


FINE = pandas.Timestamp("2024-01-01T00:00:00.123456789", tz="UTC")


def typed(declared: str, *values: Any) -> list[dict[str, Any]]:
    positions = Positions()
    for number in range(len(values)):
        positions.append(Position(number - 1, 0, 1))
    batch = sent_batch(positions.to_bytes(), [0] * len(values), [(value,) for value in values], [])
    schema = declared_schema(OUT, ["a"], f"a {declared}")
    return [row for made in typed_stage(OUT, schema, iter([batch])) for row in made.to_pylist()]


def test_values_become_columns() -> None:
    rows = typed("double", 1, 2.5, None)
    assert [(row["_time_us"], row["a"]) for row in rows] == [(-1, 1.0), (0, 2.5), (1, None)]
    assert [row["a"] for row in typed("timestamp", NOW)] == [NOW]
    assert [row["a"] for row in typed("date", NOW.date(), None)] == [NOW.date(), None]
    assert [row["a"] for row in typed("float", 0.5, float("inf"))] == [0.5, float("inf")]
    assert [row["a"] for row in typed("struct<x: bigint, y: string>", {"x": 1, "y": "z"})] == [
        {"x": 1, "y": "z"}
    ]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("array<bigint>", (1, None), [1, None]),
        ("array<date>", [NOW.date()], [NOW.date()]),
        ("map<string, int>", {"a": 1}, [("a", 1)]),
        ("decimal(10,2)", Decimal("1.5"), Decimal("1.50")),
        ("timestamp", 5, EPOCH + datetime.timedelta(microseconds=5)),
        ("timestamp", datetime.datetime(1, 1, 1), datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)),
        ("timestamp_ntz", datetime.datetime(9999, 12, 31), datetime.datetime(9999, 12, 31)),
        ("interval day to second", datetime.timedelta(microseconds=-1), datetime.timedelta(microseconds=-1)),
        ("binary", bytearray(b"x"), b"x"),
        ("void", None, None),
        ("map<string, int>", (("a", None),), [("a", None)]),
        ("struct<x: int, y: array<float>>", (1, [0.5]), {"x": 1, "y": [0.5]}),
        ("array<struct<x: int>>", [{"x": 1}, None], [{"x": 1}, None]),
    ],
)
def test_values_within_values(declared: str, value: Any, expected: Any) -> None:
    assert [row["a"] for row in typed(declared, value, None)] == [expected, None]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        *[("bigint", "x"), ("bigint", 1.5), ("string", 1), ("int", 2**40)],
        *[("date", NOW), ("date", 18262), ("timestamp", 1.5), ("float", 1e39)],
        *[("array<bigint>", [1.5]), ("array<date>", [NOW]), ("array<float>", [None, 1e300])],
        *[("array<array<int>>", [[1], [None, 1.5]]), ("array<int>", 1), ("map<int, int>", {1: 1.5})],
        *[("map<string, int>", (("a", 1.5),)), ("map<int, string>", {1.5: "a"})],
        *[("struct<x: int, y: date>", value) for value in ((1, NOW), {"x": 1}, (1,), 1)],
        *[("struct<x: int>", value) for value in ({"x": 1, "z": 2}, {"z": 2}, {"x": 1.5}, {})],
        ("array<struct<x: map<int, float>>>", [{"x": {1: 1e300}}]),
        *[("bigint", True), ("double", True), ("boolean", 1), ("binary", "x"), ("string", b"x")],
        *[("array<bigint>", [True]), ("map<string, binary>", {"a": "x"}), ("array<double>", [True])],
        *[("float", 2**24 + 1), ("double", 2**53 + 1), ("timestamp", True), ("timestamp", 2**63)],
        *[("decimal(10,2)", Decimal("1.005")), ("decimal(10,2)", Decimal("NaN")), ("decimal(10,2)", True)],
        *[("timestamp", FINE), ("array<timestamp>", [FINE])],
        ("interval day to second", FINE - FINE.floor("s")),
    ],
)
def test_a_value_that_a_column_cannot_hold(declared: str, value: Any) -> None:
    with pytest.raises(ShardError, match=rf"output 'late/early', field 'a': {re.escape(repr(value))} is no "):
        typed(declared, value)
