"""The numbers that a table gives to the keys of Arrow columns, and masks as ends; beside a dict and a sum."""

from __future__ import annotations

import itertools
import sys
from array import array
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.rows import SlotTable, bits_of_mask, ends_of_bits

# Few letters, so that keys of the same length differ in one place only; and of all lengths around 8.
TEXTS = (
    st.text("ab\0é", max_size=4)
    | st.integers(0, 40).map("x".__mul__)
    | st.integers(0, 99).map("a long key {}".format)
)
INTEGERS = (
    st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([k << 32 for k in range(9)])
)
FAMILIES: dict[str, tuple[list[pa.DataType], st.SearchStrategy[Any]]] = {
    "integers": ([pa.int64()], INTEGERS),
    "small": (
        [pa.int8(), pa.int16(), pa.uint32(), pa.int32(), pa.uint8(), pa.uint16(), pa.int64()],
        st.integers(0, 127),
    ),
    "strings": ([pa.string(), pa.large_string()], TEXTS),
    "binaries": ([pa.binary(), pa.large_binary()], TEXTS.map(str.encode)),
}


def numbers(table: SlotTable, column: pa.Array) -> list[int]:
    found = table.of(column)
    assert found is not None
    return array("I", found).tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_keys_are_numbered_as_a_dict_would(family: str, data: st.DataObject) -> None:
    kinds, values = FAMILIES[family]
    table, seen = SlotTable(), dict[Any, int]()
    for _ in range(data.draw(st.integers(1, 4))):
        keys = data.draw(st.lists(values | st.none(), max_size=30))
        first = data.draw(st.integers(0, len(keys)))
        column = pa.array(keys, data.draw(st.sampled_from(kinds)))[first:]
        assert numbers(table, column) == [seen.setdefault(key, len(seen)) for key in keys[first:]]
    assert table.keys() == list(seen)
    assert len(table) == len(seen)


@pytest.mark.parametrize("make", [lambda n: n, lambda n: f"{n:x}", lambda n: f"with more bytes {n}"])
def test_a_table_grows(make: Any) -> None:
    table, keys = SlotTable(), [make(number) for number in range(20_000)]
    assert numbers(table, pa.array(keys)) == list(range(20_000))
    assert numbers(table, pa.array(keys[::-7])) == list(range(20_000))[::-7]
    assert table.keys() == keys


@pytest.mark.parametrize(
    "other",
    [
        pa.array(["1"]),
        pa.array([True]),
        pa.array([1.0]),
        pa.array([1], pa.uint64()),
        pa.array([[1]]),
        pa.array([1]).dictionary_encode(),
        pa.array([1], pa.date32()),
        pa.array([None]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_table_of_integers_leaves_keys_of_other_types_alone(other: pa.Array) -> None:
    table = SlotTable()
    numbers(table, pa.array([5, None]))
    assert table.of(other) is None
    assert table.keys() == [5, None]


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(AttributeError):
        SlotTable().of([1])
    with pytest.raises(TypeError):
        SlotTable(1)  # type: ignore[call-arg]


@given(st.lists(st.sampled_from([True, False, None]), max_size=200), st.integers(0, 20), st.integers(0, 20))
def test_a_mask_tells_how_many_are_kept_up_to_each_row(
    mask: list[bool | None], first: int, less: int
) -> None:
    part = slice(first, max(len(mask) - less, first))
    kept = list(map(bool, mask[part]))
    bits = bits_of_mask(pa.array(mask, pa.bool_())[part])
    assert len(bits) == (len(kept) + 63) // 64 * 8
    assert int.from_bytes(bits, sys.byteorder) == sum(bit << index for index, bit in enumerate(kept))
    ends = array("I", ends_of_bits(bits, len(kept)))
    assert ends.tolist() == list(itertools.accumulate(kept))


def test_a_mask_holds_bools() -> None:
    with pytest.raises(TypeError, match="expected b"):
        bits_of_mask(pa.array([1]))


def test_bits_for_so_many_inputs_are_needed() -> None:
    with pytest.raises(ValueError, match="8 bytes of bits for 65 inputs"):
        ends_of_bits(bytes(8), 65)
