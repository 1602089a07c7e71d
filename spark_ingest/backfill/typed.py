"""From pickled values to the columns of an output."""

from __future__ import annotations

import inspect
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.shapes import Output
from spark_ingest.backfill.wire import POSITION, ROW, Row, positions_of, unpickled
from spark_ingest.job.stream_spec import TIME

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_OF_PAIRS = ("key", "value")
"""A map's pairs are structs of these to Arrow."""


def typed_stage(
    output: Output, schema: StructType, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Rows as columns: the time, the position, and the fields by their types.

    Raises:
        ShardError: a value that its column cannot hold.
    """
    import pyarrow as pa

    fields = _arrow_fields(schema)
    for batch in batches:
        rows = list(unpickled(batch[ROW]))
        times = array("q", [position.ts for position in positions_of(batch[POSITION])])
        columns = [_column(output, field, rows, index) for index, field in enumerate(fields)]
        yield pa.RecordBatch.from_arrays(
            [pa.array(times, pa.int64()), batch[POSITION], *columns],
            [TIME, POSITION, *(field.name for field in fields)],
        )


def typed_at_once(
    stage: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    output: Output,
    schema: StructType,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """As `typed_stage`, of what a stage makes that has this output alone."""
    return typed_stage(output, schema, stage(batches))


def _arrow_fields(schema: StructType) -> list[pa.Field]:
    from pyspark.sql.pandas.types import to_arrow_schema

    # Timestamps are in UTC: before pyspark 4.1 by default, since then only where this is set.
    takes_zone = "timezone" in inspect.signature(to_arrow_schema).parameters
    zone: dict[str, Any] = {"timezone": "UTC"} if takes_zone else {}
    return list(to_arrow_schema(schema, **zone))


def _column(output: Output, field: pa.Field, rows: Sequence[Row], index: int) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(_exact([row[index] for row in rows], field.type), field.type)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        culprit = _culprit(field, rows, index)
        reason = f": {error}" if str(error) else ""
        raise ShardError(
            f"output {output.name!r}, field {field.name!r}: {culprit!r:.200} is no {field.type}{reason}; "
            "declare another type in schemas"
        ) from error


def _exact(values: list[Any], kind: pa.DataType) -> list[Any]:
    """The values as a typed stream of the topology has them; Arrow itself drops parts of some silently.

    Raises:
        TypeError, ValueError: one is not of the type.
    """
    import pyarrow as pa

    from framework.model.columns import fit_of_arrow

    if pa.types.is_null(kind):
        return values
    if not pa.types.is_nested(kind):
        return list(map(fit_of_arrow(kind), values))
    for part, of_part in _parts(values, kind):
        _exact(part, of_part)
    return values


def _parts(values: list[Any], kind: pa.DataType) -> Iterator[tuple[list[Any], pa.DataType]]:
    """The elements of lists, maps or structs, all of one type together."""
    import pyarrow as pa

    there = [value for value in values if value is not None]
    if pa.types.is_map(kind):
        pairs = [pair for value in there for pair in (value.items() if isinstance(value, dict) else value)]
        rows, kinds = [_ordered(pair, _OF_PAIRS) for pair in pairs], [kind.key_type, kind.item_type]
    elif pa.types.is_struct(kind):
        names = [field.name for field in kind]
        rows, kinds = [_ordered(value, names) for value in there], [field.type for field in kind]
    else:
        rows, kinds = [(item,) for value in there for item in value], [kind.value_type]
    for index, of_part in enumerate(kinds):
        yield [row[index] for row in rows], of_part


def _ordered(value: Any, names: Sequence[str]) -> Sequence[Any]:
    """A struct's values in the order of its fields; Arrow would leave out some, and make others None."""
    if isinstance(value, tuple):
        if len(value) != len(names):
            raise TypeError(f"it has {len(value)} values, expected those of {', '.join(names)}")
        return value
    found = dict(value)
    if found.keys() != set(names):
        raise TypeError(f"it has {', '.join(map(str, found)) or 'nothing'}, expected {', '.join(names)}")
    return [found[name] for name in names]


def _culprit(field: pa.Field, rows: Sequence[Row], index: int) -> Any:
    """The first value that cannot be one of the column's."""
    import pyarrow as pa

    for row in rows:
        try:
            pa.array(_exact([row[index]], field.type), field.type)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            return row[index]
    return [row[index] for row in rows]


def full_schema(fields: StructType) -> StructType:
    """The schema of an output: time, position, its fields."""
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    return StructType([StructField(TIME, LongType()), StructField(POSITION, BinaryType()), *fields])
