"""A last row for each stream, by which whoever reads it knows that nothing is missing.

A Python function that Spark feeds with batches cannot tell the end of its input from a task that is being
killed, or whose input has failed: both look like the end of the iterator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_ingest.job.stream_spec import HASH, TIME

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

END_US = 2**63 - 1
"""The time of the last row, which is later than every other; all else in it is null."""


def with_ends(rows: DataFrame, number: Column, streams: int) -> tuple[DataFrame, Column]:
    """Rows, and a last one for each stream.

    Args:
        rows: they have a column `TIME`.
        number: what Spark hashes to divide them.
        streams: into how many.

    Returns:
        The rows with the last ones, and what Spark is to hash of them.
    """
    from pyspark.sql import functions as F

    ends = ", ".join(f"({END_US}L, {found}L)" for found in _one_of_each(rows.sparkSession, streams))
    last = rows.sparkSession.sql(f"SELECT * FROM VALUES {ends} AS ends({TIME}, {HASH})")
    numbered = rows.withColumn(HASH, number)
    # By position: Spark fills in missing columns by names that it takes apart at their dots.
    filled = [
        F.col(own.name) if own.name in last.columns else F.lit(None).cast(own.dataType).alias(own.name)
        for own in numbered.schema
    ]
    return numbered.union(last.select(*filled)), F.col(HASH)


def _one_of_each(spark: SparkSession, streams: int) -> list[int]:
    """For each stream a number that Spark's hash sends there."""
    from pyspark.sql import functions as F

    found: dict[int, int] = {}
    tried = 64
    while len(found) < streams:
        tried *= 4
        stream = F.pmod(F.hash("id"), F.lit(streams))
        rows = spark.range(tried).groupBy(stream.alias("stream")).agg(F.min("id")).collect()
        found = {int(row[0]): int(row[1]) for row in rows}
    return list(found.values())
