"""Rows between two stages: each with its position as sortable bytes, and its values pickled.

| column | type | holds |
|---|---|---|
| ``_position`` | binary | 24 bytes that compare as positions do |
| ``_stream`` | int | index of the row's stream among those that its component declares |
| ``_row`` | binary | the values; pickled, so that what is emitted is what arrives |
| ``_key0``, ... | int | for each grouping by fields of these rows, the bucket of the key |
"""

from __future__ import annotations

import pickle
import sys
from array import array
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any

from framework.model.positions import Position

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]
POSITION, STREAM, ROW = "_position", "_stream", "_row"
SOURCE = "_source"
"""On the way into a bolt, in place of the keys: index of the component that a row comes from."""
_SIZE = 24
_SORTABLE = Struct(">QQQ")
_OFFSET = 1 << 63
"""Added to the timestamp, which is signed, so that its bytes compare as it does."""


def key_column(number: int) -> str:
    """Name of the column with the buckets of one grouping."""
    return f"_key{number}"


def sent_schema(keys: int) -> str:
    """Spark's schema of the rows that a stage sends on, by the number of their groupings."""
    columns = [f"{POSITION} binary", f"{STREAM} int", f"{ROW} binary"]
    return ", ".join(columns + [f"{key_column(number)} int" for number in range(keys)])


def sortable(packed: bytes) -> pa.Array:
    """Positions as `Positions.to_bytes` packs them, as a column."""
    import pyarrow as pa

    words = array("Q", packed)
    words[0::3] = array("Q", [ts ^ _OFFSET for ts in words[0::3]])
    if sys.byteorder == "little":
        words.byteswap()
    count = len(packed) // _SIZE
    offsets = array("i", range(0, _SIZE * count + 1, _SIZE))
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(words)])


def positions_of(column: pa.Array) -> list[Position]:
    """The positions of such a column."""
    return [Position(ts - _OFFSET, hi, lo) for ts, hi, lo in map(_SORTABLE.unpack, column.to_pylist())]


def sent_batch(
    packed: bytes, tags: Sequence[int], rows: Sequence[Row], keys: Sequence[Sequence[int]]
) -> pa.RecordBatch:
    """A batch of rows that are sent on.

    Args:
        packed: positions, as `Positions.to_bytes` packs them.
        tags: the stream of each row.
        rows: the values.
        keys: for each grouping the bucket of each row.
    """
    import pyarrow as pa

    pickled = [pickle.dumps(row, pickle.HIGHEST_PROTOCOL) for row in rows]
    columns = [sortable(packed), pa.array(tags, pa.int32()), pa.array(pickled, pa.binary())]
    columns += [pa.array(buckets, pa.int32()) for buckets in keys]
    names = [POSITION, STREAM, ROW, *(key_column(number) for number in range(len(keys)))]
    return pa.RecordBatch.from_arrays(columns, names)


def unpickled(column: pa.Array) -> Iterator[Row]:
    """The values of a column of rows."""
    return map(pickle.loads, column.to_pylist())
