"""Parquet files of a stream made Arrow files, of the rows that a replay would bring."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from spark_ingest.datasets.arrow_files import write_arrow
from spark_ingest.replaying.reading import in_order, parts_of, schema_of
from spark_ingest.replaying.span import Span


def copy_to_arrow(path: Path, columns: Sequence[str], made: Path) -> None:
    """Write the rows of a file as an Arrow file, a record batch for each row group.

    Args:
        path: any file of a stream.
        columns: that it has besides the event time, in their order.
        made: the file that is written.

    Raises:
        DatasetError: the file is damaged, or its time goes back.
        OSError: the other one cannot be written.
    """
    schema = schema_of(path, columns)
    pieces = (piece for part in parts_of([path], columns, Span(), plain=True) for piece in part)
    write_arrow(made, pa.schema(map(_plain, schema)), in_order(pieces, Span()))


def _plain(field: pa.Field) -> pa.Field:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return pa.field(field.name, kind, field.nullable)
