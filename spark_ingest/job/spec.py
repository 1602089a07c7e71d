"""A whole job as one plain value: what is read, how it becomes streams, and where it runs.

The keywords that describe a job are the same in Python, in YAML and on the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from framework.model.topology import unknown
from spark_ingest.engine.session import LOCAL
from spark_ingest.errors import JobError
from spark_ingest.job.quality import Counts, Quality, checked
from spark_ingest.job.source import Source
from spark_ingest.job.stream_spec import StreamSpec
from spark_ingest.job.streams import as_streams

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class JobSpec:
    """A job that makes streams of a source's rows."""

    source: Source
    streams: StreamSpec
    quality: Quality = field(default_factory=Quality)
    master: str = LOCAL
    """Spark's master: ``local[*]``, ``spark://host:7077``, ``yarn``, ..."""
    conf: Mapping[str, str] = field(default_factory=dict)
    """Spark's configuration, e.g. ``spark.driver.memory: 4g``."""


def to_json(job: JobSpec) -> str:
    """The job as text.

    Raises:
        JobError: its source is a DataFrame of this process.
    """
    content = {
        "source": job.source.to_plain(),
        "streams": asdict(job.streams),
        "quality": asdict(job.quality),
        "master": job.master,
        "conf": dict(job.conf),
    }
    return json.dumps(content, sort_keys=True)


def from_json(text: str | bytes) -> JobSpec:
    """The job that `to_json` wrote.

    Raises:
        JobError: the text holds no job, or one that cannot be.
    """
    try:
        content: dict[str, Any] = json.loads(text)
        source, streams, quality = content["source"], content["streams"], content["quality"]
        return JobSpec(
            Source.from_plain(source),
            StreamSpec(**streams),
            Quality(**quality),
            content["master"],
            content["conf"],
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, JobError):
            raise
        raise JobError(f"no job: {type(error).__name__}: {error}") from error


def streams_of(
    job: JobSpec, spark: SparkSession, count_duplicates: bool = True, what: str = "the job"
) -> tuple[DataFrame, Counts]:
    """The job's streams, as `as_streams` makes them, and what its timestamps were found to be.

    Reads the source once for the counts; the streams are read when the DataFrame is used.

    Args:
        job: the job; its master and configuration are the session's matter.
        spark: where it runs.
        count_duplicates: False saves a shuffle where duplicates are kept anyway.
        what: it is, for messages of Spark's errors.

    Raises:
        JobError: the source, a column or a type is not as the job has it; rows are refused.
        SparkError: Spark failed.
    """
    from spark_ingest.engine.failing import understood

    with understood(what):
        rows, counts = checked(job.source.read(spark), job.streams, job.quality, count_duplicates)
        return as_streams(rows, job.streams), counts


_SOURCE = {found.name for found in fields(Source)} - {"frame"}
_STREAMS = {found.name for found in fields(StreamSpec)}
_QUALITY = {found.name for found in fields(Quality)}
_JOB = {"master", "conf"}
BESIDE = frozenset({"listen", "advertise", "streaming", "once", "slack", "late"})
"""Of a job that runs beside a topology: further arguments of `spark_ingest.direct.feed.DirectFeed`."""
KEYWORDS = BESIDE | _SOURCE | _STREAMS | _QUALITY | _JOB
"""All that describe a job."""


def job_of(keywords: Mapping[str, Any]) -> tuple[JobSpec, dict[str, Any]]:
    """The job that keywords describe.

    Args:
        keywords: some of `KEYWORDS`; one that is None counts as absent.

    Returns:
        The job, and the keywords of `BESIDE` that are there.

    Raises:
        JobError: an unknown keyword, no timestamp column, or a value that is refused.
    """
    chosen = {name: value for name, value in keywords.items() if value is not None}
    for name in chosen:
        if name not in KEYWORDS:
            raise JobError(unknown("keyword of a job", name, KEYWORDS))
    if "timestamp" not in chosen:
        raise JobError("timestamp is missing: name the column with the event time")
    job = JobSpec(
        Source(**_of(chosen, _SOURCE)),
        StreamSpec(**_of(chosen, _STREAMS)),
        Quality(**_of(chosen, _QUALITY)),
        **_of(chosen, _JOB),
    )
    return job, _of(chosen, BESIDE)


def _of(chosen: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: chosen[name] for name in names if name in chosen}
