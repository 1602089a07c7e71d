"""Rows with doubtful timestamps: counted, then kept, dropped or refused."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from framework.model.topology import one_of
from spark_ingest.errors import JobError, RowsRefused
from spark_ingest.job.stream_spec import NTH, TIME, StreamSpec, named
from spark_ingest.job.streams import total_order

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

KINDS = ("nulls", "duplicates", "unparsable")
"""Kinds of doubtful timestamps; a `Quality` and `Counts` have a field for each."""
KEEP, DROP, REFUSE = "keep", "drop", "refuse"
EXAMPLES = 3
EXAMPLE_WIDTH = 200


@dataclass(frozen=True, slots=True)
class Quality:
    """The handling of rows of each kind: ``keep``, ``drop`` or ``refuse``, an error before anything starts.

    Rows without a time that are kept get the smallest time of the data, so they come first; 0 where no row
    has a time.
    """

    nulls: str = REFUSE
    """Rows whose timestamp is null."""
    duplicates: str = KEEP
    """Rows with the time, and the key if there is one, of an earlier row. The first is no duplicate."""
    unparsable: str = REFUSE
    """Rows whose timestamp is not null, but no time from year 1 to 9999."""

    def __post_init__(self) -> None:
        for what in fields(self):
            found = getattr(self, what.name)
            if found not in (KEEP, DROP, REFUSE):
                raise JobError(f"{what.name} is {found!r}: expected {one_of([KEEP, DROP, REFUSE])}")


class Count(NamedTuple):
    """Rows of one kind."""

    found: int = 0
    kept: int = 0
    dropped: int = 0


class Counts(NamedTuple):
    """The result of an inspection."""

    nulls: Count
    duplicates: Count
    unparsable: Count
    rows: int
    """Rows that are left."""
    min_us: int | None = None
    """The earliest time; None where no row has one."""


class _Found(NamedTuple):
    """The number of rows of each kind in the data."""

    nulls: int
    duplicates: int
    unparsable: int
    good: int
    min_us: int | None


def checked(
    df: DataFrame, spec: StreamSpec, quality: Quality, count_duplicates: bool = True
) -> tuple[DataFrame, Counts]:
    """The rows that are to be carried, each with its time in the column `TIME`, and what was found.

    Reads the source once, to count.

    Args:
        df: the source's rows.
        spec: which column is the time, and what the key is.
        quality: what to do.
        count_duplicates: False saves a shuffle where duplicates are kept anyway; they count as none then.

    Raises:
        RowsRefused: there are rows of a kind that is to be refused; names their count and shows some.
        JobError: a column is missing, the timestamp's type is none of those that can be one, or the source is
            a stream.
    """
    from spark_ingest.job.times import timed

    if df.isStreaming:
        raise JobError(
            "the source is a stream (spark.readStream), which has no end: expected data that has one; "
            "a stream can be a spout's own, SparkSpout(..., streaming=True)"
        )
    ready = timed(df, spec)
    found = _inspect(ready, spec, count_duplicates or quality.duplicates != KEEP)
    for kind in KINDS:
        if getattr(quality, kind) == REFUSE and getattr(found, kind):
            raise RowsRefused(_refusal(ready, spec, kind, found), kind, getattr(found, kind))
    return _treated(ready, spec, quality, found), _counts(found, quality)


def _inspect(ready: DataFrame, spec: StreamSpec, duplicates: bool) -> _Found:
    """One aggregation: exact, also where tasks are run again."""
    from pyspark.sql import functions as F

    groups = [F.col(TIME), named(spec.timestamp).isNull().alias("_null")]
    keys = [named(name).alias(f"_key{i}") for i, name in enumerate(spec.key)]
    n = F.col("_n")
    if duplicates:
        grouped = ready.groupBy(*groups, *keys).agg(F.count(F.lit(1)).alias("_n"))
    else:
        grouped = ready.select(*groups, F.lit(1).cast("bigint").alias("_n"))
    good = F.col(TIME).isNotNull()
    row = grouped.agg(
        _sum(F.col("_null"), n).alias("nulls"),
        _sum(good, n - 1).alias("duplicates"),
        _sum(~good & ~F.col("_null"), n).alias("unparsable"),
        _sum(good, n).alias("good"),
        F.min(TIME).alias("min_us"),
    ).first()
    assert row is not None
    return _Found(**row.asDict())


def _sum(condition: Column, value: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.sum(F.when(condition, value)), F.lit(0).cast("bigint"))


def _treated(ready: DataFrame, spec: StreamSpec, quality: Quality, found: _Found) -> DataFrame:
    from pyspark.sql import functions as F

    rows = ready
    if quality.duplicates == DROP and found.duplicates:
        rows = _first_of_each(rows, spec)
    timeless = F.col(TIME).isNull()
    if quality.nulls == DROP and found.nulls:
        rows = rows.where(~(timeless & named(spec.timestamp).isNull()))
    if quality.unparsable == DROP and found.unparsable:
        rows = rows.where(~(timeless & named(spec.timestamp).isNotNull()))
    earliest = F.lit(found.min_us or 0).cast("bigint")
    return rows.withColumn(TIME, F.coalesce(F.col(TIME), earliest))


def _first_of_each(rows: DataFrame, spec: StreamSpec) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    same = Window.partitionBy(F.col(TIME), *map(named, spec.key)).orderBy(*total_order(rows, spec))
    numbered = rows.withColumn(NTH, F.row_number().over(same))
    return numbered.where((F.col(NTH) == 1) | F.col(TIME).isNull()).drop(NTH)


def _refusal(ready: DataFrame, spec: StreamSpec, kind: str, found: _Found) -> str:
    """The message: what is wrong with how many rows, which rows, and what to do."""
    wrong = {
        "nulls": f"{spec.timestamp!r} is null",
        "unparsable": f"{spec.timestamp!r} is no time from year 1 to 9999{_read_as(ready, spec)}",
        "duplicates": f"the time{' and the key are' if spec.key else ' is'} another row's",
    }[kind]
    rows = found.nulls + found.unparsable + found.good
    examples = "".join(f"\n    {_shown(row)}" for row in _examples(ready, spec, kind))
    return (
        f"{wrong} in {getattr(found, kind)} of {rows} rows, and {kind}='refuse': "
        f"say {kind}='drop' or {kind}='keep' to go on. For example{examples}"
    )


def _read_as(ready: DataFrame, spec: StreamSpec) -> str:
    from pyspark.sql.types import NumericType, StringType

    found = ready.schema[spec.timestamp].dataType
    if isinstance(found, NumericType):
        return f" when read in {spec.unit!r}"
    if isinstance(found, StringType):
        return f" when read as {spec.timestamp_format or 'ISO 8601'!r}"
    return ""


def _examples(ready: DataFrame, spec: StreamSpec, kind: str) -> list[Row]:
    """The first few in the total order, so that the message is the same each time."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    time, null = F.col(TIME), named(spec.timestamp).isNull()
    if kind == "duplicates":
        same = Window.partitionBy(time, *map(named, spec.key))
        counted = ready.withColumn(NTH, F.count(F.lit(1)).over(same))
        rows = counted.where((F.col(NTH) > 1) & time.isNotNull()).drop(NTH)
    else:
        rows = ready.where(time.isNull() & (null if kind == "nulls" else ~null))
    keys = [*map(named, spec.key)]
    return rows.orderBy(time, *keys, *total_order(rows, spec)).drop(TIME).limit(EXAMPLES).collect()


def _shown(row: Row) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in row.asDict().items())
    return text if len(text) <= EXAMPLE_WIDTH else text[: EXAMPLE_WIDTH - 3] + "..."


def _counts(found: _Found, quality: Quality) -> Counts:
    def count(kind: str) -> Count:
        rows = getattr(found, kind)
        kept = getattr(quality, kind) == KEEP
        return Count(rows, rows if kept else 0, 0 if kept else rows)

    nulls, duplicates, unparsable = map(count, KINDS)
    dropped = nulls.dropped + duplicates.dropped + unparsable.dropped
    all_rows = found.good + found.nulls + found.unparsable
    return Counts(nulls, duplicates, unparsable, all_rows - dropped, found.min_us)
