"""Columns as Python's values, in the forms that `viper.columns.fitting` names.

All of them are immutable, so they go from task to task without a copy.

Figures are nanoseconds per value on one core, with pyarrow 18 and 26. `to_pylist` is not used where there is
another way: it takes 200 to 450 for any type before pyarrow 26, and 9 to 22 since.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Converter = Callable[[Any], list[Any]]
"""Makes values of an Arrow array."""

_FARTHEST_US = 1 << 62
_SECONDS_A_DAY = 86_400
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class ScalarError(ValueError):
    """A column of a type, or a timestamp, that has no form here."""


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


def rows_of(
    columns: Sequence[pa.Array], count: int, converters: Sequence[Converter]
) -> list[tuple[Any, ...]]:
    """So many rows of columns, with a converter for each of these."""
    values = [convert(column) for convert, column in zip(converters, columns, strict=True)]
    return list(zip(*values, strict=True)) if values else [()] * count


def converter(name: str, kind: pa.DataType, unit: str | None = None) -> Converter:
    """The function that makes values of a column.

    Args:
        name: the column's, for the error.
        kind: its type.
        unit: s, ms, us or ns, in which timestamps are counted, rounded down; None: in their own.

    Raises:
        ScalarError: values of that type have no form here. The returned function raises it for timestamps
            that are too far from 1970 for the unit.
    """
    number = _FORMATS.get(str(kind))
    if number is not None:
        return lambda column: _with_nulls(column, native(column, number).tolist())
    if pa.types.is_timestamp(kind):
        return lambda column: _timestamps(name, column, unit)
    if pa.types.is_dictionary(kind):
        return _Choices(converter(name, kind.value_type, unit))
    if pa.types.is_nested(kind):
        return _nested(name, kind, unit)
    for is_kind, convert in _CONVERTERS:
        if is_kind(kind):
            return convert
    raise _unknown(name, kind)


def _unknown(name: str, kind: pa.DataType) -> ScalarError:
    advice = "cast it, or leave it out by columns"
    return ScalarError(f"column {name!r} is {kind}, which cannot be carried: {advice}")


def native(column: pa.Array, letter: str) -> memoryview[Any]:
    """The values of an array of fixed width in Arrow's own memory: 7 to 8 as a list, as fast as NumPy's."""
    values: memoryview[Any] = memoryview(column.buffers()[1] or b"").cast("B").cast(letter)  # type: ignore[call-overload]
    return values[column.offset : column.offset + len(column)]


def _with_nulls(column: pa.Array, values: list[Any]) -> list[Any]:
    """None where the column is null: 12 to 16 in all where a tenth is."""
    if column.null_count:
        for place in native(pc.indices_nonzero(column.is_null()), "Q"):
            values[place] = None
    return values


def _booleans(column: pa.Array) -> list[Any]:
    """Bits as bytes first: 4."""
    return _with_nulls(column, native(column.cast(pa.uint8()), "?").tolist())


def _objects(column: pa.Array) -> list[Any]:
    """Convert text and bytes: 22 to 34. Slower, at 80: cutting one long text by the offsets."""
    return column.to_pylist() if _LISTS_ARE_FAST else column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


_LISTS_ARE_FAST = int(pa.__version__.partition(".")[0]) >= 26 or find_spec("numpy") is None
"""True if `to_pylist` beats the way by NumPy, which pyarrow does not need any more."""


def _plain(column: pa.Array) -> list[Any]:
    return column.to_pylist()  # type: ignore[no-any-return]


def _days_times(column: pa.Array) -> list[Any]:
    """Times of day: of nanoseconds those that are whole microseconds, as Python's class has no others.

    Raises:
        ScalarError: one is not within a day; `to_pylist` would give that of another day.
    """
    width = pa.int32() if pa.types.is_time32(column.type) else pa.int64()
    most = _SECONDS_A_DAY * _PER_SECOND[column.type.unit] - 1
    for number in pc.min_max(column.cast(width)).as_py().values():
        if number is not None and not 0 <= number <= most:
            raise ScalarError(f"{number} is not within a day: expected 0 to {most}")
    return _plain(column.cast(pa.time64("us")) if column.type == pa.time64("ns") else column)


def _durations(column: pa.Array) -> list[Any]:
    """Durations, likewise, and never a class of pandas."""
    return _plain(column.cast(pa.duration("us")) if column.type == pa.duration("ns") else column)


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
    (pa.types.is_time, _days_times),
    (pa.types.is_duration, _durations),
    (pa.types.is_null, _plain),
]


class _Choices:
    """Values of a dictionary's indices: 17 to 20.

    That is no faster than making each text again, but rows then share them: less memory, and one hash for
    all.
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
        return list(map(self._values.__getitem__, native(indices, _FORMATS[str(indices.type)]).tolist()))


def _same_memory(one: pa.Array, other: pa.Array) -> bool:
    """True if two dictionaries are one. While the older is kept, nothing else has its addresses."""
    addresses = ([buffer and buffer.address for buffer in found.buffers()] for found in (one, other))
    return len(one) == len(other) and one.offset == other.offset and next(addresses) == next(addresses)


def _timestamps(name: str, column: pa.Array, unit: str | None) -> list[Any]:
    """Integers in the unit, rounded towards the past: 7, and 3 more for a change of unit."""
    have, want = _PER_SECOND[column.type.unit], _PER_SECOND[unit or column.type.unit]
    numbers = column.cast(pa.int64())
    if want < have:
        numbers = floored(numbers, have // want)
    elif want > have:
        try:
            numbers = pc.multiply_checked(numbers, want // have)
        except pa.ArrowInvalid:
            far = f"column {name!r} has a timestamp that is too far from 1970 to count it in {unit}"
            raise ScalarError(f"{far}: ask for a coarser unit, e.g. unit={column.type.unit!r}") from None
    return _with_nulls(numbers, native(numbers, "q").tolist())


def micros(
    column: pa.Array, unit: str, first_us: int = 1 - _FARTHEST_US, last_us: int = _FARTHEST_US - 1
) -> array[int] | None:
    """A column as times in microseconds since 1970, rounded down.

    Args:
        column: timestamps, or whole numbers.
        unit: what whole numbers count.
        first_us: the earliest time.
        last_us: the latest time.

    Returns:
        None where it is neither, holds null, or a time is not between these two.
    """
    is_time = pa.types.is_timestamp(column.type)
    if column.null_count or not (is_time or str(column.type) == "int64"):
        return None
    have, want = _PER_SECOND[column.type.unit if is_time else unit], _PER_SECOND["us"]
    numbers = column.cast(pa.int64())
    try:
        if want < have:
            numbers = floored(numbers, have // want)
        else:
            numbers = pc.multiply_checked(numbers, want // have)
    except pa.ArrowInvalid:
        return None
    bounds = pc.min_max(numbers)
    if len(numbers) and not first_us <= bounds["min"].as_py() <= bounds["max"].as_py() <= last_us:
        return None
    found = array("q")
    found.frombytes(native(numbers, "q").cast("B"))
    return found


def chosen(mask: pa.BooleanArray) -> memoryview[int]:
    """The indexes at which a mask is true, in Arrow's own memory."""
    return native(pc.indices_nonzero(mask.fill_null(False) if mask.null_count else mask), "Q")


def floored(numbers: pa.Array, divisor: int) -> pa.Array:
    """Rounds down; Arrow's own division rounds towards zero, which is wrong before 1970."""
    # The quotient is lowered, not the number: that could lie at the least one there is.
    towards_zero = pc.divide(numbers, divisor)
    is_above = pc.greater(pc.multiply(towards_zero, divisor), numbers)
    return pc.subtract(towards_zero, is_above.cast(pa.int64()))


def _nested(name: str, kind: pa.DataType, unit: str | None) -> Converter:
    if pa.types.is_struct(kind):
        fields = [converter(f"{name}.{field.name}", field.type, unit) for field in kind]
        return lambda column: _structs(column, fields)
    if pa.types.is_map(kind):
        key, item = converter(name, kind.key_type, unit), converter(name, kind.item_type, unit)
        return lambda column: _lists(column, lambda pairs: _structs(pairs, [key, item]))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = converter(f"{name}[]", kind.value_type, unit)
        return lambda column: _lists(column, element)
    raise _unknown(name, kind)


def _structs(column: pa.StructArray, fields: list[Converter]) -> list[Any]:
    values = [convert(child) for convert, child in zip(fields, column.flatten(), strict=True)]
    rows: list[Any] = list(zip(*values, strict=True)) if values else [()] * len(column)
    return _with_nulls(column, rows)


def _lists(column: Any, element: Converter) -> list[Any]:
    """Cut from the elements of all lists: 210 for lists of two, against 540 by `to_pylist` and `tuple`."""
    if not len(column):
        return []  # which may have no offsets at all, not even the first
    offsets = native(column.offsets, "i" if column.offsets.type == pa.int32() else "q").tolist()
    first, last = offsets[0], offsets[-1]
    elements = tuple(element(column.values.slice(first, last - first)))
    parts = [elements[start - first : stop - first] for start, stop in itertools.pairwise(offsets)]
    return _with_nulls(column, parts)
