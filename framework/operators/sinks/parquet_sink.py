"""Rows as a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.model.errors import SinkError
from framework.model.topology import Stream
from framework.operators.sinks.arrival import shown
from framework.operators.sinks.columns import Chosen
from framework.operators.sinks.file_sink import FileSink
from framework.operators.sinks.sink import Row
from framework.operators.sinks.staging import advised, sync_folder
from viper.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 65_536
"""Rows of a group, whenever they were applied: the bytes of the file depend on the rows alone."""


class ParquetSink(FileSink):
    """Writes a Parquet file, which appears when all input has come; it wants pyarrow.

        ParquetSink("counts.parquet", schema={"word": "string", "count": "int64 not null"})

    Until then the rows lie in NAME.part, as they were taken, so the disk needs room for both.

    Args:
        path: the file; see `FileSink`.
        schema: the type of each column by name, as of a `Stream`; the names choose fields of what comes.

    Raises:
        SinkError: there is no such folder, an unknown type, or pyarrow is missing.
    """

    def __init__(self, path: str, schema: Mapping[str, str]) -> None:
        super().__init__(path)
        try:
            import pyarrow.parquet  # noqa: F401

            from framework.model.columns import Batches
        except ImportError as error:
            raise SinkError(
                f"Parquet files want pyarrow ({error}): pip install '/path/to/viperstorm[columns]'"
            ) from None
        try:
            stream = Stream(schema=schema)
            assert stream.schema is not None
            self._batches = Batches(stream.schema, stream.fields)
            # Parquet has no timestamps in seconds: they become milliseconds, however deep they are nested.
            stored = [str(kind).replace("timestamp[s", "timestamp[ms") for kind in stream.schema.types]
            self._stored = Batches(Schema.of(stored, stream.fields), stream.fields).schema
        except (TypeError, ValueError) as error:
            raise SinkError(f"schema: {error}") from None
        self._fields = stream.fields

    form = "arrow"

    @property
    def layout(self) -> Mapping[str, Any]:
        """As in the base class."""
        schema = self._batches.schema
        types = [f"{field.type}{'' if field.nullable else ' not null'}" for field in schema]
        return {**super().layout, "columns": schema.names, "types": types}

    def choose(self, context: Mapping[str, Any]) -> None:
        """As in the base class."""
        self._chosen = Chosen(context, self._fields)

    def encode(self, rows: Sequence[Row]) -> bytes:
        """Rows as a stream of Arrow's.

        Raises:
            SinkError: a value that is not of its column's type.
        """
        import pyarrow as pa

        chosen = self._chosen.of(rows)
        columns = dict(zip(self._fields, map(list, zip(*chosen, strict=True)), strict=True))
        try:
            batch = self._batches.accepted(columns)
            if not batch.schema.equals(self._stored):
                pa.Table.from_batches([batch]).cast(self._stored)
        except (TypeError, ValueError, pa.ArrowException) as error:
            if len(chosen) > 1:
                for row in rows:
                    self.encode([row])
            raise SinkError(f"a row does not fit the schema: {error}; the row is {shown(rows[0])}") from None
        buffer = pa.BufferOutputStream()
        with pa.ipc.new_stream(buffer, batch.schema) as writer:
            writer.write_batch(batch)
        whole: bytes = buffer.getvalue().to_pybytes()
        return len(whole).to_bytes(8, "little") + whole

    def finish(self) -> None:
        """Make the Parquet file of what was applied, aside, and let it appear."""
        import pyarrow.parquet as pq

        if self._leaves_as_closed():
            return
        aside = self._path.with_name(f"{self._path.name}.new")
        try:
            with pq.ParquetWriter(aside, self._batches.schema) as writer:
                for table in self._groups():
                    writer.write_table(table, row_group_size=GROUP_ROWS)
            with open(aside, "rb") as file:
                os.fsync(file.fileno())
            os.replace(aside, self._path)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise SinkError(f"{self._path}: {advised(error)}") from error
        sync_folder(self._path.parent)
        self._is_finished = True

    def _groups(self) -> Iterator[pa.Table]:
        """All rows, in tables of as many as a group has."""
        import pyarrow as pa

        schema = self._batches.schema
        waiting: list[pa.RecordBatch] = []
        count = 0
        for batch in _stored(self._target):
            waiting.append(batch)
            count += batch.num_rows
            while count >= GROUP_ROWS:
                table = pa.Table.from_batches(waiting, schema)
                yield table.slice(0, GROUP_ROWS)
                waiting = table.slice(GROUP_ROWS).to_batches()
                count -= GROUP_ROWS
        if count:
            yield pa.Table.from_batches(waiting, schema)


def rows_of(entry: bytes) -> list[Row]:
    """The rows of an entry that a sink has staged."""
    import pyarrow as pa

    with pa.ipc.open_stream(entry[8:]) as reader:
        batches = [batch.to_pydict() for batch in reader]
    return [row for columns in batches for row in zip(*columns.values(), strict=True)]


def _stored(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    if path.exists():
        with open(path, "rb") as file:
            while head := file.read(8):
                with pa.ipc.open_stream(file.read(int.from_bytes(head, "little"))) as reader:
                    yield from reader
