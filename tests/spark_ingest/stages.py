"""Small prepared datasets, written without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spark_ingest.datasets.arrow_files import write_arrow
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.datasets.formats import ARROW, PARQUET, Format, format_of
from spark_ingest.datasets.sealing import seal
from spark_ingest.job.stream_spec import TIME

GROUP_ROWS = 10


def write_stage(
    folder: Path,
    streams: Sequence[Sequence[pa.Table]],
    *,
    group_rows: int = GROUP_ROWS,
    types: Mapping[str, str] | None = None,
    unit: str = "us",
    stored_as: Format = PARQUET,
) -> Dataset:
    """A dataset of streams, each of tables that become its files; their first column is `TIME`."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [
        [
            write_rows(folder / f"stream-{number}-{index}{stored_as.suffix}", table, group_rows).name
            for index, table in enumerate(tables)
        ]
        for number, tables in enumerate(streams)
    ]
    fields = next(table.schema.names[1:] for tables in streams for table in tables)
    words = types or dict.fromkeys(fields, "bigint")
    return seal(folder, names, timestamp="at", types=words, unit=unit)


def table(times: Sequence[int], **columns: Any) -> pa.Table:
    """A table with event times, and other columns as lists or Arrow arrays."""
    return pa.table({TIME: pa.array(times, pa.int64()), **columns})


def numbered(times: Sequence[int], first: int = 0) -> pa.Table:
    """A table whose column ``n`` counts its rows."""
    return table(times, n=pa.array(range(first, first + len(times)), pa.int64()))


def rows_of(blocks: Iterator[Any]) -> list[tuple[Any, ...]]:
    """The time and the values of every row."""
    return [(time, *row) for block in blocks for time, row in zip(block.times, block.rows, strict=True)]


def write_rows(path: Path, rows: pa.Table, group_rows: int = GROUP_ROWS) -> Path:
    """Write a file of the format that its name says, in groups of so many rows; returns its path."""
    if format_of(path) is ARROW:
        write_arrow(path, rows.schema, rows.combine_chunks().to_batches(max_chunksize=group_rows))
    else:
        pq.write_table(rows, path, row_group_size=group_rows)
    return path
