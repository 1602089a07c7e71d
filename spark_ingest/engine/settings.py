"""Settings of a session for a moment, so that a job means the same in everybody's session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def set_for_now(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Have these settings within, and those of before afterwards."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, was in before.items():
            if was is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, was)


def utc(spark: SparkSession) -> AbstractContextManager[None]:
    """Expressions that are made within are in UTC: an expression's time zone is fixed when it is analysed."""
    return set_for_now(spark, {"spark.sql.session.timeZone": "UTC"})
