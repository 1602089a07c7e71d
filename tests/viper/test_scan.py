"""Scans in C and in NumPy find the rows that a loop finds, of every type, wherever blocks end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from viper.scan import TYPES, ColumnTest, CScan, NumpyScan, holding

LENGTHS = (0, 1, 63, 64, 65, 200)


def drawn_test(draw: Any, dtype: np.dtype[Any]) -> ColumnTest:
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        near = st.one_of(st.integers(-5, 5), st.sampled_from([int(limits.min), int(limits.max)]))
        return ColumnTest(draw(near), draw(near))
    numbers = st.sampled_from([-2.5, -0.1, 0.0, 0.1, 1.0, 3.3])
    value, width = (float(dtype.type(draw(numbers))) for _ in range(2))
    return ColumnTest(value, abs(width), True) if draw(st.booleans()) else ColumnTest(value, width)


def elements(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return st.one_of(st.integers(-5, 5), st.sampled_from([int(limits.min), int(limits.max)]))
    width = dtype.itemsize * 8
    special = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0]
    return st.one_of(st.floats(-4, 4, width=width), st.sampled_from(special))  # type: ignore[arg-type]


@st.composite
def cases(draw: Any) -> tuple[list[Any], list[ColumnTest], int, int]:
    types = draw(st.lists(st.sampled_from([np.dtype(name) for name in TYPES]), min_size=1, max_size=3))
    length = draw(st.sampled_from(LENGTHS))
    columns = [draw(arrays.arrays(dtype, length, elements=elements(dtype))) for dtype in types]
    first = draw(st.integers(0, length))
    return columns, [drawn_test(draw, dtype) for dtype in types], first, draw(st.integers(first, length))


def holds(value: Any, test: ColumnTest) -> bool:
    low, high = type(value)(test.low), type(value)(test.high)
    if test.is_band:
        with np.errstate(invalid="ignore"):
            return bool(abs(value - low) <= high)
    return bool(low <= value <= high)


@given(cases())
def test_scans_find_what_a_loop_finds(case: tuple[list[Any], list[ColumnTest], int, int]) -> None:
    columns, tests, first, end = case
    expected = [
        index
        for index in range(first, end)
        if all(holds(column[index], test) for column, test in zip(columns, tests, strict=True))
    ]
    assert CScan(columns).find(tests, first, end) == expected
    assert NumpyScan(columns).find(tests, first, end) == expected


def test_a_band_of_floats_is_decided_in_their_width() -> None:
    """In 32 bits 1.1 and 0.1 lie 1 apart, in 64 bits the same two numbers do not."""
    narrow = np.array([1.1], np.float32)
    low = float(np.float32(0.1))
    assert CScan([narrow]).find([ColumnTest(low, 1.0, True)], 0, 1) == [0]
    assert NumpyScan([narrow]).find([ColumnTest(low, 1.0, True)], 0, 1) == [0]
    assert not holding(narrow.astype(np.float64), ColumnTest(low, 1.0, True)).any()


def test_a_scan_beyond_the_rows_is_refused() -> None:
    with pytest.raises(IndexError, match="there are 3 rows"):
        CScan([np.zeros(3, np.int32)]).find([ColumnTest(0, 0)], 0, 4)
