"""The payload of a jumbo tuple that holds columns."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from viper.columns.batches import copied
from viper.columns.lease import Lease
from viper.columns.scalars import Converter, converter, micros, rows_of
from viper.hashing import split
from viper.payload import Payload, Row, Rows
from viper.rows import gather

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from viper.hashing import ArrowColumn

COMMON_BYTES: Final = 32
"""Bytes of a row up to which it need not be known exactly how many there are."""
_FRAME: Final = Struct("=Q")  # bytes of the schema


class Columns:
    """A payload that holds a record batch, which is never changed.

    Slices share its memory.

    Args:
        batch: the record batch.
        lease: what its memory is lent by; None where it is nobody else's.
        row_bytes: the bytes of a row, where all of its columns are of a fixed width; 0 where nobody has added
            them up.
    """

    __slots__ = ("_row_bytes", "batch", "lease")
    mutable = False

    def __init__(self, batch: pa.RecordBatch, lease: Lease | None = None, row_bytes: int = 0) -> None:
        self.batch = batch
        self.lease = lease
        self._row_bytes = row_bytes

    def __len__(self) -> int:
        return self.batch.num_rows  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Columns({len(self)})"

    @property
    def kind(self) -> pa.Schema:
        """The types of the columns."""
        return self.batch.schema

    @property
    def row_bytes(self) -> int:
        """About how many bytes of memory of its own a tuple takes."""
        if self._row_bytes:
            return self._row_bytes
        rows = max(len(self), 1)
        # Of a slice nbytes looks into every column, 10 us; what its memory holds in all is at least as much.
        most = int(self.batch.get_total_buffer_size())
        return max(most // rows, 1) if most <= COMMON_BYTES * rows else max(int(self.batch.nbytes) // rows, 1)

    @property
    def columns(self) -> Sequence[ArrowColumn]:
        """The values field by field as Arrow arrays."""
        return self.batch.columns  # type: ignore[no-any-return]

    @property
    def rows(self) -> list[Row]:
        """The values tuple by tuple, made again at each call."""
        return rows_of(self.batch.columns, len(self), _converters(self.batch.schema))

    def slice(self, first: int, count: int) -> Columns:
        """The values of `count` tuples, from `first` on."""
        if first == 0 and count == self.batch.num_rows:
            return self
        return Columns(self.batch.slice(first, count), self.lease, self._row_bytes)

    def take(self, member: Sequence[int]) -> Columns:
        """The values of those tuples whose entry in `member` is not 0."""
        held = pa.py_buffer(array("H", member))
        wanted = pa.Array.from_buffers(pa.uint16(), len(member), [None, held])
        return Columns(self.batch.filter(wanted.cast(pa.bool_())))

    def ordered(self, order: array[int]) -> Columns:
        """The values in another order."""
        return Columns(self.batch.take(_uint32(order)))

    @classmethod
    def interleaved(cls, payloads: Sequence[Columns], firsts: Sequence[int], chosen: Buffer) -> Columns:
        """The values of several payloads in one order: put together, and gathered, 4 to 14 ns a row."""
        numbers = memoryview(chosen).cast("B").cast("H")
        pairs = zip(payloads, firsts, strict=True)
        parts = [payload.batch.slice(first, len(numbers)) for payload, first in pairs]
        starts = list(itertools.accumulate((part.num_rows for part in parts[:-1]), initial=0))
        order = array("I")
        order.frombytes(gather(starts, numbers))
        return cls(pa.concat_batches(parts)).ordered(order)

    def partition(self, targets: Buffer, parts: int) -> list[Columns]:
        """The values divided into parts, in order: one gather, and a slice for each part."""
        order, bounds = split(targets, parts)
        divided = self.batch.take(_uint32(order))
        pairs = itertools.pairwise(bounds)
        return [Columns(divided.slice(first, end - first)) for first, end in pairs]

    def joined(self, *others: Payload) -> Payload:
        """These values, and those of other payloads after them; rows, where one of these holds rows."""
        parts = [part for part in others if len(part)]
        if not parts:
            return self
        columns = [part for part in parts if isinstance(part, Columns)]
        if len(columns) == len(parts):
            return Columns(pa.concat_batches([self.batch, *(part.batch for part in columns)]))
        return Rows(self.rows).joined(*parts)

    def times(self, field: int, unit: str) -> array[int] | None:
        """The values of a field as times; None where it is no timestamp or int64, or where one has none."""
        return micros(self.batch.column(field), unit)

    def own(self) -> Columns:
        """The same values for one more consumer, which can change none of them."""
        return self

    def lent_out(self) -> Columns:
        """The same values, in a copy that is lent."""
        return lent(memoryview(self.encoded()))

    def apart_from(self, lease: Lease, *, alike: bool) -> Columns:
        """The same values, of which no column lies in memory that is lent: those that do are copied.

        Args:
            lease: what lends the memory.
            alike: whether all of them do if the first does; to check each takes 1 us.
        """
        columns = self.batch.columns
        there = [index for index, one in enumerate(columns[:1] if alike else columns) if lease.has_lent(one)]
        if not there:
            return self
        if alike:
            return Columns(copied(self.batch))
        for index, column in zip(there, copied(self.batch.select(there)).columns, strict=True):
            columns[index] = column
        return Columns(pa.RecordBatch.from_arrays(columns, schema=self.batch.schema))

    def encoded(self) -> bytes:
        """Schema and batch as `decoded` reads them in another process."""
        schema = _schema_bytes(self.batch.schema)
        return b"".join((_FRAME.pack(len(schema)), schema, self.batch.serialize()))


def decoded(buffer: memoryview) -> Columns:
    """The columns of an encoding, copied out of it, so that they can be kept (1 ns a row)."""
    schema, encoded = _parts(buffer)
    body = pa.allocate_buffer(len(encoded))
    memoryview(body).cast("B")[:] = encoded
    return Columns(pa.ipc.read_record_batch(body, schema))


def lent(buffer: memoryview) -> Columns:
    """The columns of an encoding, in its own memory, until their lease has ended."""
    schema, encoded = _parts(buffer)
    lease = Lease(encoded, schema)
    return Columns(lease.batch(), lease)


def _parts(buffer: memoryview) -> tuple[pa.Schema, memoryview]:
    """The schema and the batch of an encoding."""
    (size,) = _FRAME.unpack_from(buffer)
    start = _FRAME.size + size
    return _schema_of(bytes(buffer[_FRAME.size : start])), buffer[start:]


@lru_cache(maxsize=256)
def _converters(schema: pa.Schema) -> list[Converter]:
    return [converter(field.name, field.type) for field in schema]


@lru_cache(maxsize=256)
def _schema_bytes(schema: pa.Schema) -> bytes:
    return bytes(schema.serialize())


@lru_cache(maxsize=256)
def _schema_of(encoded: bytes) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(encoded))


def _uint32(given: Buffer) -> Any:
    """Native uint32 as an Arrow array."""
    held = pa.py_buffer(given)
    return pa.Array.from_buffers(pa.uint32(), held.size // 4, [None, held])
