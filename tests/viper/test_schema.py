"""Schemas: the names of types, and how they are declared."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from tests.viper.columns.drawn import kinds
from viper.columns.types import arrow_schema
from viper.schema import ColumnType, Schema, parsed


@given(kinds(depth=3))
def test_a_type_is_read_as_it_was_printed(kind: ColumnType) -> None:
    assert parsed(str(kind), "field 'f'") == kind


@given(kinds(depth=3))
def test_what_arrow_prints_is_read(kind: ColumnType) -> None:
    """But for what may be null in a map, which Arrow does not print."""
    made = arrow_schema(Schema((kind,)), ("f",)).field(0)
    if "map" not in str(kind):
        text = str(made.type) + ("" if kind.nullable else " not null")
        assert parsed(text, "field 'f'") == kind


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("  int64 ", "int64"),
        ("double", "float64"),
        ("utf8 not   null", "string not null"),
        ("date32[day]", "date32"),
        ("decimal(3)", "decimal128(3, 0)"),
        ("timestamp[us,tz=UTC]", "timestamp[us, UTC]"),
        ("timestamp[ns, +02:00]", "timestamp[ns, +02:00]"),
        ("timestamp[s, America/Argentina/Buenos_Aires]", "timestamp[s, America/Argentina/Buenos_Aires]"),
        ("list<item: int8>", "list<int8>"),
        ("list< list<int8 not null> >", "list<list<int8 not null>>"),
        ("struct<not: int64, null: string>", "struct<not: int64, null: string>"),
        ("map<string,struct<a:int64>>not null", "map<string, struct<a: int64>> not null"),
    ],
)
def test_other_ways_to_write_a_type(text: str, printed: str) -> None:
    assert str(parsed(text, "field 'f'")) == printed


@pytest.mark.parametrize(
    "text",
    [
        *("", "Int64", "int", "int128", "halffloat", "large_string", "int64;", "int64]", "int64 null"),
        *("int64 not null not null", "timestamp", "timestamp[]", "timestamp[us,]", "timestamp[days]"),
        *("time64[ns]", "time32[us]", "duration[ns]", "duration[us, UTC]", "time32[s"),
        *("decimal128", "decimal128(0, 0)", "decimal128(39, 0)", "decimal128(5, 6)", "decimal128(5, -1)"),
        *("list", "list<>", "list<int64", "struct<>", "struct<a>", "struct<a: int64,>", "map<string>"),
        *("struct<a: int64, a: int64>", "map<string, int64, int64>", "int64[us]"),
    ],
)
def test_what_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"field 'f': '.*' is no type: expected one of bool, int8"):
        parsed(text, "field 'f'")


class TestDeclared:
    def test_by_name_in_any_order(self) -> None:
        schema = Schema.of({"b": "int8", "a": "string not null"}, ["a", "b"])
        assert str(schema) == "string not null, int8"
        assert schema.named(["a", "b"]) == {"a": "string not null", "b": "int8"}
        assert Schema.of(schema, ["a", "b"]) == schema == Schema.of(["string not null", "int8"], ["a", "b"])

    @pytest.mark.parametrize(
        ("declared", "error", "message"),
        [
            ({"a": "int8"}, ValueError, "schema names no type for field 'b'"),
            ({"a": "int8", "b": "int8", "c": "int8"}, ValueError, r"names 'c', .* fields are \['a', 'b'\]"),
            (["int8"], ValueError, r"schema with 1 types for 2 fields: \['a', 'b'\]"),
            ({"a": "int8", "b": 5}, TypeError, "field 'b': a type is a text such as 'int64', found 5"),
            ({"a": "int8", "b": pa.int8()}, TypeError, "field 'b'"),
            ("int8", TypeError, "must map fields to types, found 'int8'"),
            (5, TypeError, "must map fields to types, found 5"),
        ],
    )
    def test_wrongly(self, declared: object, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            Schema.of(declared, ["a", "b"])

    def test_two_fields_of_one_name(self) -> None:
        with pytest.raises(ValueError, match="two fields 'a': expected a name for each"):
            Schema.of(["int8", "int8"], ["a", "a"])
