"""Checks for invalid values in a column: a null too many, a time without a form, a text of bytes that spell
none.

Arrow itself checks none of this. A field that is not nullable may hold null, and a date lie in the year
30,000. A time of day may be negative, and a string be cut in the middle of a character.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from viper.columns.fitting import LEAST_SPAN_US, MisfitError
from viper.rows import is_ascii
from viper.schema import ColumnType

Check = Callable[[pa.Array], None]
"""Raises MisfitError for a column that holds what it must not."""

_SECONDS_A_DAY: Final = 86_400
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000}
_FIRST_DAY: Final = -719_162
_LAST_DAY: Final = 2_932_896
"""Days from 1970 to those of the years 1 and 9999 at which a `date` begins and ends."""
_LONGEST_DAYS: Final = 999_999_999
"""The most days of a `timedelta`."""


def check_of(kind: ColumnType, *, is_nested: bool = False) -> Check | None:
    """Choose the check for the columns of a type; None for a type whose columns can hold nothing else."""
    within = within_of(kind)
    if kind.nullable:
        return within

    def check(column: pa.Array) -> None:
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise MisfitError("holds null within a value" if is_nested else f"is null in row {row}")
        if within is not None:
            within(column)

    return check


def within_of(kind: ColumnType) -> Check | None:
    """Choose the check for the values of a column without nulls; None for a type that any value is of."""
    if kind.children:
        return _nested(kind)
    if kind.name == "string":
        return _check_texts
    bounds = _bounds(kind)
    if bounds is None:
        return None
    least, most = bounds
    width = pa.int32() if kind.name in ("date32", "time32") else pa.int64()

    def check(column: pa.Array) -> None:
        found = pc.min_max(column.cast(width))
        for number in (found["min"].as_py(), found["max"].as_py()):
            if number is not None and not least <= number <= most:
                raise MisfitError(f"holds {number}, which is no {kind.name}: from {least} to {most}")

    return check


def _check_texts(column: pa.Array) -> None:
    """Refuse bytes that are no UTF-8, with which the first consumer to look would fail."""
    if _are_ascii(column):
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise MisfitError(f"holds bytes that are no text ({error})") from None


def _are_ascii(column: pa.Array) -> bool:
    """True if no text has any other character: in one go, as Arrow takes 16 ns for each text by itself."""
    _, offsets, data = column.buffers()
    if data is None or not len(column):
        return True
    ends = memoryview(offsets).cast("i")
    first, end = ends[column.offset], ends[column.offset + len(column)]
    return is_ascii(data.slice(first, end - first))


def _bounds(kind: ColumnType) -> tuple[int, int] | None:
    if kind.name == "date32":
        return _FIRST_DAY, _LAST_DAY
    if kind.name in ("time32", "time64"):
        return 0, _SECONDS_A_DAY * _PER_SECOND[kind.unit] - 1
    if kind.name == "duration" and kind.unit == "us":
        return LEAST_SPAN_US, 2**63 - 1
    if kind.name == "duration":
        days = _SECONDS_A_DAY * _PER_SECOND[kind.unit]
        return -_LONGEST_DAYS * days, (_LONGEST_DAYS + 1) * days - 1
    return None


def _nested(kind: ColumnType) -> Check | None:
    checks = [check_of(child, is_nested=True) for _, child in kind.children]
    if not any(checks):
        return None

    def check(column: pa.Array) -> None:
        for look, child in zip(checks, _children(column.drop_null(), kind), strict=True):
            if look is not None:
                look(child)

    return check


def _children(column: Any, kind: ColumnType) -> list[Any]:
    """List the columns nested in a column without nulls, without the values that lie outside of a slice."""
    if kind.name == "struct":
        return column.flatten()  # type: ignore[no-any-return]
    first, last = (column.offsets[place].as_py() for place in (0, -1)) if len(column) else (0, 0)
    items = column.values.slice(first, last - first)
    return [items] if kind.name == "list" else items.flatten()
