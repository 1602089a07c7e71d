"""Schemas in pyarrow's terms, and the types of Arrow's that hold all values of others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

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


_NARROWER = {
    "bool": (),
    "int8": (),
    "int16": ("int8", "uint8"),
    "int32": ("int8", "int16", "uint8", "uint16"),
    "int64": ("int8", "int16", "int32", "uint8", "uint16", "uint32"),
    "uint8": (),
    "uint16": ("uint8",),
    "uint32": ("uint8", "uint16"),
    "uint64": ("uint8", "uint16", "uint32"),
    "float": ("halffloat", "int8", "int16", "uint8", "uint16"),
    "double": ("halffloat", "float", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    "string": ("large_string", "string_view"),
    "binary": ("large_binary", "binary_view"),
    "time32[ms]": ("time32[s]",),
    "time64[us]": ("time32[s]", "time32[ms]"),
}
"""By type those types, in pyarrow's words, each of whose values it holds, too."""


def holds(wanted: Any, found: Any) -> bool:
    """True if each value of one data type is also one of another; null or not does not matter.

    Args:
        wanted: the type that a column is to have.
        found: the type that it has.
    """
    if found == wanted or pa.types.is_null(found) or str(found) in _NARROWER.get(str(wanted), ()):
        return True
    if pa.types.is_decimal(wanted):
        return pa.types.is_decimal(found) and _holds_digits(wanted, found)
    if pa.types.is_map(wanted):
        return pa.types.is_map(found) and _all_hold(wanted, found)
    if pa.types.is_list(wanted):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return (is_list or pa.types.is_fixed_size_list(found)) and holds(wanted.value_type, found.value_type)
    if pa.types.is_struct(wanted):
        return pa.types.is_struct(found) and _names(found) == _names(wanted) and _all_hold(wanted, found)
    return pa.types.is_binary(wanted) and bool(pa.types.is_fixed_size_binary(found))


def _holds_digits(wanted: Any, found: Any) -> bool:
    before_point = wanted.precision - wanted.scale >= found.precision - found.scale
    return bool(before_point and wanted.scale >= found.scale)


def _all_hold(wanted: Any, found: Any) -> bool:
    if pa.types.is_map(wanted):
        return holds(wanted.key_type, found.key_type) and holds(wanted.item_type, found.item_type)
    return all(holds(wanted.field(i).type, found.field(i).type) for i in range(wanted.num_fields))


def _names(kind: Any) -> list[str]:
    return [field.name for field in kind]
