"""A prepared dataset, opened: needs neither Spark nor pyarrow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spark_ingest.datasets import manifest as manifests
from spark_ingest.datasets.formats import footer_digest
from spark_ingest.datasets.manifest import DataFile, Manifest
from spark_ingest.errors import DatasetError


class StreamFile(NamedTuple):
    """A stream of a dataset; its partition is its index."""

    files: tuple[str, ...]
    """Its files, absolute, to be read one after the other; none where there are no rows."""
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


def _check(folder: Path, file: DataFile) -> None:
    path = folder / file.path
    try:
        size = path.stat().st_size
        if size != file.bytes:
            raise DatasetError(f"{path} has {size} bytes, expected {file.bytes}: prepare the dataset again")
        if footer_digest(path) != file.footer:
            raise DatasetError(f"{path} is not the file that the manifest names: prepare it again")
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing: prepare the dataset again") from None
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error
