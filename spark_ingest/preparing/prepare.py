"""Preparing a dataset: a Spark job's streams as files, with a manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.model.topology import did_you_mean, one_of
from spark_ingest.datasets.dataset import Dataset
from spark_ingest.datasets.formats import STORED_AS, Format
from spark_ingest.datasets.publishing import NEW, claimed, publish
from spark_ingest.datasets.sealing import seal
from spark_ingest.engine.failing import understood
from spark_ingest.engine.progress import OnProgress, Progress, followed
from spark_ingest.engine.session import is_local, make_session, sql_settings
from spark_ingest.errors import DatasetError, JobError
from spark_ingest.job.quality import KEEP, KINDS, REFUSE, Counts, Quality, checked
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.job.streams import as_streams
from spark_ingest.job.types import column_types
from spark_ingest.preparing.columns import check_columns_of_files
from spark_ingest.preparing.identity import identity_of_files, identity_of_plan
from spark_ingest.preparing.writing import write_streams

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def prepare(
    source: Source | DataFrame | str | Sequence[str],
    path: str | os.PathLike[str],
    *,
    timestamp: str,
    unit: str = "us",
    streams: int = 4,
    key: Sequence[str] = (),
    order: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    timestamp_format: str | None = None,
    nulls: str = REFUSE,
    duplicates: str = KEEP,
    unparsable: str = REFUSE,
    stored_as: str = "parquet",
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, Any] | None = None,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> Dataset:
    """Make a dataset of what Spark reads, or find that it is there already.

    Args:
        source: where the rows come from; a text or a list of them are files.
        path: the folder. It appears when the dataset is whole; one that was there is then replaced.
        timestamp, unit, streams, key, order, columns, timestamp_format: see `StreamSpec`.
        nulls, duplicates, unparsable: see `Quality`.
        stored_as: ``parquet``, or ``arrow`` for files that take more room, and nothing to decode.
        spark, master, conf: see `make_session`.
        force: prepare it even if nothing has changed since it was prepared last.
        on_progress: called now and then with the progress, from another thread.

    Raises:
        JobError: what is asked for cannot be done, or rows are refused; nothing was written.
        DatasetError: the folder is somebody else's, cannot be written, or another process prepares it.
        SparkError: Spark or Java is missing, or failed; the folder is as it was.
    """
    spec = StreamSpec(
        timestamp=timestamp,
        unit=unit,
        streams=streams,
        key=key,  # type: ignore[arg-type]
        order=order,  # type: ignore[arg-type]
        columns=columns,  # type: ignore[arg-type]
        timestamp_format=timestamp_format,
    )
    stored = _format(stored_as)
    settings = sql_settings(conf, spark)
    job = JobSpec(
        as_source(source),
        spec,
        Quality(nulls=nulls, duplicates=duplicates, unparsable=unparsable),
        conf=settings,
    )
    folder = Path(path).absolute()
    tell = on_progress or (lambda progress: None)
    with claimed(folder) as work:
        request = identity_of_files(job, stored)
        there = None if force else _unchanged(folder, request)
        if there is None:
            job.source.check()
            check_columns_of_files(job.source, job.streams)
            tell(Progress("starting"))
            own = spark or _session_of(job)
            with make_session(master, conf, f"viper prepare {folder.name}", own) as session:
                there = _made(job, stored, session, folder, work, request, force, on_progress)
    return there


def as_source(value: Source | DataFrame | str | Sequence[str]) -> Source:
    """The source that a value stands for: itself, files, or a DataFrame."""
    if isinstance(value, Source):
        return value
    if isinstance(value, (str, os.PathLike, list, tuple)):
        return Source(files=value)  # type: ignore[arg-type]
    return Source.of(value)  # type: ignore[arg-type]


def _session_of(job: JobSpec) -> SparkSession | None:
    return job.source.frame.sparkSession if job.source.frame is not None else None


def _format(stored_as: str) -> Format:
    if stored_as not in STORED_AS:
        raise JobError(
            f"stored_as is {stored_as!r}: expected {one_of(STORED_AS)}{did_you_mean(stored_as, STORED_AS)}"
        )
    return STORED_AS[stored_as]


def _made(
    job: JobSpec,
    stored: Format,
    spark: SparkSession,
    folder: Path,
    work: Path,
    request: str | None,
    force: bool,
    on_progress: OnProgress | None,
) -> Dataset:
    """Read, look for the same there, count, write, and put the new one in place."""
    with understood("preparing"), followed(spark, "counting", on_progress):
        df = job.source.read(spark)
        request = request or identity_of_plan(job, stored, df)
        there = None if force else _unchanged(folder, request)
        if there is not None:
            return there
        rows, counts = checked(df, job.streams, job.quality)
        streams = as_streams(rows, job.streams)
    new = work / NEW
    with understood("preparing"), followed(spark, "writing", on_progress):
        files = write_streams(streams, new, job.streams.streams, stored)
    made = seal(
        new,
        files,
        timestamp=job.streams.timestamp,
        unit=job.streams.unit,
        types=column_types(streams, streams.columns[1:]),
        counts={kind: getattr(counts, kind)._asdict() for kind in KINDS},
        source=_described(job.source),
        request=request,
        spark_version=spark.version,
    )
    _check_rows(made, counts, spark)
    return _placed(new, folder, made)


def _unchanged(folder: Path, request: str | None) -> Dataset | None:
    """The dataset that is there, if it was made by the same request and is whole."""
    if request is None:
        return None
    try:
        there = Dataset.open(folder)
    except DatasetError:
        return None
    return replace(there, reused=True) if there.manifest.request == request else None


def _check_rows(made: Dataset, counts: Counts, spark: SparkSession) -> None:
    if made.rows == counts.rows:
        return
    why = "the source does not give the same rows each time it is read: store them first, as a table or files"
    if not is_local(str(spark.sparkContext.master)):
        why += "; or the executors do not write to this machine's files: choose a folder that all share"
    raise JobError(f"{counts.rows} rows were counted, and {made.rows} arrived: {why}")


def _placed(new: Path, folder: Path, made: Dataset) -> Dataset:
    try:
        publish(new, folder)
    except OSError as error:
        raise DatasetError(f"cannot put the dataset to {folder}: {error.strerror}") from error
    return replace(made, path=folder)


def _described(source: Source) -> dict[str, Any]:
    return {"frame": "a DataFrame made in Python"} if source.frame is not None else source.to_plain()
