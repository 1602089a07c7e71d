"""Parquet files of a dataset: what is read of them is decoded, so that they are small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from spark_ingest.datasets.row_files import Limits
from spark_ingest.job.stream_spec import TIME

BUFFER_BYTES = 1 << 18
"""Of a file's column at a time; without it a whole column of a row group is held."""

SHORT_BYTES = 3
"""Texts of fewer bytes each are stored as indices into a dictionary: alone, each has 4 for its length."""


class ParquetRows:
    """An open Parquet file; see `RowFile`. Its groups are row groups.

    Args:
        path: the file.
        metadata: what its footer says, where that is known.
    """

    def __init__(self, path: Path, metadata: pq.FileMetaData | None = None) -> None:
        self._path = path
        self._opened = pa.OSFile(str(path))
        try:
            self._metadata = metadata or pq.read_metadata(self._opened)
            self._file = _parsed(self._opened, self._metadata)
        except BaseException:
            self._opened.close()
            raise
        self.schema: pa.Schema = self._file.schema_arrow
        numbers = range(self._metadata.num_row_groups)
        self.groups = [self._metadata.row_group(number).num_rows for number in numbers]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file."""
        return cls(path)

    def again(self) -> Self:
        """The same file, without looking into its footer again."""
        return type(self)(self._path, self._metadata)

    def limits(self, group: int) -> Limits | None:
        """As its statistics say."""
        found = self._metadata.row_group(group)
        columns = (found.column(index) for index in range(found.num_columns))
        time = next(column for column in columns if column.path_in_schema == TIME)
        statistics = time.statistics
        if statistics is None or not statistics.has_min_max:
            return None
        return Limits(statistics.min, statistics.max)

    def batches(self, group: int, columns: Sequence[str], most_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of a row group; of columns with few distinct texts, dictionaries and indices."""
        # Not on threads of Arrow's own, each for a column: whoever reads has threads, each for a row group.
        for batch in self._file.iter_batches(most_rows, [group], list(columns), use_threads=False):
            yield batch.select(list(columns))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._opened.close()


def _parsed(opened: pa.NativeFile, metadata: pq.FileMetaData) -> pq.ParquetFile:
    return pq.ParquetFile(
        opened,
        metadata=metadata,
        read_dictionary=_repetitive(metadata),
        buffer_size=BUFFER_BYTES,
        pre_buffer=False,  # which would hold all that was read until the file is closed
        page_checksum_verification=True,  # Spark writes them, so that a damaged page does not pass for data
        coerce_int96_timestamp_unit="us",
    )


def _repetitive(metadata: pq.FileMetaData) -> list[str]:
    """Columns of few distinct texts, which are best read as a dictionary and indices."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if not groups:
        return []
    columns = [groups[0].column(index) for index in range(metadata.num_columns)]
    return [
        column.path_in_schema
        for index, column in enumerate(columns)
        if column.physical_type == "BYTE_ARRAY"
        and "." not in column.path_in_schema
        and column.total_uncompressed_size < SHORT_BYTES * column.num_values
        # As which pyarrow makes no dictionary: what repeats in one row group may not in another.
        and not any("DELTA_BYTE_ARRAY" in group.column(index).encodings for group in groups)
    ]
