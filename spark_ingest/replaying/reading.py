"""Streams of a prepared dataset as record batches: sought, checked, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from framework.model.columns import descent
from spark_ingest.datasets.formats import format_of
from spark_ingest.datasets.opening import open_rows
from spark_ingest.datasets.row_files import RowFile
from spark_ingest.errors import DatasetError
from spark_ingest.job.stream_spec import TIME
from spark_ingest.replaying.marks import UNMARKED, Marks
from spark_ingest.replaying.span import Span, shown

BATCH_ROWS = 65_536
"""At most so many rows are decoded at a time, however large the groups of a file are."""

_AGAIN = "prepare the dataset again"


class Piece(NamedTuple):
    """Some rows of a stream, none of which is earlier than the one before it."""

    path: Path
    first_row: int
    """The number of its first row in the file, from 0."""
    batch: pa.RecordBatch
    """`TIME` and the columns; at least one row."""


Part = Generator[Piece]
"""A part of a stream, which reads itself as pieces; each part may be drawn by a thread of its own."""


def parts_of(
    files: Sequence[Path],
    columns: Sequence[str],
    span: Span,
    marks: Marks = UNMARKED,
    *,
    plain: bool = False,
) -> Generator[Part]:
    """The parts of a stream that meet a span, in order.

    Args:
        files: of the stream, in order.
        columns: that are wanted, in this order.
        span: parts of which nothing is wanted are left out.
        marks: of files that have to be those that were there before.
        plain: whether texts that repeat come as texts, and not as a dictionary and indices.

    Raises:
        DatasetError: a file is missing, is none of a prepared dataset or another one than before; the parts
            raise it where their rows are damaged, or their time goes back.
    """
    for path in files:
        with _opened(path, marks) as file:
            _check_columns(path, file.schema, columns)
            first_row = 0
            for group, rows in enumerate(file.groups):
                if _meets(file, group, span):
                    read = _read(path, file, group, first_row, [TIME, *columns], marks)
                    yield _plain(read) if plain else read
                first_row += rows


def in_order(pieces: Iterable[Piece], span: Span) -> Generator[pa.RecordBatch]:
    """The rows of a stream within a span.

    Args:
        pieces: of its parts, in order.
        span: what else is left out.

    Yields:
        Record batches of `TIME` and the columns, each of at least one row.

    Raises:
        DatasetError: time goes back from one piece to the next.
    """
    last_us: int | None = None
    for path, first_row, batch in pieces:
        times = _times(batch.column(0))
        if last_us is not None and times[0] < last_us:
            raise _goes_back(path, first_row, times[0], last_us)
        last_us = times[-1]
        part = span.part_of(times)
        if part.start < part.stop:
            yield batch.slice(part.start, part.stop - part.start)


def read_stream(
    files: Sequence[Path], columns: Sequence[str], span: Span, marks: Marks = UNMARKED
) -> Generator[pa.RecordBatch]:
    """The rows of a stream within a span, read by this thread; see `parts_of` and `in_order`."""
    return in_order((piece for part in parts_of(files, columns, span, marks) for piece in part), span)


def first_time(files: Sequence[Path], span: Span, marks: Marks = UNMARKED) -> int | None:
    """The earliest event time that a stream has in a span, if any; errors as of `read_stream`."""
    with closing(read_stream(files, (), span, marks)) as batches:
        batch = next(batches, None)
        return None if batch is None else int(batch.column(0)[0].as_py())


def schema_of(path: Path, columns: Sequence[str], marks: Marks = UNMARKED) -> pa.Schema:
    """Schema of the batches that `read_stream` would make of a file.

    Raises:
        DatasetError: as `read_stream`, as far as the end of the file shows it.
    """
    with _opened(path, marks) as file:
        _check_columns(path, file.schema, columns)
        return pa.schema([file.schema.field(name) for name in (TIME, *columns)])


def rows_of(path: Path, marks: Marks = UNMARKED) -> int:
    """Read the number of rows that a file says it has; errors as of `schema_of`."""
    with _opened(path, marks) as file:
        return sum(file.groups)


@contextmanager
def _opened(path: Path, marks: Marks, known: RowFile | None = None) -> Iterator[RowFile]:
    """A file for reading.

    Turn every error of Arrow's within the block into one that names this file.

    Args:
        path: the file.
        marks: what it has to be.
        known: the same file, where it was opened before.
    """
    try:
        with closing(open_rows(path) if known is None else known.again()) as file:
            marks.check(path)
            yield file
    except FileNotFoundError:
        marks.check_missing(path)
        raise DatasetError(f"{path}: the file is missing: {_AGAIN}") from None
    except (OSError, pa.ArrowException) as error:
        with suppress(FileNotFoundError):
            marks.check(path)
        raise DatasetError(f"{path}: cannot be read as {format_of(path).name} ({error}): {_AGAIN}") from error


def _check_columns(path: Path, schema: pa.Schema, columns: Sequence[str]) -> None:
    missing = [name for name in (TIME, *columns) if name not in schema.names]
    if missing:
        raise DatasetError(
            f"{path}: the file has no column {missing[0]!r}, so it is of something else: {_AGAIN}"
        )
    time = schema.field(TIME)
    if time.type != pa.int64():
        raise DatasetError(f"{path}: column {TIME!r} is {time.type}, expected int64: {_AGAIN}")


def _meets(file: RowFile, group: int, span: Span) -> bool:
    """True if a group may have rows of the span: it may if it does not say."""
    if span.is_all:
        return True
    limits = file.limits(group)
    return limits is None or span.meets(*limits)


def _read(
    path: Path, known: RowFile, group: int, first_row: int, columns: Sequence[str], marks: Marks
) -> Part:
    """The rows of one group."""
    row, end = first_row, first_row + known.groups[group]
    with _opened(path, marks, known) as file:
        for batch in file.batches(group, columns, BATCH_ROWS):
            _check_times(path, row, batch.column(0))
            yield Piece(path, row, batch)
            row += batch.num_rows
    if row != end:
        found = f"{row - first_row:,} rows, and not the {end - first_row:,} that it says"
        raise DatasetError(f"{path}: row group {group} has {found}: {_AGAIN}")


def _plain(part: Part) -> Part:
    """Decode dictionaries here if that belongs to reading, whose thread has nothing else to do."""
    for piece in part:
        batch = piece.batch
        columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in batch.columns]
        yield piece._replace(batch=pa.RecordBatch.from_arrays(columns, batch.schema.names))


def _check_times(path: Path, first_row: int, times: pa.Int64Array) -> None:
    """See to it that event time never goes back from one row to the next."""
    if times.null_count:
        raise DatasetError(f"{path}: column {TIME!r} has nulls, so it is of something else: {_AGAIN}")
    values = _times(times)
    back = descent(values)
    if back >= 0:
        raise _goes_back(path, first_row + back, values[back], values[back - 1])


def _times(column: pa.Int64Array) -> memoryview:
    return memoryview(column.buffers()[1]).cast("B").cast("q")[column.offset : column.offset + len(column)]


def _goes_back(path: Path, row: int, time_us: int, last_us: int) -> DatasetError:
    found = f"row {row:,} is of {shown(time_us)}, after one of {shown(last_us)}"
    return DatasetError(f"{path}: {found}: a stream has to be in the order of time; {_AGAIN}")
