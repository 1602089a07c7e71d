"""The types of an output's columns: as the user declares, or as a sample of its rows shows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from framework.model.topology import did_you_mean, one_of, unknown
from spark_ingest.backfill.shapes import Output
from spark_ingest.backfill.wire import POSITION, Row
from spark_ingest.engine.failing import short
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import TIME

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SAMPLE_ROWS = 1000
_TYPES: Mapping[type, str] = {
    bool: "boolean",
    int: "bigint",
    float: "double",
    str: "string",
    bytes: "binary",
    Decimal: "decimal(38,18)",
    datetime.datetime: "timestamp",
    datetime.date: "date",
}
"""Spark's types for values of exactly these Python types, where the user has declared none."""


def declared_schema(output: Output, fields: Sequence[str], declared: str) -> StructType:
    """The schema that the user gives an output, in the order of its stream's fields.

    Args:
        output: for messages.
        fields: of the stream.
        declared: as in SQL: ``carrier string, hour bigint``.

    Raises:
        JobError: it cannot be read, or does not name just these fields.
    """
    from pyspark.sql.types import StructType

    try:
        schema = _of_ddl(declared)
    except Exception as error:
        raise JobError(
            f"schemas: {output.name!r} is {declared!r}, which Spark cannot read ({short(error)}); "
            "expected names and types as in SQL: 'carrier string, hour bigint'"
        ) from error
    for name in schema.names:
        if name not in fields:
            raise JobError(f"schemas: {output.name!r}: {unknown('field', name, fields)}")
    missing = [name for name in fields if name not in schema.names]
    if missing:
        raise JobError(
            f"schemas: {output.name!r} has no type for {one_of(missing)}: name every field of the stream"
        )
    return StructType([schema[name] for name in fields])


def check_declared(declared: Mapping[str, str], outputs: Iterable[Output]) -> None:
    """Every declared schema is one of an output.

    Raises:
        JobError: it is of none.
    """
    names = [output.name for output in outputs]
    for name in declared:
        if name not in names:
            raise JobError(
                f"schemas: {name!r} is no output: expected {one_of(names)}{did_you_mean(name, names)}"
            )


def inferred_schema(output: Output, fields: Sequence[str], rows: Sequence[Row]) -> StructType:
    """The schema that a sample of an output's rows shows.

    Raises:
        JobError: there are no rows, or a field does not show one type that Spark has.
    """
    if not rows:
        raise JobError(_declare(output, fields, "no row shows the types of its fields"))
    columns = [
        f"`{name}` {_inferred(output, fields, name, values)}"
        for name, values in zip(fields, zip(*rows, strict=True), strict=True)
    ]
    return _of_ddl(", ".join(columns))


def _of_ddl(text: str) -> StructType:
    from pyspark.sql.types import StructType

    found = StructType.fromDDL(text)
    if not isinstance(found, StructType):
        raise TypeError(f"found the one type {found.simpleString()}")
    return found


def _inferred(output: Output, fields: Sequence[str], name: str, values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values} - {type(None)}
    named = _TYPES.get(next(iter(kinds))) if len(kinds) == 1 else None
    if named is not None:
        return named
    shown = " and ".join(sorted(kind.__name__ for kind in kinds)) or "None alone"
    raise JobError(_declare(output, fields, f"field {name!r} shows {shown} in {SAMPLE_ROWS:,} rows at most"))


def _declare(output: Output, fields: Sequence[str], reason: str) -> str:
    example = ", ".join(f"{field} string" for field in fields)
    return (
        f"output {output.name!r}: {reason}; declare its types: schemas={{{output.name!r}: {example!r}}}, "
        f"or --schema '{output.name}={example}'"
    )


def check_fields(output: Output, fields: Sequence[str]) -> None:
    """The fields of an output can be columns beside those with time and position.

    Raises:
        JobError: they cannot.
    """
    if not fields:
        raise JobError(f"output {output.name!r} declares no fields, and so has no names for columns")
    for name in (TIME, POSITION):
        if name in fields:
            raise JobError(f"output {output.name!r} has a field {name!r}, as the column beside it is called")
