"""Arrow's columns as plain Python values, and record batches as blocks of a spout.

The form of each value, whatever the column is nested in:

    boolean, integers, floats, text, binary    bool, int, float, str, bytes
    decimal, date, time, interval              Decimal, date, time, timedelta
    timestamp                                  int, in the unit that is asked for, rounded down
    array, struct, map                         tuple; of a struct its values, of a map pairs (key, value)
    null                                       None

All of them are immutable, so they go from task to task without a copy.

"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import pyarrow as pa

from framework.model.columns import Converter, ScalarError, converter, native, rows_of
from framework.operators.components.partitioned import Block
from spark_ingest.errors import JobError
from spark_ingest.replaying.span import checked_unit

BLOCK_ROWS = 4096
"""Rows of a block. A row of five columns takes 120 to 140 ns in blocks of 512 to 8,192. It takes 260 to 310
in blocks of 65,536, whose objects find no room in the caches and in the allocator's memory."""


class Blocks:
    """Makes blocks of record batches, whose first column is `TIME`.

    Args:
        unit: of timestamps among the values: s, ms, us or ns.
        typed: whether blocks hold record batches, for a stream with a schema.

    Raises:
        JobError: there is no such unit.
    """

    def __init__(self, unit: str = "us", *, typed: bool = False) -> None:
        self._unit = checked_unit(unit)
        self._typed = typed
        self._schema: pa.Schema | None = None
        self._converters: list[Converter] = []

    def expect(self, schema: pa.Schema) -> None:
        """Get ready for batches of a schema.

        Raises:
            JobError: a column is of a type that cannot be carried.
        """
        if self._schema is None or not schema.equals(self._schema):
            try:
                self._converters = [converter(field.name, field.type, self._unit) for field in schema][1:]
            except ScalarError as error:
                raise JobError(str(error)) from None
            self._schema = schema

    def of(self, batch: pa.RecordBatch) -> Iterator[Block]:
        """The rows of a batch, in order.

        Raises:
            JobError: a column of a type, or a timestamp, that cannot be carried.
        """
        if self._typed:
            yield Block(times_of(batch.column(0)), batch.select(batch.schema.names[1:]))
            return
        self.expect(batch.schema)
        for start in range(0, batch.num_rows, BLOCK_ROWS):
            part = batch.slice(start, BLOCK_ROWS)
            try:
                rows = rows_of(part.columns[1:], part.num_rows, self._converters)
            except ScalarError as error:
                raise JobError(str(error)) from None
            yield Block(times_of(part.column(0)), rows)


def times_of(column: pa.Int64Array) -> array[int]:
    """Event times as an array of 64 bit integers (0.4 ns each, as no int is made).

    Raises:
        JobError: it is of another type, or has nulls.
    """
    if column.type != pa.int64():
        raise JobError(f"the event time is {column.type}, expected int64: cast it")
    if column.null_count:
        raise JobError(f"the event time has {column.null_count} nulls: leave these rows out")
    found = array("q")
    if len(column):
        found.frombytes(native(column, "q").cast("B"))
    return found
