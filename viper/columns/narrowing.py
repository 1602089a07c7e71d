"""The types of Arrow's that hold all values of others, so that a column may be emitted as either."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

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
