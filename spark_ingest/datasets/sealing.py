"""Making a folder of Parquet files a dataset: their footers say what is in them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from spark_ingest.datasets import manifest as manifests
from spark_ingest.datasets.dataset import Dataset, digests
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
    """Write the manifest of a folder whose Parquet files are complete.

    Args:
        folder: where the files are, and the manifest comes.
        streams: of each stream, its files in order, relative to the folder. Each has the column `TIME` first,
            never decreasing, with statistics.
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
    """Rows, earliest and latest time of each row group."""
    import pyarrow.parquet

    found = pyarrow.parquet.read_metadata(path)
    if found.schema.names[:1] != [TIME]:
        raise DatasetError(f"{path}: the first column is {found.schema.names[:1]}, expected {TIME!r}")
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    spans = [(group.num_rows, group.column(0).statistics) for group in groups if group.num_rows]
    if any(statistics is None or not statistics.has_min_max for _, statistics in spans):
        raise DatasetError(f"{path}: a row group has no statistics for {TIME!r}, which readers seek by")
    return [(rows, statistics.min, statistics.max) for rows, statistics in spans]


def _check_sorted(path: Path, spans: Sequence[tuple[int, int]]) -> None:
    for (_, before), (low, _) in pairwise(spans):
        if low < before:
            raise DatasetError(f"{path} is not sorted by {TIME!r}: {low} follows {before}")
