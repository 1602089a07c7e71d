"""Streams of a prepared dataset as record batches: sought, checked, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spark_ingest.errors import DatasetError
from spark_ingest.job.stream_spec import TIME
from spark_ingest.replaying.marks import UNMARKED, Marks
from spark_ingest.replaying.span import Span, shown

BATCH_ROWS = 65_536
"""At most so many rows are decoded at a time, however large the row groups are."""

BUFFER_BYTES = 1 << 18
"""Of a file's column at a time; without it a whole column of a row group is held."""

SHORT_BYTES = 3
"""Texts of fewer bytes each are stored as indices into a dictionary: alone, each has 4 for its length."""

_AGAIN = "prepare the dataset again"


def read_stream(
    files: Sequence[Path], columns: Sequence[str], span: Span, marks: Marks = UNMARKED
) -> Generator[pa.RecordBatch]:
    """The rows of a stream within a span.

    Args:
        files: of the stream, in order.
        columns: that are wanted, in this order.
        span: what else is left out; row groups of which nothing is wanted are not read.
        marks: of files that have to be those that were there before.

    Yields:
        Record batches of `TIME` and the columns, each of at least one row.

    Raises:
        DatasetError: a file is missing, is none of a prepared dataset or another one than before, or its time
            goes back.
    """
    order = _Order()
    for path in files:
        with _opened(path, marks) as file:
            _check_columns(path, file.schema_arrow, columns)
            for first_row, batch in _batches(path, file, [TIME, *columns], span):
                times = order.checked(path, first_row, batch.column(0))
                part = span.part_of(times)
                if part.start < part.stop:
                    yield batch.slice(part.start, part.stop - part.start)


def first_time(files: Sequence[Path], span: Span, marks: Marks = UNMARKED) -> int | None:
    """The earliest event time that a stream has in a span, if any; errors as of `read_stream`."""
    with closing(read_stream(files, (), span, marks)) as batches:
        batch = next(batches, None)
        return None if batch is None else int(batch.column(0)[0].as_py())


def looked_into(path: Path, columns: Sequence[str], marks: Marks = UNMARKED) -> tuple[pa.Schema, int]:
    """Schema of the batches that `read_stream` would make of a file, and the rows that it says it has.

    Raises:
        DatasetError: as `read_stream`, as far as the end of the file tells.
    """
    with _opened(path, marks) as file:
        _check_columns(path, file.schema_arrow, columns)
        fields = [file.schema_arrow.field(name) for name in (TIME, *columns)]
        return pa.schema(fields), int(file.metadata.num_rows)


@contextmanager
def _opened(path: Path, marks: Marks) -> Iterator[pq.ParquetFile]:
    """A file for reading.

    Turn every error of Arrow's within the block into one that names this file.
    """
    try:
        with pa.OSFile(str(path)) as opened:
            marks.check(path)
            with _parsed(opened) as file:
                yield file
    except FileNotFoundError:
        marks.check_missing(path)
        raise DatasetError(f"{path}: the file is missing: {_AGAIN}") from None
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path}: cannot be read as Parquet ({error}): {_AGAIN}") from error


def _parsed(opened: pa.NativeFile) -> pq.ParquetFile:
    metadata = pq.read_metadata(opened)
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
    if not metadata.num_row_groups:
        return []
    group = metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    return [
        column.path_in_schema
        for column in columns
        if column.physical_type == "BYTE_ARRAY"
        and "." not in column.path_in_schema
        and column.total_uncompressed_size < SHORT_BYTES * column.num_values
    ]


def _check_columns(path: Path, schema: pa.Schema, columns: Sequence[str]) -> None:
    missing = [name for name in (TIME, *columns) if name not in schema.names]
    if missing:
        raise DatasetError(
            f"{path}: the file has no column {missing[0]!r}, so it is of something else: {_AGAIN}"
        )
    time = schema.field(TIME)
    if time.type != pa.int64():
        raise DatasetError(f"{path}: column {TIME!r} is {time.type}, expected int64: {_AGAIN}")


def _batches(
    path: Path, file: pq.ParquetFile, columns: Sequence[str], span: Span
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches of the row groups that meet the span, each with the number of its first row in the file."""
    first_row = 0
    for index in range(file.num_row_groups):
        group = file.metadata.row_group(index)
        row = first_row
        first_row += group.num_rows
        if not _meets(group, span):
            continue
        # Not on threads of Arrow's own: there is one that reads ahead, and there are other tasks.
        for batch in file.iter_batches(BATCH_ROWS, [index], list(columns), use_threads=False):
            yield row, batch.select(list(columns))
            row += batch.num_rows
        if row != first_row:
            found = f"{row - first_row + group.num_rows:,} rows, and not the {group.num_rows:,} that it says"
            raise DatasetError(f"{path}: row group {index} has {found}: {_AGAIN}")


def _meets(group: pq.RowGroupMetaData, span: Span) -> bool:
    """Whether a row group may have rows of the span: it may where it does not tell."""
    if span.is_all:
        return True
    columns = (group.column(index) for index in range(group.num_columns))
    time = next(column for column in columns if column.path_in_schema == TIME)
    found = time.statistics
    return found is None or not found.has_min_max or span.meets(found.min, found.max)


class _Order:
    """Sees to it that event time never goes back."""

    def __init__(self) -> None:
        self._last_us: int | None = None

    def checked(self, path: Path, first_row: int, times: pa.Int64Array) -> memoryview:
        """Times of the next rows, which begin at a row of a file (from 0)."""
        values = memoryview(times.buffers()[1]).cast("B").cast("q")[times.offset : times.offset + len(times)]
        if times.null_count:
            raise DatasetError(f"{path}: column {TIME!r} has nulls, so it is of something else: {_AGAIN}")
        if self._last_us is not None and len(values) and values[0] < self._last_us:
            raise _goes_back(path, first_row, values[0], self._last_us)
        back = pc.index(pc.less(times[1:], times[:-1]), True).as_py()  # 0.6 ns a row
        if back >= 0:
            raise _goes_back(path, first_row + back + 1, values[back + 1], values[back])
        self._last_us = values[-1] if len(values) else self._last_us
        return values


def _goes_back(path: Path, row: int, time_us: int, last_us: int) -> DatasetError:
    found = f"row {row:,} is of {shown(time_us)}, after one of {shown(last_us)}"
    return DatasetError(f"{path}: {found}: a stream has to be in the order of time; {_AGAIN}")
