"""K streams of a DataFrame: hash partitions, each sorted by event time, the same whoever splits the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TIME = "_time_us"
"""The column that a stream is sorted by: event time in microseconds since 1970 UTC. Never null."""

HASH = "_viper_hash"
"""The column of what Spark hashes to divide rows, while they are being divided."""
NTH = "_viper_nth"
"""The column that numbers rows of equal time and key, while they are being looked at."""
RESERVED = (TIME, HASH, NTH)
"""Names that columns of a source cannot have, however they are spelled: to Spark ``A`` is ``a``."""

UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1}
"""Units of a timestamp that is a number, with the microseconds in one (of ``ns``: 1000 make one)."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """How rows become streams. Plain values, so that it can stand in a file and cross to other processes.

    Raises:
        JobError: a value that is none of those allowed.
    """

    timestamp: str
    """The column with the event time: a timestamp, a date, a number in `unit`, or text."""
    unit: str = "us"
    """``s``, ``ms``, ``us`` or ``ns``, where the column is a number."""
    streams: int = 4
    """How many; also the most tasks that can read them. Ties among streams go by their number."""
    key: tuple[str, ...] = ()
    """Rows with equal keys come into the same stream. Without a key, the hash is of the whole row."""
    order: tuple[str, ...] = ()
    """Columns that decide among rows of equal time, before the rest of the row does."""
    columns: tuple[str, ...] | None = None
    """The columns to carry, in this order. None: all."""
    timestamp_format: str | None = None
    """Spark's datetime pattern, where the column is text. None: ISO 8601, in UTC without an offset."""

    def __post_init__(self) -> None:
        for name in ("key", "order", "columns"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        if self.unit not in UNITS:
            raise JobError(f"unit is {self.unit!r}: expected one of {', '.join(UNITS)}")
        if isinstance(self.streams, bool) or not isinstance(self.streams, int) or self.streams < 1:
            raise JobError(f"streams is {self.streams!r}: expected a whole number from 1 upwards")
        if not isinstance(self.timestamp, str) or not self.timestamp:
            raise JobError(f"timestamp is {self.timestamp!r}: expected the name of a column")


def _names(what: str, given: object) -> tuple[str, ...] | None:
    if given is None and what == "columns":
        return None
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Sequence) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise JobError(f"{what} is {given!r}: expected names of columns")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise JobError(f"{what} names {', '.join(map(repr, twice))} more than once")
    if what == "columns" and not names:
        raise JobError("columns is empty: name at least one, or leave it out for all of them")
    return names


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

    from spark_ingest.job.ends import with_ends
    from spark_ingest.job.times import timed
    from spark_ingest.job.types import chosen_columns, comparable, hashable

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
    from spark_ingest.job.types import chosen_columns, comparable

    return [*map(named, spec.order), *comparable(df, chosen_columns(df, spec))]


def named(column: str) -> Column:
    """The column of exactly that name, dots and all."""
    from pyspark.sql import functions as F

    return F.col("`" + column.replace("`", "``") + "`")
