"""Making a folder of files a dataset: they say themselves what is in them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from spark_ingest.datasets import manifest as manifests
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.datasets.formats import digests
from spark_ingest.datasets.manifest import DataFile, Manifest, ManifestStream
from spark_ingest.datasets.publishing import settle
from spark_ingest.errors import DatasetError
from spark_ingest.job.stream_spec import TIME


def seal(
    folder: str | os.PathLike[str],
    streams: Sequence[Sequence[str]],
    *,
    timestamp: str,
    types: Mapping[str, str],
    unit: str = "us",
    **others: Any,
) -> Dataset:
    """Write the manifest of a folder whose files are complete.

    Args:
        folder: where the files are, and the manifest comes.
        streams: of each stream, its files in order, relative to the folder. Each has the column `TIME` first,
            never decreasing, in Parquet with statistics.
        timestamp: the source's column with the event time.
        types: the other columns in order, each with its type as Spark's SQL writes it.
        unit: of the timestamp column.
        others: further values of a `Manifest`.

    Raises:
        DatasetError: a file that is damaged, or whose statistics say that it is not sorted.
    """
    where = Path(folder).absolute()
    described = tuple(_stream(where, files) for files in streams)
    manifest = Manifest(timestamp, unit, tuple(types), dict(types), described, **others)
    for stream in described:
        for file in stream.files:
            settle(where / file.path)
    manifests.write(where, manifest)
    settle(where)
    return Dataset(where, manifest)


def _stream(folder: Path, names: Sequence[str]) -> ManifestStream:
    files: list[DataFile] = []
    spans: list[tuple[int, int]] = []
    for name in names:
        path = folder / name
        groups = _spans(path)
        rows = sum(rows for rows, _, _ in groups)
        files.append(DataFile(name, path.stat().st_size, rows, *digests(path)))
        spans += [(low, high) for _, low, high in groups]
        _check_sorted(path, spans)
    total = sum(file.rows for file in files)
    return ManifestStream(
        tuple(files), total, spans[0][0] if spans else None, spans[-1][1] if spans else None
    )


def _spans(path: Path) -> list[tuple[int, int, int]]:
    """Rows, earliest and latest time of each group of rows."""
    from spark_ingest.datasets.opening import open_rows

    with closing(open_rows(path)) as file:
        if file.schema.names[:1] != [TIME]:
            raise DatasetError(f"{path}: the first column is {file.schema.names[:1]}, expected {TIME!r}")
        found = [(rows, file.limits(group)) for group, rows in enumerate(file.groups) if rows]
    if any(limits is None for _, limits in found):
        raise DatasetError(f"{path}: a row group has no statistics for {TIME!r}, which readers seek by")
    return [(rows, *limits) for rows, limits in found if limits is not None]


def _check_sorted(path: Path, spans: Sequence[tuple[int, int]]) -> None:
    for (_, before), (low, _) in pairwise(spans):
        if low < before:
            raise DatasetError(f"{path} is not sorted by {TIME!r}: {low} follows {before}")
