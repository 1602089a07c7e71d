"""The types of Spark's that can be carried, and their forms; and columns by their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.model.topology import unknown
from spark_ingest.errors import JobError
from spark_ingest.job.files import without_names
from spark_ingest.job.stream_spec import RESERVED, TIME, StreamSpec, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

CARRIED = {
    "boolean": "bool",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "int",
    "float": "float",
    "double": "float",
    "decimal": "decimal.Decimal",
    "string": "str",
    "binary": "bytes",
    "date": "datetime.date",
    "timestamp": "int, in the unit of the spout",
    "timestamp_ntz": "int, in the unit of the spout, read as UTC",
    "array": "tuple",
    "map": "tuple of (key, value)",
    "struct": "tuple",
}
"""The first word of a type as Spark writes it, and the Python type that a value of it arrives as."""

_FORM = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}


def type_word(spark_type: DataType) -> str:
    """A type as Spark's SQL writes it: ``bigint``, ``decimal(10,2)``, ``array<string>``."""
    return spark_type.simpleString()


def check_columns(df: DataFrame, spec: StreamSpec) -> None:
    """Refuse what names no column, or several.

    Raises:
        JobError: names all of them together, each with the nearest name.
    """
    check_names(df.columns, spec)


def check_names(columns: Sequence[str], spec: StreamSpec) -> None:
    """The same for the names of columns that a DataFrame would have; errors as of `check_columns`."""
    if not columns:
        raise JobError("the source has no columns: expected one with the event time, at least")
    asked = {"timestamp": (spec.timestamp,), "key": spec.key, "order": spec.order}
    asked["columns"] = spec.columns or ()
    problems = [
        unknown(f"column in {what}", name, columns)
        for what, names in asked.items()
        for name in names
        if name not in columns
    ]
    problems += [
        f"{columns.count(name)} columns are called {name!r}: rename all but one"
        for name in sorted({name for name in columns if columns.count(name) > 1})
    ]
    problems += [
        f"a column is called {name!r}, a name that is needed for the streams: rename that column"
        for name in columns
        if name.casefold() in RESERVED
    ]
    if problems:
        raise JobError("; ".join(problems) + without_names(columns))


def chosen_columns(df: DataFrame, spec: StreamSpec) -> tuple[str, ...]:
    """The names of the columns to carry, in order.

    Raises:
        JobError: names every column of a type that cannot be carried, and says what to do.
    """
    chosen = spec.columns or tuple(name for name in df.columns if name != TIME)
    kinds = {name: df.schema[name].dataType for name in chosen}
    bad = [f"{name!r} is {type_word(kind)}" for name, kind in kinds.items() if any(_uncarried(kind))]
    if bad:
        raise JobError(
            f"columns of types that cannot be carried: {', '.join(bad)}; cast them to one of "
            f"{', '.join(CARRIED)}, or leave them out by columns="
        )
    return chosen


def column_types(df: DataFrame, columns: Iterable[str]) -> dict[str, str]:
    """The type of each column, as `type_word` writes it."""
    return {name: type_word(df.schema[name].dataType) for name in columns}


def comparable(df: DataFrame, columns: Iterable[str]) -> list[Column]:
    """For each column one to sort by, in which only equal values tie."""
    return [_exactly(name, df.schema[name].dataType) for name in columns]


def hashable(df: DataFrame, columns: Iterable[str]) -> list[Column]:
    """For each column one that Spark hashes: maps have no hash of their own."""
    kinds = {name: df.schema[name].dataType for name in columns}
    return [_as_text(name, kind) if any(_has_map(kind)) else named(name) for name, kind in kinds.items()]


def _exactly(name: str, kind: DataType) -> Column:
    from pyspark.sql import types as T

    column = named(name)
    if isinstance(kind, T.StringType):  # A collation may hold different texts for equal.
        return column.cast("binary")
    if isinstance(kind, (T.FloatType, T.DoubleType)):  # -0.0 equals 0.0.
        return column.cast("string")
    return _as_text(name, kind) if isinstance(kind, (T.ArrayType, T.MapType, T.StructType)) else column


def _as_text(name: str, kind: DataType) -> Column:
    from pyspark.sql import functions as F

    return F.to_json(F.struct(_with_entries(named(name), kind).alias(name)), _FORM)


def _with_entries(column: Column, kind: DataType) -> Column:
    """Arrays of entries in place of maps whose keys JSON does not show: of bytes it has an address."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if not any(_has_map(kind, by_value=True)):
        return column
    match kind:
        case T.MapType():
            key, value = kind.keyType, kind.valueType
            return F.transform(
                F.map_entries(column),
                lambda entry: F.struct(
                    _with_entries(entry["key"], key).alias("key"),
                    _with_entries(entry["value"], value).alias("value"),
                ),
            )
        case T.ArrayType():
            element = kind.elementType
            return F.transform(column, lambda within: _with_entries(within, element))
        case T.StructType():
            parts = [_with_entries(column[f.name], f.dataType).alias(f.name) for f in kind.fields]
            return F.when(column.isNotNull(), F.struct(*parts))
    return column


def _parts(kind: DataType) -> Iterator[DataType]:
    """The type and all types within it."""
    from pyspark.sql import types as T

    yield kind
    match kind:
        case T.ArrayType():
            yield from _parts(kind.elementType)
        case T.MapType():
            yield from _parts(kind.keyType)
            yield from _parts(kind.valueType)
        case T.StructType():
            for within in kind.fields:
                yield from _parts(within.dataType)


def _uncarried(kind: DataType) -> Iterator[bool]:
    from pyspark.sql.types import UserDefinedType

    for part in _parts(kind):
        word = type_word(part).partition("(")[0].partition("<")[0].partition(" ")[0]
        if isinstance(part, UserDefinedType) or word not in CARRIED:
            yield True


def _has_map(kind: DataType, by_value: bool = False) -> Iterator[bool]:
    """Yield True for each map in a type; by value, for those with keys of bytes, arrays or structs."""
    from pyspark.sql import types as T

    keys = (part.keyType for part in _parts(kind) if isinstance(part, T.MapType))
    of_parts = (T.BinaryType, T.ArrayType, T.StructType)
    return (True for key in keys if not by_value or isinstance(key, of_parts))
