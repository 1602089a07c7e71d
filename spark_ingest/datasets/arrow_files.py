"""Arrow files of a dataset (Arrow's IPC file format), which are mapped into memory and need no decoding.

Arrow's format has no checksums. So each record batch has those of its columns beside it, of what a reader
finds in its buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import pyarrow as pa

from framework.model.columns import xxh64
from spark_ingest.datasets.row_files import Limits
from spark_ingest.job.stream_spec import TIME

CHECKSUMS = b"xxh64"
"""The key of a record batch's own metadata whose value is a checksum for each column, in hexadecimal."""


class ArrowRows:
    """An open Arrow file; see `RowFile`. Its groups are record batches.

    Args:
        path: the file.
        groups: how many rows they have, where that is known.
    """

    def __init__(self, path: Path, groups: Sequence[int] | None = None) -> None:
        self._path = path
        self._known_groups = groups
        # It is mapped for each reader anew, so that what has been read is let go with the last batch of it.
        self._mapped = pa.memory_map(str(path))
        try:
            self._file = pa.ipc.open_file(self._mapped)
        except BaseException:
            self._mapped.close()
            raise
        self.schema: pa.Schema = self._file.schema

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file."""
        return cls(path)

    @cached_property
    def groups(self) -> Sequence[int]:
        """Each batch has to be read, 60 us."""
        if self._known_groups is not None:
            return self._known_groups
        file = pa.ipc.open_file(self._mapped, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        return [file.get_batch(group).num_rows for group in range(file.num_record_batches)]

    def again(self) -> Self:
        """The same file, without looking at all of its batches again."""
        return type(self)(self._path, self.groups)

    def limits(self, group: int) -> Limits | None:
        """As its first and its last row say."""
        times = self._file.get_batch(group).column(self.schema.get_field_index(TIME))
        return Limits(times[0].as_py(), times[-1].as_py()) if len(times) else None

    def batches(self, group: int, columns: Sequence[str], most_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of a record batch, in the memory that the file is mapped into."""
        whole, metadata = self._file.get_batch_with_custom_metadata(group)
        checksums = bytes((metadata or {}).get(CHECKSUMS, b"")).decode().split()
        if len(checksums) != whole.num_columns:
            raise pa.ArrowInvalid(f"record batch {group} has no checksum for each column")
        batch = whole.select(list(columns))
        batch.validate()  # that buffers are as long as arrays say
        for name, column in zip(columns, batch.columns, strict=True):
            if _checksum(column) != checksums[self.schema.get_field_index(name)]:
                raise pa.ArrowInvalid(f"the checksum of column {name!r} in record batch {group} differs")
        for first in range(0, batch.num_rows, most_rows):
            yield batch.slice(first, most_rows)

    def close(self) -> None:
        """Close the file; its memory stays mapped as long as a batch is there."""
        self._mapped.close()


def write_arrow(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write record batches as a file that `ArrowRows` reads.

    Args:
        path: the file; one that is there is written over.
        schema: of the batches.
        batches: each becomes a group.

    Raises:
        OSError: it cannot be written.
    """
    with pa.OSFile(str(path), "wb") as opened, pa.ipc.new_file(opened, schema) as file:
        for batch in batches:
            stored = pa.ipc.read_record_batch(batch.serialize(), schema)  # as a reader finds them
            checksums = " ".join(_checksum(column) for column in stored.columns)
            file.write_batch(stored, custom_metadata={CHECKSUMS: checksums.encode()})


def _checksum(column: pa.Array) -> str:
    """XXH64 of a column's buffers in turn, each of which begins with what came of the last one."""
    found = len(column)
    for buffer in column.buffers():
        found = xxh64(b"" if buffer is None else buffer, found)
    return f"{found:016x}"
