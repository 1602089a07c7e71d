"""K streams of a DataFrame: hash partitions, each sorted by event time, the same whoever splits the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_ingest.job.ends import with_ends
from spark_ingest.job.stream_spec import TIME, StreamSpec, named
from spark_ingest.job.times import timed
from spark_ingest.job.types import chosen_columns, comparable, hashable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def as_streams(df: DataFrame, spec: StreamSpec, ends: bool = False) -> DataFrame:
    """The rows of a DataFrame as `spec.streams` partitions: partition i is stream i.

    The first column is `TIME`, then come the chosen columns. Each partition is sorted by time, then by
    `spec.order`, then by the row itself, so that only rows equal in all of this may be exchanged. Which
    stream a row is in, and where, depends on the rows alone: every master, split of the input and run gives
    the same.

    Args:
        df: rows to split; where it has no column `TIME`, that is made (`spark_ingest.job.times.timed`).
        spec: how.
        ends: whether each stream gets one more row, its last, as `spark_ingest.job.ends` has it.

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
    """What decides among rows of equal time: `spec.order`, then every chosen column."""
    return [*map(named, spec.order), *comparable(df, chosen_columns(df, spec))]
