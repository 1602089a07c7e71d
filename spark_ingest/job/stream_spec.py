"""The rules by which rows become streams, as a plain value, and names of columns added on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.common.units import PER_SECOND
from spark_ingest.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import Column

TIME = "_time_us"
"""The column that a stream is sorted by: event time in microseconds since 1970 UTC. Never null."""

HASH = "_viper_hash"
"""The column of what Spark hashes to divide rows, while they are being divided."""
NTH = "_viper_nth"
"""The column that numbers rows of equal time and key, while they are being checked."""
RESERVED = (TIME, HASH, NTH)
"""Names that columns of a source cannot have, however they are spelled: to Spark ``A`` is ``a``."""


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """The rules by which rows become streams: plain values, so that it fits a file and other processes.

    Raises:
        JobError: a value that is none of those allowed.
    """

    timestamp: str
    """The column with the event time: a timestamp, a date, a number in `unit`, or text."""
    unit: str = "us"
    """``s``, ``ms``, ``us`` or ``ns``, where the column is a number."""
    streams: int = 4
    """Their number; also the most tasks that can read them. Ties among streams go by their number."""
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
        if self.unit not in PER_SECOND:
            raise JobError(f"unit is {self.unit!r}: expected one of {', '.join(PER_SECOND)}")
        if isinstance(self.streams, bool) or not isinstance(self.streams, int) or self.streams < 1:
            raise JobError(f"streams is {self.streams!r}: expected a whole number from 1 upwards")
        if not isinstance(self.timestamp, str) or not self.timestamp:
            raise JobError(f"timestamp is {self.timestamp!r}: expected the name of a column")


def _names(what: str, value: object) -> tuple[str, ...] | None:
    if value is None and what == "columns":
        return None
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        raise JobError(f"{what} is {value!r}: expected names of columns")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise JobError(f"{what} names {', '.join(map(repr, twice))} more than once")
    if what == "columns" and not names:
        raise JobError("columns is empty: name at least one, or leave it out for all of them")
    return names


def named(column: str) -> Column:
    """The column of exactly that name, dots and all."""
    from pyspark.sql import functions as F

    return F.col("`" + column.replace("`", "``") + "`")
