"""A job from the keywords that describe it, the same in Python, in YAML and on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from framework.topology import unknown
from spark_ingest.errors import JobError
from spark_ingest.job.quality import Quality
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec
from spark_ingest.job.stream_spec import StreamSpec

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
        keywords: some of `KEYWORDS`; None is as good as not given.

    Returns:
        The job, and what was given of `BESIDE`.

    Raises:
        JobError: an unknown keyword, no timestamp column, or a value that is refused.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    for name in given:
        if name not in KEYWORDS:
            raise JobError(unknown("keyword of a job", name, KEYWORDS))
    if "timestamp" not in given:
        raise JobError("timestamp is missing: name the column with the event time")
    job = JobSpec(
        Source(**_of(given, _SOURCE)),
        StreamSpec(**_of(given, _STREAMS)),
        Quality(**_of(given, _QUALITY)),
        **_of(given, _JOB),
    )
    return job, _of(given, BESIDE)


def _of(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}
