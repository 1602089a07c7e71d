"""Arrow's columns as plain Python values, and record batches as blocks of a spout.

What a value becomes, whatever the column is nested in:

    boolean, integers, floats, text, binary    bool, int, float, str, bytes
    decimal, date, time, interval              Decimal, date, time, timedelta
    timestamp                                  int, in the unit that is asked for, rounded down
    array, struct, map                         tuple; of a struct its values, of a map pairs (key, value)
    null                                       None

All of them are immutable, so they go from task to task without a copy.

Figures are nanoseconds per value on one core, with pyarrow 18 and 26. `to_pylist` is not used where there is
another way: it takes 200 to 450 for any type before pyarrow 26, and 9 to 22 since.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from framework.components.partitioned import Block
from framework.units import PER_SECOND
from spark_ingest.errors import JobError
from spark_ingest.replaying.span import checked_unit

BLOCK_ROWS = 4096
"""Rows of a block. A row of five columns takes 120 to 140 ns in blocks of 512 to 8,192, and 260 to 310 in
blocks of 65,536, whose objects find no room in the caches and in the allocator's memory."""

Converter = Callable[[Any], list[Any]]
"""Makes values of an Arrow array."""

_FORMATS = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float": "f",
    "double": "d",
}
"""The `array` module's letters for Arrow's numbers."""


class Blocks:
    """Makes blocks of record batches, whose first column is `TIME`.

    Args:
        unit: of timestamps among the values: s, ms, us or ns.

    Raises:
        JobError: there is no such unit.
    """

    def __init__(self, unit: str = "us") -> None:
        self._unit = checked_unit(unit)
        self._schema: pa.Schema | None = None
        self._converters: list[Converter] = []

    def expect(self, schema: pa.Schema) -> None:
        """Get ready for batches of a schema.

        Raises:
            JobError: a column is of a type that cannot be carried.
        """
        if self._schema is None or not schema.equals(self._schema):
            self._converters = [_converter(field.name, field.type, self._unit) for field in schema][1:]
            self._schema = schema

    def of(self, batch: pa.RecordBatch) -> Iterator[Block]:
        """The rows of a batch, in order. Streams that take batches would take this one as it is, here.

        Raises:
            JobError: a column of a type, or a timestamp, that cannot be carried.
        """
        self.expect(batch.schema)
        for start in range(0, batch.num_rows, BLOCK_ROWS):
            part = batch.slice(start, BLOCK_ROWS)
            times, *columns = part.columns
            values = [convert(column) for convert, column in zip(self._converters, columns, strict=True)]
            rows = list(zip(*values, strict=True)) if values else [()] * part.num_rows
            yield Block(times_of(times), rows)


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
        found.frombytes(_native(column, "q").cast("B"))
    return found


def _converter(name: str, kind: pa.DataType, unit: str) -> Converter:
    """The function that makes values of a column; the name is for the error."""
    number = _FORMATS.get(str(kind))
    if number is not None:
        return lambda column: _with_nulls(column, _native(column, number).tolist())
    if pa.types.is_timestamp(kind):
        return lambda column: _timestamps(name, column, unit)
    if pa.types.is_dictionary(kind):
        return _Choices(_converter(name, kind.value_type, unit))
    if pa.types.is_nested(kind):
        return _nested(name, kind, unit)
    for is_kind, convert in _CONVERTERS:
        if is_kind(kind):
            return convert
    raise JobError(f"column {name!r} is {kind}, which cannot be carried: cast it, or leave it out by columns")


def _native(column: pa.Array, letter: str) -> memoryview[Any]:
    """The values of an array of fixed width in Arrow's own memory: 7 to 8 as a list, as fast as NumPy's."""
    values: memoryview[Any] = memoryview(column.buffers()[1] or b"").cast("B").cast(letter)  # type: ignore[call-overload]
    return values[column.offset : column.offset + len(column)]


def _with_nulls(column: pa.Array, values: list[Any]) -> list[Any]:
    """None where the column is null: 12 to 16 in all where a tenth is."""
    if column.null_count:
        for place in _native(pc.indices_nonzero(column.is_null()), "Q"):
            values[place] = None
    return values


def _booleans(column: pa.Array) -> list[Any]:
    """Bits as bytes first: 4."""
    return _with_nulls(column, _native(column.cast(pa.uint8()), "?").tolist())


def _objects(column: pa.Array) -> list[Any]:
    """Text and bytes: 22 to 34. What was slower: cutting one long text by the offsets, 80."""
    return column.to_pylist() if _LISTS_ARE_FAST else column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


_LISTS_ARE_FAST = int(pa.__version__.partition(".")[0]) >= 26 or find_spec("numpy") is None
"""Whether `to_pylist` beats the way by NumPy, which pyarrow does not need any more."""


def _plain(column: pa.Array) -> list[Any]:
    return column.to_pylist()  # type: ignore[no-any-return]


def _dates(column: pa.Array) -> list[Any]:
    """Rows that follow each other in time share their dates: 25 by the distinct ones, 700 one by one."""
    return _Choices(_plain)(column.dictionary_encode())


def _decimals(column: pa.Array) -> list[Any]:
    """By their text, which keeps the scale: 220, against 490 by `to_pylist`."""
    return [None if text is None else Decimal(text) for text in _objects(column.cast(pa.string()))]


_CONVERTERS: list[tuple[Callable[[pa.DataType], bool], Converter]] = [
    (pa.types.is_boolean, _booleans),
    (pa.types.is_string, _objects),
    (pa.types.is_large_string, _objects),
    (pa.types.is_binary, _objects),
    (pa.types.is_large_binary, _objects),
    (pa.types.is_date32, _dates),
    (pa.types.is_decimal, _decimals),
    (pa.types.is_time, _plain),
    (pa.types.is_duration, _plain),
    (pa.types.is_null, _plain),
]


class _Choices:
    """Values of a dictionary's indices: 17 to 20.

    That is no faster than making each text anew, but rows then share them: less memory, and one hash for all.
    """

    def __init__(self, convert: Converter) -> None:
        self._convert = convert
        self._dictionary: Any = None
        self._values: list[Any] = []

    def __call__(self, column: pa.DictionaryArray) -> list[Any]:
        """All values."""
        dictionary = column.dictionary
        if self._dictionary is None or not _same_memory(dictionary, self._dictionary):
            self._dictionary, self._values = dictionary, [*self._convert(dictionary), None]
        indices = column.indices
        if indices.null_count:
            indices = indices.fill_null(pa.scalar(len(dictionary), indices.type))
        return list(map(self._values.__getitem__, _native(indices, _FORMATS[str(indices.type)]).tolist()))


def _same_memory(one: pa.Array, other: pa.Array) -> bool:
    """Whether two dictionaries are one. While the older is kept, nothing else has its addresses."""
    addresses = ([buffer and buffer.address for buffer in found.buffers()] for found in (one, other))
    return len(one) == len(other) and one.offset == other.offset and next(addresses) == next(addresses)


def _timestamps(name: str, column: pa.Array, unit: str) -> list[Any]:
    """Integers in the unit, rounded towards the past: 7, and 3 more for a change of unit."""
    have, want = PER_SECOND[column.type.unit], PER_SECOND[unit]
    numbers = column.cast(pa.int64())
    if want < have:
        numbers = _floored(numbers, have // want)
    elif want > have:
        try:
            numbers = pc.multiply_checked(numbers, want // have)
        except pa.ArrowInvalid:
            far = f"column {name!r} has a timestamp that is too far from 1970 to count it in {unit}"
            raise JobError(f"{far}: ask for a coarser unit, e.g. unit={column.type.unit!r}") from None
    return _with_nulls(numbers, _native(numbers, "q").tolist())


def _floored(numbers: pa.Array, divisor: int) -> pa.Array:
    """Rounds down; Arrow's own division rounds towards zero, which is wrong before 1970."""
    lowered = pc.subtract(numbers, divisor - 1)
    return pc.divide(pc.if_else(pc.less(numbers, 0), lowered, numbers), divisor)


def _nested(name: str, kind: pa.DataType, unit: str) -> Converter:
    if pa.types.is_struct(kind):
        fields = [_converter(f"{name}.{field.name}", field.type, unit) for field in kind]
        return lambda column: _structs(column, fields)
    if pa.types.is_map(kind):
        key, item = _converter(name, kind.key_type, unit), _converter(name, kind.item_type, unit)
        return lambda column: _lists(column, lambda pairs: _structs(pairs, [key, item]))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _converter(f"{name}[]", kind.value_type, unit)
        return lambda column: _lists(column, element)
    raise JobError(f"column {name!r} is {kind}, which cannot be carried: cast it, or leave it out by columns")


def _structs(column: pa.StructArray, fields: list[Converter]) -> list[Any]:
    values = [convert(child) for convert, child in zip(fields, column.flatten(), strict=True)]
    rows: list[Any] = list(zip(*values, strict=True)) if values else [()] * len(column)
    return _with_nulls(column, rows)


def _lists(column: Any, element: Converter) -> list[Any]:
    """Cut from the elements of all lists: 210 for lists of two, against 540 by `to_pylist` and `tuple`."""
    if not len(column):
        return []  # which may have no offsets at all, not even the first
    offsets = _native(column.offsets, "i" if column.offsets.type == pa.int32() else "q").tolist()
    first, last = offsets[0], offsets[-1]
    elements = tuple(element(column.values.slice(first, last - first)))
    parts = [elements[start - first : stop - first] for start, stop in itertools.pairwise(offsets)]
    return _with_nulls(column, parts)
