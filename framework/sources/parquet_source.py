"""Rows of Parquet files."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from framework.errors import SourceError
from framework.sources import int96
from framework.sources.file_source import FileSource
from framework.sources.listing import SourceFile
from framework.sources.portion import Malformed, Portion
from framework.sources.times import EventTime
from framework.topology import one_of, unknown
from framework.units import FIRST_US, LAST_US

_MOST_FOOTERS = 16
"""Files whose rows are counted, as that holds the run up; others are taken to have as many a byte."""

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


class ParquetSource(FileSource):
    """Reads Parquet files, a row for each of theirs; it wants pyarrow.

        ParquetSource("trips/", columns=["fare"], timestamp="pickup", typed=True)

    Values are Python's, as `framework.columns.converter` makes them: numbers, text, bytes, dates and so on;
    timestamps are numbers in the unit of their column, and those of 96 bits (INT96) in microseconds. With
    `typed`, bolts that take columns get them as the file has them. Groups of rows are read one after the
    other, and in batches, so memory does not grow with a file. A row is malformed if it has no time (null) or
    one that is not of the years 1 to 9999, or an INT96 that is no whole number of microseconds.

    Args:
        path: a file, a folder, a pattern (``trips/*.parquet``), or a list of these.
        columns: the columns of a row, in this order; None: all of the first file's.
        typed: whether the stream has a schema: the types of the first file, which all others must have.
        **options: as of `FileSource`: ``timestamp``, ``unit`` (for whole numbers; timestamps have their own),
            ``in_turn``, ``follow``, ``end_marker``, ``on_malformed``.

    Raises:
        SourceError: there is no such file, it is damaged, it has no such column or one that cannot be
            carried, or pyarrow is missing.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        columns: Sequence[str] | None = None,
        *,
        typed: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(path, **options)
        if self._growing is not None:
            raise SourceError(f"{self._paths[0]}: a Parquet file does not grow; follow a folder of them")
        _check_pyarrow()
        self._typed = typed
        sample = self._sample
        if sample is None:
            raise SourceError(
                f"{self._paths[0]} is empty, so nobody knows the columns: begin with a first file"
            )
        with _opened(sample) as found:
            schema = found.schema_arrow
        self._fields = list(schema.names if columns is None else columns)
        for name in self._fields:
            if name not in schema.names:
                raise SourceError(f"{sample.path}: {unknown('column', name, schema.names)}")
        self._time_index(schema.names)
        self._schema = _chosen(schema, self._fields)
        self._outputs = self._streams(self._fields, self._declared() if typed else None)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The columns."""
        return self._outputs

    def _declared(self) -> dict[str, str]:
        from framework.columns import declared_types

        try:
            return declared_types(self._schema)
        except ValueError as error:
            raise SourceError(f"{error}: leave it out by columns, or typed=False") from None

    _most_block_rows = 4096

    def _rows_in(self, files: Sequence[SourceFile]) -> int | None:
        rows, counted = 0, files[:_MOST_FOOTERS]
        for file in counted:
            with _opened(file) as found:
                rows += found.metadata.num_rows
        return round(rows * sum(file.bytes for file in files) / sum(file.bytes for file in counted))

    def _line(self, file: SourceFile, line: int) -> str:
        return f"{file.path}, row {line}"

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        with ExitStack() as stack:
            found = stack.enter_context(_opened(file))
            self._check(file, found.schema_arrow)
            metadata, end = found.metadata, 0
            groups: list[int] = []
            for group in range(metadata.num_row_groups):
                if end + metadata.row_group(group).num_rows <= first and not groups:
                    end += metadata.row_group(group).num_rows
                else:
                    groups.append(group)
            time = [self._event_time.field] if self._event_time is not None else []
            wanted = list(dict.fromkeys([*self._fields, *time]))
            check = self._int96_check(stack, file, found, groups, wanted)
            for batch in found.iter_batches(self._block_rows, groups, wanted, use_threads=False):
                start, end = end, end + batch.num_rows
                faults = {} if check is None else check.faults(batch)
                if end > first:
                    skipped = max(first - start, 0)
                    faults = {index - skipped: why for index, why in faults.items()}
                    yield self._portion(file, batch.slice(skipped), start + skipped, faults)
        yield Portion([], (), None, end)

    def _int96_check(
        self,
        stack: ExitStack,
        file: SourceFile,
        found: pq.ParquetFile,
        groups: Sequence[int],
        wanted: Sequence[str],
    ) -> int96.Int96Check | None:
        """What looks for timestamps of 96 bits that are not what is read of them, where there are such."""
        names = int96.columns_of(found, wanted)
        if not names:
            return None
        opened = [stack.enter_context(_opened(file, unit)) for unit in int96.OTHER_UNITS]
        batches = [one.iter_batches(self._block_rows, groups, names, use_threads=False) for one in opened]
        return int96.Int96Check(names, batches)

    def _portion(
        self, file: SourceFile, batch: pa.RecordBatch, first: int, faults: Mapping[int, str]
    ) -> Portion:
        """The rows of a batch, whose first one has this number; faults are known of some, by their index."""
        end = first + batch.num_rows
        numbers: Sequence[int] = range(first, end)
        times: Sequence[int] | None = None
        malformed: Sequence[Malformed] = ()
        if self._event_time is not None:
            times = self._times_of(batch.column(self._event_time.field))
        if faults or (self._event_time is not None and times is None):
            batch, numbers, times, malformed = self._looked_at(file, batch, first, faults)
        return Portion(self._rows(file, batch), numbers, times, end, malformed)

    def _times_of(self, column: pa.Array) -> array[int] | None:
        """The times of a column of timestamps, or of numbers in the unit that was given."""
        import pyarrow as pa

        from viper.columns.scalars import micros

        assert self._event_time is not None
        unit = self._event_time.unit
        return (
            micros(column, unit or "us", FIRST_US, LAST_US)
            if unit is not None or pa.types.is_timestamp(column.type)
            else None
        )

    def _looked_at(
        self, file: SourceFile, batch: pa.RecordBatch, first: int, faults: Mapping[int, str]
    ) -> tuple[pa.RecordBatch, list[int], list[int] | None, list[Malformed]]:
        """The rows that are as they should be, where they have to be looked at one by one, and the others."""
        import pyarrow as pa

        kept: list[int] = []
        times: list[int] = []
        malformed: list[Malformed] = []
        event_time, values = self._values_of_times(batch)

        def raw(number: int) -> tuple[int, str]:
            return number + 1, _shown(batch.slice(number - first, 1))

        for index, value in enumerate(values):
            try:
                if index in faults:
                    raise ValueError(faults[index])
                if event_time is not None:
                    times.append(event_time.one(value))
            except ValueError as error:
                malformed += self._refuse(file, first + index, error, raw)
            else:
                kept.append(index)
        numbers = [first + index for index in kept]
        return (
            batch.take(pa.array(kept, pa.int64())),
            numbers,
            None if event_time is None else times,
            malformed,
        )

    def _values_of_times(self, batch: pa.RecordBatch) -> tuple[EventTime | None, Sequence[Any]]:
        """What reads the event times of a batch, and the values of their column."""
        import pyarrow as pa

        if self._event_time is None:
            return None, [None] * batch.num_rows
        column = batch.column(self._event_time.field)
        if pa.types.is_timestamp(column.type):
            event_time = EventTime(self._event_time.field, column.type.unit)
            event_time.expected = f"a time, counted in {column.type.unit} since 1970"
            return event_time, column.cast(pa.int64()).to_pylist()
        return self._event_time, _values(column)

    def _rows(self, file: SourceFile, batch: pa.RecordBatch) -> Any:
        from framework.columns import ScalarError, converter, rows_of

        chosen = batch.select(self._fields)
        if self._typed:
            return chosen
        try:
            converters = [converter(field.name, field.type) for field in chosen.schema]
            return rows_of(chosen.columns, chosen.num_rows, converters)
        except ScalarError as error:
            raise SourceError(f"{file.path}: {error}") from None

    def _check(self, file: SourceFile, schema: pa.Schema) -> None:
        """See that a file has the columns of the first one, of the same types."""
        for name in self._fields:
            if name not in schema.names:
                found = one_of(schema.names)
                raise SourceError(
                    f"{file.path}: no column {name!r}: expected it as in the first file, found {found}"
                )
        self._time_index(schema.names)
        found = _chosen(schema, self._fields)
        if not found.equals(self._schema):
            pairs = zip(found, self._schema, strict=True)
            told = "; ".join(
                f"{one.name!r} is {one.type}, expected {other.type}" for one, other in pairs if one != other
            )
            raise SourceError(f"{file.path}: its columns are not of the types of the first file's: {told}")


@contextmanager
def _opened(file: SourceFile, int96_unit: str = int96.UNIT) -> Iterator[pq.ParquetFile]:
    """A file for the block; each error of Arrow's within it becomes one that names the file.

    Args:
        file: the file.
        int96_unit: that in which timestamps of 96 bits are read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(file.path, "rb") as plain:
            file.check(plain)
            yield pq.ParquetFile(plain, coerce_int96_timestamp_unit=int96_unit)
            file.check(plain)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{file.path}: cannot be read as Parquet ({error})") from None


def _values(column: pa.Array) -> list[Any]:
    """The values of a column; of those that Python has no form for, as a date of the year 30,000, texts."""
    import pyarrow as pa

    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (ValueError, OverflowError):
        if len(column) == 1:
            return [str(column.cast(pa.string())[0])]
        return [value for index in range(len(column)) for value in _values(column.slice(index, 1))]


def _shown(row: pa.RecordBatch) -> str:
    """The values of one row, by their names."""
    return str({name: _values(row.column(name))[0] for name in row.schema.names})


def _chosen(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([schema.field(name) for name in names])


def _check_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise SourceError(
            f"Parquet files want pyarrow ({error}): pip install '/path/to/viperstorm[columns]'"
        ) from None
