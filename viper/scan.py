"""Scans of columns: the rows among many for which several conditions hold, in C or in NumPy.

Both decide in the columns' own types, and find the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from viper._backend import ffi, lib

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES: Final = {"int32": 0, "int64": 1, "float32": 2, "float64": 3}
"""The types of columns that can be scanned, by their numbers in C."""
_CHUNK: Final = 1 << 16
"""Rows that NumPy compares together: 256 KiB of 32-bit values, which the cache holds between operations."""


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """The bounds that one condition sets to the values of a column."""

    low: Any
    """The least value; of a band the value in its middle."""
    high: Any
    """The greatest value; of a band its width to either side."""
    is_band: bool = False
    """True if it asks how far a value lies from `low`, which is subtracted in the column's type."""


class CScan:
    """Scans columns in C.

    Args:
        columns: contiguous, of one length and of the types in `TYPES`.
    """

    def __init__(self, columns: Sequence[NDArray[Any]]) -> None:
        self._columns = tuple(columns)
        self._terms: Any = ffi.new("vp_term[]", max(len(columns), 1))
        # Integers first: C looks at the first term of a block alone, and at integers twice as fast.
        self._order = sorted(range(len(columns)), key=lambda index: TYPES[columns[index].dtype.name])
        for term, index in zip(self._terms, self._order, strict=False):
            term.values = ffi.cast("void *", columns[index].ctypes.data)
            term.type = TYPES[columns[index].dtype.name]
        size = len(columns[0]) if columns else 0
        self._found: NDArray[np.uint32] = np.empty(size, np.uint32)
        self._into: Any = ffi.from_buffer("uint32_t[]", self._found.data)

    def find(self, tests: Sequence[ColumnTest], first: int, end: int) -> list[int]:
        """The indexes, ascending, of the rows in [first, end) for which the test of each column holds.

        Raises:
            IndexError: there are not that many rows.
        """
        if not 0 <= first <= end <= len(self._found):
            raise IndexError(f"[{first}, {end}) out of range: there are {len(self._found)} rows")
        for term, index in zip(self._terms, self._order, strict=False):
            test = tests[index]
            term.test = lib.VP_SCAN_BAND if test.is_band else lib.VP_SCAN_RANGE
            if term.type <= lib.VP_SCAN_INT64:
                term.int_low, term.int_high = test.low, test.high
            else:
                term.low, term.high = test.low, test.high
        count = lib.vp_scan(self._terms, len(self._order), first, end, self._into)
        found: list[int] = self._found[:count].tolist()
        return found


class NumpyScan:
    """Scans columns in NumPy, which needs no compiled module; arguments and `find` as of `CScan`."""

    def __init__(self, columns: Sequence[NDArray[Any]]) -> None:
        self._columns = tuple(columns)
        self._room = [np.empty(_CHUNK, column.dtype) for column in columns]
        self._holds = np.empty(_CHUNK, np.bool_)
        self._also = np.empty(_CHUNK, np.bool_)

    def find(self, tests: Sequence[ColumnTest], first: int, end: int) -> list[int]:
        """As `CScan.find`."""
        if not self._columns:
            return list(range(first, end))
        found: list[int] = []
        for start in range(first, end, _CHUNK):
            until = min(start + _CHUNK, end)
            self._hold(0, tests[0], start, until)
            kept = np.flatnonzero(self._holds[: until - start])
            for column, test in zip(self._columns[1:], tests[1:], strict=True):
                kept = kept[holding(column[start:until][kept], test)] if len(kept) else kept
            found += (kept + start).tolist()
        return found

    def _hold(self, index: int, test: ColumnTest, start: int, until: int) -> None:
        """Note for which rows of a chunk a test holds."""
        values, size = self._columns[index][start:until], until - start
        holds, also, room = self._holds[:size], self._also[:size], self._room[index][:size]
        if test.is_band:
            np.subtract(values, values.dtype.type(test.low), out=room)
            np.abs(room, out=room)
            np.less_equal(room, values.dtype.type(test.high), out=holds)
            return
        np.greater_equal(values, values.dtype.type(test.low), out=holds)
        np.less_equal(values, values.dtype.type(test.high), out=also)
        np.logical_and(holds, also, out=holds)


def holding(values: NDArray[Any], test: ColumnTest) -> NDArray[np.bool_]:
    """For which values a test holds."""
    low, high = values.dtype.type(test.low), values.dtype.type(test.high)
    made: NDArray[np.bool_] = (
        np.abs(values - low) <= high if test.is_band else (values >= low) & (values <= high)
    )
    return made
