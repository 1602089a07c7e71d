"""K streams of a DataFrame: hash partitions, each sorted by event time, the same whoever splits the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_ingest.job.stream_spec import HASH, TIME, StreamSpec, named
from spark_ingest.job.times import timed
from spark_ingest.job.types import chosen_columns, comparable, hashable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def as_streams(df: DataFrame, spec: StreamSpec, ends: bool = False) -> DataFrame:
    """The rows of a DataFrame as `spec.streams` partitions: partition i is stream i.

    The first column is `TIME`, then come the chosen columns. Each partition is sorted by time, then by
    `spec.order`, then by the row itself, so that only rows equal in all of this may be exchanged. Which
    stream a row is in, and where, depends on the rows alone: every master, split of the input and run gives
    the same.

    Args:
        df: rows to split; where it has no column `TIME`, that is made (`spark_ingest.job.times.timed`).
        spec: how.
        ends: whether each stream gets one more row, its last, as `spark_ingest.job.streams` has it.

    Raises:
        JobError: a column is missing or of a type that cannot be carried, or the timestamp's type is none.
    """
    from pyspark.sql import functions as F

    ready = df if TIME in df.columns else timed(df, spec)
    columns = chosen_columns(ready, spec)
    # A hash of ours below Spark's, so that Spark never takes the source's own partitioning for this one.
    number = F.xxhash64(*hashable(ready, spec.key or columns))
    if ends:
        ready, number = with_ends(ready, number, spec.streams)
    split = ready.repartition(spec.streams, number)
    ordered = split.sortWithinPartitions(F.col(TIME), *map(named, spec.order), *comparable(ready, columns))
    return ordered.select(TIME, *map(named, columns))


def total_order(df: DataFrame, spec: StreamSpec) -> list[Column]:
    """The columns that decide among rows of equal time: `spec.order`, then every chosen column."""
    return [*map(named, spec.order), *comparable(df, chosen_columns(df, spec))]


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
