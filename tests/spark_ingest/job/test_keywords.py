"""The keywords of a job, in one table."""

from __future__ import annotations

import inspect

import pytest

from spark_ingest.direct.feed import DirectFeed
from spark_ingest.errors import JobError
from spark_ingest.job.quality import Quality
from spark_ingest.job.source import Source
from spark_ingest.job.spec import BESIDE, job_of


def test_those_beside_a_topology_are_arguments_of_its_feed() -> None:
    assert set(inspect.signature(DirectFeed).parameters) == {"job", "start", "until", *BESIDE}


def test_each_comes_where_it_belongs() -> None:
    given = {"query": "SELECT 1", "timestamp": "at", "nulls": "drop", "master": "yarn", "listen": "0.0.0.0"}
    job, beside = job_of({**given, "schema": None})
    assert (job.source, job.quality) == (Source(query="SELECT 1"), Quality(nulls="drop"))
    assert (job.streams.timestamp, job.master) == ("at", "yarn")
    assert beside == {"listen": "0.0.0.0"}


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(JobError, match=r"unknown keyword of a job 'listn'.*did you mean 'listen'"):
        job_of({"query": "SELECT 1", "timestamp": "at", "listn": "0.0.0.0"})
