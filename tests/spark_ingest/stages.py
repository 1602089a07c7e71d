"""Small prepared datasets, written without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spark_ingest.datasets.dataset import Dataset
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
) -> Dataset:
    """A dataset of streams, each of tables that become its files; their first column is `TIME`."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [
        [
            _written(folder / f"stream-{number}-{index}.parquet", table, group_rows)
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


def _written(path: Path, rows: pa.Table, group_rows: int) -> str:
    pq.write_table(rows, path, row_group_size=group_rows)
    return path.name
