"""Rows of CSV files."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from framework.model.errors import SourceError
from framework.model.topology import one_of, unknown
from framework.operators.sources.csv_records import FIELD_LIMIT, Batch, CsvForm, appended_records, records_of
from framework.operators.sources.file_source import FileSource
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import checked_encoding, opened_text
from framework.operators.sources.portion import Portion
from framework.operators.sources.values import Type, columns_of, plain_types


class CsvSource(FileSource):
    """Reads CSV files, a row for each record.

        CsvSource("trips/*.csv", types={"fare": "float64"}, timestamp="pickup")

    The first line of each file names its columns, in any order, unless `fields` does. A value is text unless
    its field has a type: whole numbers (``int64``), floats (``float64``), ``bool``, ``timestamp[us]`` (ISO
    8601 or a number; it becomes a number), ``date32``, ``decimal128(10, 2)``, or a function of the text. Of
    such a field an empty text is None, unless the type says ``not null``. Empty lines are left out.

    A record is malformed if it has too many or too few values, a value is not of its type or too long, or a
    quote is not closed. A record with such a quote ends with the line in which that opens, so it takes no
    other one with it. `field_limit` says within how many characters a quote must be closed.

    Args:
        path: a file, a folder, a pattern (``trips/*.csv``), or a list of these.
        fields: the names of the columns of files without a line of names.
        columns: the fields of a row, in this order; None: all columns of the first file.
        types: the type of each field that is not text, by name.
        typed: whether the stream has a schema, so that bolts get columns (it wants pyarrow).
        delimiter: the character between two values.
        quote: the character around a value that has a delimiter, a quote (doubled) or a new line in it.
        encoding: of the files, as Python names it.
        field_limit: the most characters of a value; the limit of Python's module `csv` stays as it is.
        **options: as of `FileSource`: ``timestamp``, ``unit``, ``timestamp_format``, ``in_turn``, ``follow``,
            ``end_marker``, ``on_malformed``.

    Raises:
        SourceError: there is no such file, it has no such column, or an argument cannot be.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        fields: Sequence[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        types: Mapping[str, Type] | None = None,
        typed: bool = False,
        delimiter: str = ",",
        quote: str = '"',
        encoding: str = "utf-8",
        field_limit: int = FIELD_LIMIT,
        **options: Any,
    ) -> None:
        super().__init__(path, **options)
        self._encoding = checked_encoding(encoding)
        self._form = _form(delimiter, quote, field_limit)
        self._named = None if fields is None else list(fields)
        known = self._named or self._header()
        self._fields = list(known) if columns is None else list(columns)
        for name in self._fields:
            if name not in known:
                raise SourceError(f"columns: {unknown('column', name, known)}")
        self._time_index(known)
        self._columns = columns_of(self._fields, types, of_text=True)
        self._types = dict(types or {})
        self._outputs = self._streams(self._fields, plain_types(self._fields, types) if typed else None)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The columns."""
        return self._outputs

    def _reading(self) -> tuple[object, ...]:
        types = {
            name: kind if isinstance(kind, str) else kind.__qualname__ for name, kind in self._types.items()
        }
        dialect: dict[str, Any] = {"delimiter": self._form.delimiter, "quotechar": self._form.quote}
        if self._refusals.choice != "error" and self._form.limit != FIELD_LIMIT:
            dialect["limit"] = self._form.limit  # which says how many records there are
        return (*super()._reading(), self._named, sorted(types.items()), dialect, self._encoding)

    def _header(self) -> list[str]:
        sample = self._sample
        if sample is None:
            raise SourceError(
                f"{self._paths[0]} is empty, so nobody knows the columns: name them (fields=[...])"
            )
        with self._reading_of(sample), closing(self._batches(sample, 1)) as batches:
            first = next(batches, self._nothing)
        if first is None:
            raise SourceError(
                f"{sample.path} has no whole line, so nobody knows the columns: name them (fields=[...])"
            )
        return self._names(sample, first)

    def _names(self, file: SourceFile, batch: Batch) -> list[str]:
        """The names of the columns of a file, as `fields` or the first record has them."""
        if self._named is not None:
            return self._named
        if batch.problem is not None and not batch.records:
            raise SourceError(f"{file.path}:1: {batch.problem}")
        names = [name.strip() for name in (batch.records[0] if batch.records else [])]
        twice = {name for name in names if names.count(name) > 1}
        if not names or twice or "" in names:
            found = "it is empty" if not names else f"found {names}"
            raise SourceError(
                f"{file.path}:1: expected a line with the name of each column, all different: {found}"
            )
        return names

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        table, end = None, 0
        for batch in self._batches(file, self._block_rows):
            if batch is None:
                yield None
                continue
            if table is None:
                table = self._table(file, batch)
                batch = batch if self._named is not None else batch.behind_first()
            start, end = end, end + len(batch.records)
            if end > first:
                yield table.portion(batch, start, max(first - start, 0))
            if batch.problem is not None:
                end += 1
                if end > first:
                    yield self._unreadable(file, batch, start)
        if table is None:
            self._table(file, self._nothing)
        yield Portion([], (), None, end)

    def _table(self, file: SourceFile, first: Batch) -> _Table:
        """Return the maker of the rows of a file that begins with these records, which contain the names."""
        names = self._names(file, first)
        for name in self._fields:
            if name not in names:
                raise SourceError(
                    f"{file.path}:1: no column {name!r}: expected it as in the first file, found "
                    f"{one_of(names)}"
                )
        return _Table(self, file, names)

    @property
    def _nothing(self) -> Batch:
        return Batch([], (), 1, self._form)

    def _unreadable(self, file: SourceFile, batch: Batch, start: int) -> Portion:
        """A record that is none at all, behind a batch whose first record has this number."""
        number = start + len(batch.records)
        error = ValueError(batch.problem)
        refused = self._refuse(file, number, error, lambda number: batch.raw(number - start))
        return Portion([], (), None if self._event_time is None else (), number + 1, refused)

    def _batches(self, file: SourceFile, most: int) -> Generator[Batch | None]:
        """The records of a file, its line of names included; None where there is nothing more for now."""
        if self._growing is not None:
            texts = self._growing.texts(file, self._encoding, translates=False)
            yield from appended_records(texts, self._form, most)
        else:
            with opened_text(file, self._encoding, newline="") as text:
                yield from records_of(text, self._form, most)

    def _place(self, file: SourceFile, number: int) -> str:
        """The file and the line in which a record begins, for which the file is read again."""
        left = number + (self._named is None)
        with opened_text(file, self._encoding, newline="") as text:
            for batch in records_of(text, self._form, self._block_rows):
                have = len(batch.records) + (batch.problem is not None)
                if left < have:
                    return self._line(file, batch.raw(left)[0])
                left -= have
        return file.path


class _Table:
    """Makes the rows of one file.

    Args:
        source: what is wanted.
        file: the file.
        names: its columns.
    """

    def __init__(self, source: CsvSource, file: SourceFile, names: Sequence[str]) -> None:
        self._source = source
        self._file = file
        self._names = names
        self._wanted = [names.index(name) for name in source._fields]
        self._columns = source._columns
        self._event_time = source._event_time
        self._time_index = source._time_index(names)

    def portion(self, batch: Batch, start: int, skipped: int) -> Portion:
        """The rows of a batch.

        Args:
            batch: the records.
            start: the number of the first one.
            skipped: how many of them are left out.
        """
        records, first = batch.records[skipped:], start + skipped
        try:
            columns = list(zip(*records, strict=True))
            if len(columns) != len(self._names):
                raise ValueError("another number of values")
            values = [
                columns[index] if column is None else column.many(columns[index])
                for index, column in zip(self._wanted, self._columns, strict=True)
            ]
            times = None
            if self._event_time is not None and self._time_index is not None:
                times = self._event_time.many(columns[self._time_index])
        except Exception:  # of a user's function, perhaps: which record it was, and why, is told then
            return self._source._sifted(
                self._file, records, first, self._row, lambda number: batch.raw(number - start)
            )
        return Portion(
            list(zip(*values, strict=True)), range(first, first + len(records)), times, first + len(records)
        )

    def _row(self, record: list[str]) -> tuple[tuple[Any, ...], int | None] | None:
        if not record:
            return None
        if len(record) != len(self._names):
            shown = ", ".join(record[:12])
            raise ValueError(f"expected {len(self._names)} values, found {len(record)}: {shown:.200}")
        row = tuple(
            record[index] if column is None else column.one(record[index])
            for index, column in zip(self._wanted, self._columns, strict=True)
        )
        if self._event_time is None or self._time_index is None:
            return row, None
        return row, self._event_time.one(record[self._time_index])


def _form(delimiter: str, quote: str | None, limit: int) -> CsvForm:
    """Return the form in which records are written.

    Raises:
        SourceError: they cannot be written so.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 < limit <= sys.maxsize:
        raise SourceError(f"field_limit is {limit!r}: expected a number of characters, e.g. {FIELD_LIMIT:_}")
    told = f"delimiter {delimiter!r}, quote {quote!r}"
    try:
        form = CsvForm(delimiter, quote, limit)
        form.reader([])
    except (TypeError, ValueError) as error:
        raise SourceError(f"{told}: {error}") from None
    if delimiter == quote or {delimiter, quote} & {"\r", "\n"}:
        raise SourceError(f"{told}: expected two characters that differ, and no end of a line")
    return form
