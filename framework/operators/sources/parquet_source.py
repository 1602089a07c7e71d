"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from framework.common.units import FIRST_US, LAST_US
from framework.model.errors import SourceError
from framework.model.topology import one_of, unknown
from framework.operators.sources import int96
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.portion import Malformed, Portion
from framework.operators.sources.times import EventTime
from viper.schema import Schema

_CAST = "a file is cast where it is written, or once more: pq.write_table(pq.read_table(...).cast(...), ...)"
_MOST_FOOTERS = 16
"""Files whose rows are counted, as that holds the run up; others are taken to have as many a byte."""

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from framework.model.columns import Batches


class ParquetSource(FileSource):
    """Reads Parquet files, a row for each of theirs; it wants pyarrow.

        ParquetSource("trips/", columns=["fare"], timestamp="pickup", typed=True)

    `docs/connectors.md` lists the types that are read. Values are Python's, as `framework.columns.converter`
    makes them: numbers, text, bytes, dates and so on. Timestamps are numbers in the unit of their column;
    timestamps of 96 bits (INT96) are in microseconds. With `typed`, bolts that take columns get them as the
    file has them. Groups of rows are read one after the other, and in batches, so memory does not grow with a
    file. A row is malformed if it has no time (null), a time outside the years 1 to 9999, or an INT96 that is
    no whole number of microseconds. It is malformed, too, if it has a value that Python's class has no room
    for. Such values are a date after the year 9999, a time of day that is not within a day or has
    nanoseconds, and text that is not UTF-8. A duration with nanoseconds, or with too many days for Python, is
    one as well. It may be nested, and with `typed` the same rows are malformed.

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
        with self._reading_of(sample), _opened(sample) as found:
            schema = _readable(found.schema_arrow)
        self._fields = list(schema.names if columns is None else columns)
        for name in self._fields:
            if name not in schema.names:
                raise SourceError(f"{sample.path}: {unknown('column', name, schema.names)}")
        self._time_index(schema.names)
        self._check_names(sample, schema)
        self._schema = _chosen(schema, self._fields)
        if not typed:
            self._check_types(sample)
        declared = self._declared(sample) if typed else None
        self._outputs = self._streams(self._fields, declared)
        self._declared_schema = None if declared is None else Schema.of(declared, self._fields)

    _format = "Parquet"

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The columns."""
        return self._outputs

    def _declared(self, file: SourceFile) -> dict[str, str]:
        from framework.model.columns import declared_types

        try:
            return declared_types(self._schema)
        except ValueError as error:
            self._check_types(file)
            raise SourceError(f"{file.path}: {error}: leave it out by columns, or typed=False") from None

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
            self._check(file, _readable(found.schema_arrow))
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
                    skipped, batch = max(first - start, 0), _read(batch)
                    faults = {index - skipped: why for index, why in faults.items() if index >= skipped}
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
        """Return the search for timestamps of 96 bits that do not equal the values read; None if there are
        none."""
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
        if not faults:
            end = first + batch.num_rows
            try:
                return Portion(*self._made(batch, range(first, end)), end)
            except Exception:  # which row it was, and why, is told then
                pass
        return self._without_malformed(file, batch, first, faults)

    def _made(
        self, batch: pa.RecordBatch, numbers: Sequence[int]
    ) -> tuple[Any, Sequence[int], Sequence[int] | None]:
        """The rows of a batch, their numbers, and their times.

        Raises:
            Exception: not all are as they should be.
        """
        times = None if self._event_time is None else self._times_of(batch.column(self._event_time.field))
        return self._rows(batch), numbers, times

    def _without_malformed(
        self, file: SourceFile, batch: pa.RecordBatch, first: int, faults: Mapping[int, str]
    ) -> Portion:
        """The rows of a batch of which not all are as they should be."""
        batch = _without_dictionaries(batch)
        wrong = {**dict(self._wrong(batch, 0)), **{index: ValueError(why) for index, why in faults.items()}}
        malformed: list[Malformed] = []

        def raw(number: int) -> tuple[int, str]:
            return number + 1, _shown(batch.slice(number - first, 1))

        for index in sorted(wrong):
            malformed += self._refuse(file, first + index, wrong[index], raw)
        kept = [index for index in range(batch.num_rows) if index not in wrong]
        made = self._made(_taken(batch, kept), [first + index for index in kept])
        return Portion(*made, first + batch.num_rows, malformed)

    def _wrong(self, batch: pa.RecordBatch, first: int) -> Iterator[tuple[int, Exception]]:
        """The indexes of rows that are not as they should be, and why; halves are tried, as few are wrong.

        A half is taken, not sliced: Arrow checks all that the lists and structs of a slice were cut from.
        """
        try:
            self._made(batch, ())
        except Exception as error:
            if batch.num_rows == 1:
                yield first, error
            else:
                half = batch.num_rows // 2
                yield from self._wrong(_taken(batch, range(half)), first)
                yield from self._wrong(_taken(batch, range(half, batch.num_rows)), first + half)

    def _times_of(self, column: pa.Array) -> Sequence[int] | None:
        """The times of a column of timestamps, of numbers in the unit that was given, or of text.

        Raises:
            ValueError: one of them is none.
        """
        import pyarrow as pa

        from viper.columns.scalars import micros

        assert self._event_time is not None
        event_time, is_time = self._event_time, pa.types.is_timestamp(column.type)
        if event_time.unit is not None or is_time:
            found = micros(column, event_time.unit or "us", FIRST_US, LAST_US)
            if found is not None:
                return found
        if is_time:
            event_time = EventTime(event_time.field, column.type.unit)
            event_time.expected = f"a time, counted in {column.type.unit} since 1970"
        values = column.cast(pa.int64()).to_pylist() if is_time else _values(column)
        return [event_time.one(values[0])] if len(values) == 1 else event_time.many(values)

    def _rows(self, batch: pa.RecordBatch) -> Any:
        """The rows of a batch, as a batch or as a list.

        Raises:
            ValueError: a value has no form here; the message names its column.
        """
        chosen = batch.select(self._fields)
        if self._declared_schema is not None:
            # As the emit looks at them, so that no row fails there, and at decimals with too many digits.
            chosen = _batches(self._declared_schema, tuple(self._fields)).accepted(chosen, gives_away=True)
            chosen.validate(full=True)
            return chosen
        return list(zip(*map(_converted, self._fields, chosen.columns), strict=True)) or [()] * batch.num_rows

    def _check_types(self, file: SourceFile) -> None:
        """See that all columns have values in Python.

        Raises:
            SourceError: one of them has none.
        """
        from framework.model.columns import ScalarError, converter

        try:
            for field in self._schema:
                converter(field.name, field.type)
        except ScalarError as error:
            raise SourceError(f"{file.path}: {error} ({_CAST})") from None

    def _check_names(self, file: SourceFile, schema: pa.Schema) -> None:
        """See that each column that is read is the only one of its name.

        Raises:
            SourceError: there are several.
        """
        time = [self._event_time.field] if self._event_time is not None else []
        for name in [*self._fields, *time]:
            if (count := schema.names.count(name)) > 1:
                raise SourceError(
                    f"{file.path}: {count} columns are named {name!r}: expected different names; rename them "
                    "or leave them out by columns"
                )

    def _check(self, file: SourceFile, schema: pa.Schema) -> None:
        """See that a file has the columns of the first one, of the same types."""
        for name in self._fields:
            if name not in schema.names:
                found = one_of(schema.names)
                raise SourceError(
                    f"{file.path}: no column {name!r}: expected it as in the first file, found {found}"
                )
        self._time_index(schema.names)
        self._check_names(file, schema)
        pairs = zip(_chosen(schema, self._fields), self._schema, strict=True)
        told = [
            f"{one.name!r} is {_kind(one)}, expected {_kind(other)}"
            for one, other in pairs
            if one.type != other.type or (self._typed and one.nullable and not other.nullable)
        ]
        if told:
            raise SourceError(
                f"{file.path}: its columns are not of the types of the first file's: {'; '.join(told)}"
            )


@contextmanager
def _opened(file: SourceFile, int96_unit: str = int96.UNIT) -> Iterator[pq.ParquetFile]:
    """A file for the block.

    Args:
        file: the file.
        int96_unit: that in which timestamps of 96 bits are read.

    Raises:
        SourceError: it is not the file that was found.
        Exception: it is no Parquet, or damaged; `reading` makes a SourceError of it.
    """
    import pyarrow.parquet as pq

    with open(file.path, "rb") as plain:
        file.check(plain)
        yield pq.ParquetFile(plain, coerce_int96_timestamp_unit=int96_unit)
        file.check(plain)


def _kind(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'}"


def _converted(name: str, column: pa.Array) -> list[Any]:
    """The values of a column.

    Raises:
        ValueError: one of them has no form here.
    """
    from framework.model.columns import converter

    try:
        return converter(name, column.type)(column)
    except Exception as error:  # of Python's classes and of Arrow's casts
        reason = " ".join(str(error).split())
        raise ValueError(f"{name!r} has no form as {column.type} in Python: {reason}") from error


def _values(column: pa.Array) -> list[Any]:
    """The values of a column for messages; of those that Python has no form for, texts, bytes or numbers."""
    import pyarrow as pa

    try:
        if pa.types.is_time(column.type):  # which `to_pylist` cuts off, and lets begin anew behind a day
            return _converted("", column)
        if column.type != pa.duration("ns"):  # or a class of pandas
            return column.to_pylist()  # type: ignore[no-any-return]
    except Exception:
        if len(column) > 1:
            return [value for index in range(len(column)) for value in _values(column.slice(index, 1))]
    for kind in (pa.string(), pa.binary(), pa.int64()):
        try:
            return column.cast(kind).to_pylist()  # type: ignore[no-any-return]
        except (ValueError, pa.ArrowException):
            continue
    return [f"<{column.type}>"] * len(column)


def _shown(row: pa.RecordBatch) -> str:
    """The values of one row, by their names."""
    return str({name: _values(row.column(name))[0] for name in row.schema.names})


def _taken(batch: pa.RecordBatch, indices: Sequence[int]) -> pa.RecordBatch:
    """Rows of a batch in memory of their own."""
    import pyarrow as pa

    return batch.take(pa.array(indices, pa.int64()))


@lru_cache(maxsize=64)
def _batches(schema: Schema, fields: tuple[str, ...]) -> Batches:
    """Return the maker of batches for a typed stream; it cannot be a part of the source, which is pickled."""
    from framework.model.columns import Batches

    return Batches(schema, fields)


def _without_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same with the values of each row for itself, as one value of a dictionary may be wrong."""
    import pyarrow as pa

    columns = [column.cast(_undictionaried(column.type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _undictionaried(kind: pa.DataType) -> pa.DataType:
    """A type with the values of its dictionaries, also of those within it, in their place."""
    import pyarrow as pa

    return _replaced(kind, lambda leaf: leaf.value_type if pa.types.is_dictionary(leaf) else leaf)


def _readable(schema: pa.Schema) -> pa.Schema:
    """A schema with types that have values in Python, in place of others whose values those have, too."""
    import pyarrow as pa

    return pa.schema([field.with_type(_replaced(field.type, _leaf_read)) for field in schema])


def _leaf_read(kind: pa.DataType) -> pa.DataType:
    """The type that a type which nests nothing is read as."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):  # as of UUIDs and JSON
        return _replaced(kind.storage_type, _leaf_read)
    if pa.types.is_dictionary(kind):
        read = _leaf_read(kind.value_type)
        return kind if read == kind.value_type else read
    if pa.types.is_fixed_size_binary(kind) or kind == pa.binary_view():
        return pa.binary()
    if kind == pa.string_view():
        return pa.string()
    return pa.float32() if pa.types.is_float16(kind) else kind


def _replaced(kind: pa.DataType, leaf: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """A type in which others stand for those that nest nothing; lists of a fixed size become plain ones."""
    import pyarrow as pa

    def field(found: pa.Field) -> pa.Field:
        return found.with_type(_replaced(found.type, leaf))

    if pa.types.is_struct(kind):
        return pa.struct([field(found) for found in kind])
    if pa.types.is_map(kind):
        return pa.map_(field(kind.key_field), field(kind.item_field), kind.keys_sorted)
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(field(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(field(kind.value_field))
    return leaf(kind)


def _read(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same with columns of the types that they are read as."""
    schema = _readable(batch.schema)
    return batch if schema.equals(batch.schema) else batch.cast(schema)


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
