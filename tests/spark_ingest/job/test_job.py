"""Jobs as text, and their streams."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from spark_ingest.errors import JobError, RowsRefused, SparkError
from spark_ingest.job.quality import Quality
from spark_ingest.job.source import Source
from spark_ingest.job.spec import JobSpec, from_json, streams_of, to_json
from spark_ingest.job.stream_spec import TIME, StreamSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOB = JobSpec(
    Source(query="select id as at, id % 2 as k from range(5)"),
    StreamSpec("at", unit="s", streams=2, key=("k",), columns=("k", "at")),
    Quality(duplicates="drop"),
    "local[2]",
    {"spark.driver.memory": "1g"},
)


def test_a_job_as_text_and_back() -> None:
    assert from_json(to_json(JOB)) == JOB


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"source": {}}'])
def test_what_is_no_job(text: str) -> None:
    with pytest.raises(JobError, match="no job: "):
        from_json(text)


def test_a_job_that_cannot_be() -> None:
    said = json.loads(to_json(JOB))
    said["streams"]["unit"] = "h"
    with pytest.raises(JobError, match="unit is 'h'"):
        from_json(json.dumps(said))


def test_its_streams(spark: SparkSession) -> None:
    df, counts = streams_of(JOB, spark)
    assert df.columns == [TIME, "k", "at"]
    assert counts.rows == 5
    parts = df.rdd.glom().collect()
    assert sorted(map(tuple, parts[0] + parts[1])) == [(n * 1_000_000, n % 2, n) for n in range(5)]


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        (
            "selec 1",
            SparkError,
            r"the job failed in Spark: \[PARSE_SYNTAX_ERROR\] Syntax error at or near 'se",
        ),
        ("select 1 as at from nowhere", SparkError, r"The table or view `nowhere` cannot be found\."),
        ("select cast('a' as int) as at", SparkError, r"The value 'a' of the type \"STRING\" cannot be cast"),
        ("select if(id = 1, raise_error('lost'), 1) as at from range(2)", SparkError, "lost"),
        ("select null as n, 1L as AT", JobError, "did you mean 'AT'|expected 'AT'"),
        ("select cast(null as int) as at, 2 as k", RowsRefused, "'at' is null in 1 of 1 rows"),
    ],
)
def test_what_fails_is_told_in_a_line(
    spark: SparkSession, capfd: pytest.CaptureFixture[str], query: str, error: type[Exception], message: str
) -> None:
    job = JobSpec(Source(query=query), StreamSpec("at", unit="s"))
    with pytest.raises(error, match=message) as told:
        streams_of(job, spark)
    assert len(str(told.value)) < 600
    assert "\tat " not in str(told.value)
    assert capfd.readouterr().err == ""
