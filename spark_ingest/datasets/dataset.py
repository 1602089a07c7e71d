"""A prepared dataset, opened: needs neither Spark nor pyarrow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from spark_ingest.datasets import manifest as manifests
from spark_ingest.datasets.manifest import DataFile, Manifest
from spark_ingest.errors import DatasetError

_MAGIC = b"PAR1"
_CHUNK_BYTES = 1 << 20
_TAIL = len(_MAGIC) + 4
"""At a Parquet file's end: the footer, its length in four bytes (little-endian), the magic."""


class StreamFile(NamedTuple):
    """A stream of a dataset; its partition is its index."""

    files: tuple[str, ...]
    """Parquet files, absolute, to be read one after the other; none where there are no rows."""
    rows: int
    min_us: int | None
    """Event time of the first row, microseconds since 1970 UTC; None without rows."""
    max_us: int | None


@dataclass(frozen=True)
class Dataset:
    """A folder that `prepare` made."""

    path: Path
    manifest: Manifest
    reused: bool = field(default=False, compare=False)
    """From `prepare`: it was there already, and nothing has changed."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Dataset:
        """Open a dataset, and check that its files are those that its manifest speaks of.

        Sizes and footers are compared, not all of the data.

        Raises:
            DatasetError: there is no dataset, or one that is damaged or of a foreign version.
        """
        folder = Path(path).absolute()
        found = manifests.read(folder)
        for stream in found.streams:
            if stream.rows != sum(file.rows for file in stream.files):
                raise DatasetError(f"{folder}: a stream and its files differ in rows; prepare it again")
            for file in stream.files:
                _check(folder, file)
        return cls(folder, found)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns in order, without the time of the streams."""
        return self.manifest.fields

    @property
    def types(self) -> Mapping[str, str]:
        """Of each field, the type as Spark's SQL writes it, e.g. ``bigint``."""
        return self.manifest.types

    @property
    def streams(self) -> tuple[StreamFile, ...]:
        """The streams, by partition."""
        return tuple(
            StreamFile(tuple(str(self.path / f.path) for f in s.files), s.rows, s.min_us, s.max_us)
            for s in self.manifest.streams
        )

    @property
    def rows(self) -> int:
        """In all streams."""
        return self.manifest.rows

    @property
    def min_us(self) -> int | None:
        """The earliest event time, microseconds since 1970 UTC; None without rows."""
        return self.manifest.min_us

    @property
    def max_us(self) -> int | None:
        """The latest event time, microseconds since 1970 UTC; None without rows."""
        return self.manifest.max_us

    @property
    def timestamp(self) -> str:
        """The source's column with the event time."""
        return self.manifest.timestamp

    @property
    def unit(self) -> str:
        """The unit of the timestamp column, where it was a number."""
        return self.manifest.unit

    @property
    def spark_version(self) -> str | None:
        """The Spark that wrote it."""
        return self.manifest.spark_version

    @property
    def source(self) -> Mapping[str, Any]:
        """The source that was read."""
        return self.manifest.source

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Of ``nulls``, ``duplicates`` and ``unparsable``: rows ``found``, ``kept`` and ``dropped``."""
        return self.manifest.counts

    @property
    def fingerprint(self) -> str:
        """Identity of the content, in hexadecimal."""
        return self.manifest.fingerprint


def digests(path: Path) -> tuple[str, str]:
    """SHA-256 of a Parquet file's footer, and of what stands before it, in hexadecimal; reads all of it.

    Raises:
        DatasetError: the file is no Parquet file, or was cut off.
    """
    with path.open("rb") as file:
        start, footer = _footer(file, path)
        file.seek(0)
        content = hashlib.sha256()
        while left := start - file.tell():
            content.update(file.read(min(left, _CHUNK_BYTES)))
    return hashlib.sha256(footer).hexdigest(), content.hexdigest()


def _footer(file: BinaryIO, path: Path) -> tuple[int, bytes]:
    """Where it begins, and what is in it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    start = size - _TAIL - int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or start < len(_MAGIC):
        raise DatasetError(f"{path} is no whole Parquet file; prepare the dataset again")
    file.seek(start)
    return start, file.read(size - _TAIL - start)


def _check(folder: Path, file: DataFile) -> None:
    path = folder / file.path
    try:
        size = path.stat().st_size
        if size != file.bytes:
            raise DatasetError(f"{path} has {size} bytes, expected {file.bytes}: prepare the dataset again")
        with path.open("rb") as opened:
            _, footer = _footer(opened, path)
        if hashlib.sha256(footer).hexdigest() != file.footer:
            raise DatasetError(f"{path} is not the file that the manifest names: prepare it again")
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing: prepare the dataset again") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
