"""A file of rows, whatever its format: groups of rows, each of which can be read by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import pyarrow as pa


class Limits(NamedTuple):
    """Event times of a group of rows, in microseconds since 1970 UTC."""

    first_us: int
    last_us: int


class RowFile(Protocol):
    """An open file, for one thread at a time."""

    @property
    def schema(self) -> pa.Schema:
        """Of the batches."""

    @property
    def groups(self) -> Sequence[int]:
        """The number of rows of each group."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file.

        Raises:
            OSError: it cannot be read.
            pyarrow.ArrowException: it is damaged.
        """

    def again(self) -> Self:
        """The same file, opened again, as for another thread; costs less than to open it first."""

    def limits(self, group: int) -> Limits | None:
        """Event times between which all rows of a group lie; None if the file does not say."""

    def batches(self, group: int, columns: Sequence[str], most_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of a group, some columns of them, in batches of so many rows at most.

        Raises:
            OSError: they cannot be read.
            pyarrow.ArrowException: they are damaged.
        """

    def close(self) -> None:
        """Read no more; the batches stay as they are."""
