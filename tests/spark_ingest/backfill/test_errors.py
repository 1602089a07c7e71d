"""Errors in executors, as the driver reports them; without Spark."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException

from spark_ingest.backfill import BackfillError, understood
from spark_ingest.backfill.errors import ShardError
from spark_ingest.errors import SparkError

TRACE = (
    "An exception was thrown from the Python worker.\nTraceback (most recent call last):\n  File 'x'\n{}\n"
)


def test_executors_without_this_package() -> None:
    said = TRACE.format("ModuleNotFoundError: No module named 'spark_ingest'")
    message = r"'spark_ingest': .* with the extra \[spark\], and name .* spark\.pyspark\.python"
    with pytest.raises(SparkError, match=message), understood("output 'late'"):
        raise PySparkException(said)


def test_executors_without_a_module_of_the_project() -> None:
    said = TRACE.format("ModuleNotFoundError: No module named 'viperfish'")
    with pytest.raises(SparkError, match=r"'viperfish'$"), understood("output 'late'"):
        raise PySparkException(said)


def test_what_a_shard_says() -> None:
    said = TRACE.format(f"spark_ingest.backfill.errors.ShardError: {ShardError('in shard 3: too much')}")
    with (
        pytest.raises(BackfillError, match=r"^output 'late': in shard 3: too much$"),
        understood("output 'late'"),
    ):
        raise PySparkException(said)
