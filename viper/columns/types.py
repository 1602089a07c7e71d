"""Schemas in pyarrow's terms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa

from viper.columns.fitting import Fit, fit_of
from viper.schema import ColumnType, Schema, parsed


@lru_cache(maxsize=1024)
def arrow_schema(schema: Schema, fields: Sequence[str]) -> pa.Schema:
    """The schema of a stream's record batches.

    Raises:
        ValueError: pyarrow knows no such type.
    """
    return pa.schema([_field(name, kind) for name, kind in zip(fields, schema.types, strict=True)])


def _field(name: str, kind: ColumnType) -> pa.Field:
    return pa.field(name, _arrow_type(kind), nullable=kind.nullable)


def _arrow_type(kind: ColumnType) -> pa.DataType:
    if kind.name == "timestamp":
        return pa.timestamp(kind.unit, tz=kind.zone)
    if kind.unit:
        return getattr(pa, kind.name)(kind.unit)
    if kind.name == "decimal128":
        return pa.decimal128(kind.precision, kind.scale)
    if kind.name == "struct":
        return pa.struct([_field(name, child) for name, child in kind.children])
    if kind.name == "list":
        return pa.list_(_field(*kind.children[0]))
    if kind.name == "map":
        (_, key), (_, value) = kind.children
        return pa.map_(_arrow_type(key), _field("value", value))
    made: pa.DataType = getattr(pa, "bool_" if kind.name == "bool" else kind.name)()
    return made


def declared_types(schema: pa.Schema) -> dict[str, str]:
    """The types of columns by name, as a stream declares them.

    Raises:
        ValueError: a column of a type that no stream can declare.
    """
    return {field.name: _text_of(field) for field in schema}


def _text_of(field: pa.Field) -> str:
    try:
        text = _type_text(field.type)
        parsed(text, field.name)
    except ValueError:
        raise ValueError(f"column {field.name!r} is {field.type}, which no stream can declare") from None
    return text if field.nullable else f"{text} not null"


def _type_text(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _type_text(kind.value_type)
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'{field.name}: {_text_of(field)}' for field in kind)}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{_text_of(kind.value_field)}>"
    if pa.types.is_map(kind):
        return f"map<{_type_text(kind.key_type)}, {_text_of(kind.item_field)}>"
    return str(kind).removeprefix("large_")


@lru_cache(maxsize=1024)
def fit_of_arrow(kind: pa.DataType) -> Fit:
    """Choose the function that fits values to a type of Arrow's, as `fit_of` to a declared one; and None.

    Raises:
        ValueError: no stream can declare the type.
    """
    (text,) = declared_types(pa.schema([pa.field("value", kind)])).values()
    return fit_of(parsed(text, "value"))
