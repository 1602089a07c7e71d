"""Small numbers for keys, and columns as event times."""

from __future__ import annotations

import datetime as dt
from array import array
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.columns.scalars import micros
from viper.columns.slots import KeySlots

NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int64(), [7, 5, 7, None, 5, None], [0, 1, 0, 2, 1, 2]),
        (pa.string(), ["b", "a", "b"], [0, 1, 0]),
        (pa.bool_(), [True, None, False], [0, 1, 2]),
        (pa.float64(), [0.0, NAN, -0.0, NAN], [0, 1, 0, 1]),
        (pa.decimal128(5, 2), [Decimal("1.00"), Decimal("1.00")], [0, 0]),
        (pa.date32(), [dt.date(2020, 1, 1), None], [0, 1]),
        (pa.timestamp("ns", "UTC"), [-(2**63), 0], [0, 1]),
        (pa.list_(pa.float64()), [[NAN], [1.0], [NAN], None, []], [0, 1, 0, 2, 3]),
        (pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": 1}], [0, 0]),
        (pa.string(), [], []),
    ],
)
def test_equal_keys_have_one_number_in_every_call(kind: Any, values: list[Any], expected: list[int]) -> None:
    slots = KeySlots()
    column = pa.array(values, kind)
    assert slots.of("key", column).tolist() == expected
    assert slots.of("key", column).tolist() == expected
    assert slots.of("key", column[1:]).tolist() == expected[1:]
    assert slots.of("key", column).dtype == "uint32"
    assert len(slots) == len(set(expected))


@given(st.lists(st.lists(st.integers(0, 5) | st.none(), max_size=5), max_size=5))
def test_numbers_go_by_the_first_time_however_rows_are_divided(batches: list[list[int | None]]) -> None:
    slots = KeySlots()
    seen: dict[int | None, int] = {}
    for batch in batches:
        expected = [seen.setdefault(key, len(seen)) for key in batch]
        assert slots.of("key", pa.array(batch, pa.int64())).tolist() == expected


def test_equal_keys_of_several_types_have_one_number() -> None:
    slots = KeySlots()
    assert slots.of("key", pa.array([7, 1, None])).tolist() == [0, 1, 2]
    assert slots.of("key", pa.array([1.0, 7.5, None])).tolist() == [1, 3, 2]
    assert slots.of("key", pa.array([True, False])).tolist() == [1, 4]
    assert slots.of("key", pa.array([7, 0], pa.int8())).tolist() == [0, 4]
    assert slots.of("key", pa.array(["7"])).tolist() == [5]
    assert len(slots) == 6


PER_MICROSECOND = {"s": (1_000_000, 1), "ms": (1_000, 1), "us": (1, 1), "ns": (1, 1_000)}


@given(
    st.sampled_from(sorted(PER_MICROSECOND)),
    st.booleans(),
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5_000, 5_000) | st.just(-(2**63)), max_size=4),
)
def test_times_are_rounded_down(unit: str, as_timestamps: bool, numbers: list[int]) -> None:
    column = pa.array([0, *numbers], pa.int64())[1:]
    found = micros(
        column.view(pa.timestamp(unit)) if as_timestamps else column, "s" if as_timestamps else unit
    )
    times, per = PER_MICROSECOND[unit]
    expected = [number * times // per for number in numbers]
    if all(abs(time) < 2**62 for time in expected):
        assert found == array("q", expected)
    else:
        assert found is None


@pytest.mark.parametrize(
    "column", [pa.array([1, None]), pa.array([1.5]), pa.array(["1"]), pa.array([1], pa.int32())]
)
def test_what_is_left_to_be_found_out_value_by_value(column: Any) -> None:
    assert micros(column, "us") is None


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()], ids=str)
def test_a_text_has_one_number_wherever_it_lies(kind: pa.DataType) -> None:
    """At the end of the memory a text is read otherwise than where others follow it."""
    texts: list[Any] = ["\0" * size for size in range(20)] + ["abcdefghijklmnop"[:size] for size in range(17)]
    texts += ["b" * size + "c" for size in range(40)] + [None]
    texts = [text.encode() if text is not None and kind == pa.binary() else text for text in texts]
    slots, seen = KeySlots(), dict[Any, int]()
    for number in range(len(texts)):
        for values in (texts[number:], texts[: number + 1], [texts[number]]):
            expected = [seen.setdefault(text, len(seen)) for text in values]
            assert slots.of("key", pa.array(values, kind)).tolist() == expected
