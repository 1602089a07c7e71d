"""Timestamps of 96 bits, as Spark, Hive and Impala have written them: days, and nanoseconds of the day.

They are read in microseconds, as Spark and DuckDB read them, since nanoseconds reach from 1677 to 2262 only
and far dates such as 9999-12-31 stand for "never". Arrow cuts off finer fractions, and lets times that are
too far wrap, without an error. So the columns are read in two other units as well, which reveal such values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

UNIT: Final = "us"
"""The unit in which they are read."""
OTHER_UNITS: Final = ("ns", "s")
"""The units in which they are read as well: one that is finer and wraps alike, and one that never wraps."""
_FINER: Final = "an INT96 timestamp with nanoseconds, and INT96 is read in microseconds: write timestamp[ns]"
_FAR: Final = "an INT96 timestamp that is too far from 1970 to count it in microseconds"


def columns_of(file: pq.ParquetFile, names: Sequence[str]) -> list[str]:
    """Return the names of the columns that have such timestamps, by themselves or within them."""
    columns = (file.schema.column(index) for index in range(len(file.schema)))
    found = {column.path.partition(".")[0] for column in columns if column.physical_type == "INT96"}
    return [name for name in names if name in found]


class Int96Check:
    """Finds the rows whose timestamps are not what is read of them.

    Args:
        names: the columns that have such timestamps.
        others: record batches of these columns in each of `OTHER_UNITS`.
    """

    def __init__(self, names: Sequence[str], others: Sequence[Iterator[pa.RecordBatch]]) -> None:
        self._names = names
        self._others = list(map(_Rows, others))

    def faults(self, batch: pa.RecordBatch) -> Mapping[int, str]:
        """Return the faults of rows of the next batch, by their index in it."""
        nanos, seconds = [rows.take(batch.num_rows) for rows in self._others]
        faults: dict[int, str] = {}
        for name in self._names:
            columns = (
                batch.column(name),
                nanos.column(name).combine_chunks(),
                seconds.column(name).combine_chunks(),
            )
            if _fault(columns):
                for index in range(batch.num_rows):
                    if why := _fault([column.slice(index, 1) for column in columns]):
                        faults.setdefault(index, f"{name!r} is {why}")
        return faults


def _fault(columns: Sequence[Any]) -> str:
    """Describe the fault in values of a column in microseconds, nanoseconds and seconds; empty if there is
    none."""
    import pyarrow.compute as pc

    from viper.columns.scalars import floored

    for micros, nanos, seconds in zip(*map(_leaves, columns), strict=True):
        if not floored(micros, 1_000_000).equals(seconds):
            return _FAR
        if not pc.multiply(micros, 1000).equals(nanos):  # both wrap alike
            return _FINER
    return ""


def _leaves(column: Any) -> list[Any]:
    """The timestamps in a column as numbers."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        return [column.cast(pa.int64())]
    if pa.types.is_struct(kind):
        return [leaf for child in column.flatten() for leaf in _leaves(child)]
    if pa.types.is_list(kind) or pa.types.is_map(kind):  # as which Parquet has all that holds several
        first, last = (column.offsets[place].as_py() for place in (0, -1)) if len(column) else (0, 0)
        return _leaves(column.values.slice(first, last - first))
    return []


class _Rows:
    """Record batches that are taken by numbers of rows of somebody else's."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._waiting: list[pa.RecordBatch] = []

    def take(self, count: int) -> pa.Table:
        import pyarrow as pa

        while sum(batch.num_rows for batch in self._waiting) < count:
            self._waiting.append(next(self._batches))
        table = pa.Table.from_batches(self._waiting)
        self._waiting = table.slice(count).to_batches()
        return table.slice(0, count)
