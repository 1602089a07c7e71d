"""The hash of Arrow columns is that of their values, whatever their type, and wherever they lie."""

from __future__ import annotations

import datetime
import math
import os
import struct
import subprocess
import sys
from array import array
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viper.hash_reference import reference_hash
from viper.hashing import hashes_of_columns, stable_hash, targets_of_columns

REPOSITORY = Path(__file__).parents[2]


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    def made(digits: int) -> Decimal:
        return Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), -scale))

    return st.integers(1 - 10**precision, 10**precision - 1).map(made)


INT64 = st.integers(-(2**63), 2**63 - 1)
TYPES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    *(
        (pa.type_for_alias(f"int{n}"), st.integers(-(2 ** (n - 1)), 2 ** (n - 1) - 1))
        for n in (8, 16, 32, 64)
    ),
    *((pa.type_for_alias(f"uint{n}"), st.integers(0, 2**n - 1)) for n in (8, 16, 32, 64)),
    (pa.int64(), st.integers(2**53 - 2, 2**53 + 2)),
    (pa.int64(), st.sampled_from([-(2**63), 2**63 - 1, 2**61 - 1, 2**61, 1 - 2**61, -(2**61), -1, -2])),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.float64(), st.sampled_from([0.0, -0.0, -1.0, math.inf, -math.inf, 5e-324, 2.0**61, 2.0**53])),
    (pa.string(), st.text()),
    (pa.large_string(), st.text()),
    (pa.binary(), st.binary()),
    (pa.large_binary(), st.binary()),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.binary(8), st.binary(min_size=8, max_size=8)),
    *((pa.timestamp(unit), INT64) for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("us", "Europe/Stockholm"), INT64),
    (pa.date32(), st.dates()),
    (pa.decimal128(38, 0), decimals(38, 0)),
    (pa.decimal128(38, 38), decimals(38, 38)),
    (pa.decimal128(20, 6), decimals(20, 6)),
    (pa.decimal128(5, -3), decimals(5, -3)),
    (pa.decimal128(4, 1), decimals(4, 1)),
]
IDS = [f"{number}-{found}" for number, (found, _) in enumerate(TYPES)]


@st.composite
def columns(draw: st.DrawFn, type_of: pa.DataType, values: Any, size: int | None = None) -> Any:
    """An array, often with nulls and at an offset, and its values in Python."""
    counts = {} if size is None else {"min_size": size, "max_size": size}
    held = draw(st.lists(st.one_of(values, st.none()) if draw(st.booleans()) else values, **counts))
    before, behind = (draw(st.lists(values, max_size=12)) for _ in range(2))
    whole = pa.array(before + held + behind, type_of)
    return whole.slice(len(before), len(held)), held


def hashes(*found: Any) -> list[int]:
    return array("Q", hashes_of_columns(found) or b"").tolist()


@pytest.mark.few(7)
@pytest.mark.parametrize(("type_of", "values"), TYPES, ids=IDS)
@settings(max_examples=25)  # of lists, for each of the types
@given(data=st.data())
def test_a_column_hashes_as_its_values(type_of: pa.DataType, values: Any, data: Any) -> None:
    column, held = data.draw(columns(type_of, values))
    assert hashes(column) == [stable_hash(value) for value in held] == [reference_hash(v) for v in held]


@given(data=st.data(), size=st.integers(0, 6), count=st.integers(2, 4), tasks=st.integers(1, 300))
def test_several_columns_hash_as_tuples_of_their_values(data: Any, size: int, count: int, tasks: int) -> None:
    drawn = [data.draw(columns(*data.draw(st.sampled_from(TYPES)), size=size)) for _ in range(count)]
    key = [column for column, _ in drawn]
    expected = [stable_hash(row) for row in zip(*(held for _, held in drawn), strict=True)]
    assert hashes(*key) == expected
    found = array("H", targets_of_columns(key, tasks, 512) or b"").tolist()
    assert found == [hashed % 512 * tasks // 512 for hashed in expected]


@pytest.mark.parametrize("size", [255, 256, 257, 1000])
def test_columns_of_many_rows(size: int) -> None:
    numbers, words = list(range(size)), [f"word {number}" if number % 7 else None for number in range(size)]
    expected = [stable_hash(row) for row in zip(words, numbers, strict=True)]
    assert hashes(pa.array(words), pa.array(numbers)) == expected
    assert hashes(pa.array(numbers, pa.float64())) == [stable_hash(number) for number in numbers]


@given(st.lists(st.one_of(st.none(), st.integers(-99, 99)), min_size=1))
def test_equal_numbers_of_all_types_are_one_key(numbers: Sequence[int | None]) -> None:
    alike = [
        *(pa.array(numbers, pa.type_for_alias(name)) for name in ("int8", "int64", "float32", "float64")),
        pa.array(numbers, pa.timestamp("ms")),
        *(pa.array(numbers, pa.int64()).cast(pa.decimal128(30, scale)) for scale in (0, 2, 7)),
    ]
    assert all(hashes(column) == hashes(alike[0]) for column in alike)


def of_buffers(type_of: pa.DataType, size: int, *buffers: bytes | None, offset: int = 0) -> Any:
    made = [None if data is None else pa.py_buffer(data) for data in buffers]
    return pa.Array.from_buffers(type_of, size, made, offset=offset)


class TestNan:
    def test_it_is_refused_by_its_row(self) -> None:
        column = pa.array([1.0] * 300 + [math.nan, 1.0])
        with pytest.raises(TypeError, match=r"^row 300: nan is no key: it does not equal itself$"):
            hashes_of_columns([column])
        with pytest.raises(TypeError, match=r"^row 290: nan is no key"):
            targets_of_columns([column[10:].cast(pa.float32())], 3, 256)

    def test_it_is_refused_by_its_column(self) -> None:
        with pytest.raises(TypeError, match=r"^row 1, column 1 of the key: nan is no key"):
            hashes_of_columns([pa.array([1, 2]), pa.array([1.0, math.nan])])

    @pytest.mark.parametrize(("type_of", "code"), [(pa.float64(), "d"), (pa.float32(), "f")])
    def test_behind_a_null_it_is_nothing(self, type_of: pa.DataType, code: str) -> None:
        column = of_buffers(type_of, 2, b"\x02", struct.pack(f"2{code}", math.nan, 1.0))
        assert hashes(column) == [stable_hash(None), stable_hash(1)]


def test_buffers_that_are_not_aligned() -> None:
    data = b"x" + struct.pack("3q", 1, 2, 3)
    column = pa.Array.from_buffers(pa.int64(), 3, [None, pa.py_buffer(data)[1:]])
    assert hashes(column) == [stable_hash(number) for number in (1, 2, 3)]


def test_empty_texts_need_no_data() -> None:
    assert hashes(of_buffers(pa.string(), 2, None, bytes(12), b"")) == [stable_hash("")] * 2


@pytest.mark.parametrize("type_of", [pa.string(), pa.int64(), pa.bool_(), pa.binary(3), pa.null()], ids=str)
def test_no_rows(type_of: pa.DataType) -> None:
    assert hashes_of_columns([pa.array([], type_of)]) == b""


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array(["a"]).dictionary_encode(),
        pa.array([1], pa.duration("s")),
        pa.array([1], pa.date64()),
        pa.array([1], pa.time32("s")),
        pa.array([1.0], pa.float16()),
        pa.array([Decimal(1)], pa.decimal256(50, 0)),
    ],
    ids=lambda column: str(column.type),
)
def test_other_types_are_left_to_be_hashed_as_values(column: Any) -> None:
    assert hashes_of_columns([column]) is None
    assert targets_of_columns([pa.array([1]), column], 2, 256) is None


def test_an_array_is_let_go_of() -> None:
    columns = [pa.array(["a", None]), pa.array([1.0, math.nan]), pa.array([[1], [2]])]
    before = [sys.getrefcount(column) for column in columns], pa.total_allocated_bytes()
    for _ in range(100):
        assert hashes_of_columns(columns[:1]) is not None
        assert hashes_of_columns(columns[::2]) is None
        with pytest.raises(TypeError, match="nan"):
            hashes_of_columns(columns[:2])
    assert ([sys.getrefcount(column) for column in columns], pa.total_allocated_bytes()) == before


class TestMistakes:
    def test_columns_of_different_length(self) -> None:
        with pytest.raises(ValueError, match="column 1 of the key has 2 rows, column 0 has 1"):
            hashes_of_columns([pa.array([1]), pa.array([1, 2])])

    def test_no_column(self) -> None:
        with pytest.raises(ValueError, match="a key needs a column"):
            hashes_of_columns([])

    @pytest.mark.parametrize("column", [1, [1, 2], pa.chunked_array([[1]])], ids=["int", "list", "chunked"])
    def test_what_is_no_array(self, column: Any) -> None:
        with pytest.raises(AttributeError, match="__arrow_c_array__"):
            hashes_of_columns([column])

    @pytest.mark.parametrize("exported", [None, (1, 2), (None,)])
    def test_what_exports_something_else(self, exported: Any) -> None:
        class Wrong:
            def __arrow_c_array__(self, requested_schema: object = None) -> Any:
                return exported

        with pytest.raises((TypeError, ValueError)):
            hashes_of_columns([Wrong()])

    @pytest.mark.parametrize("tasks", [0, (1 << 16) + 1])
    def test_tasks_that_cannot_be(self, tasks: int) -> None:
        with pytest.raises(ValueError, match=f"{tasks} tasks"):
            targets_of_columns([pa.array([1])], tasks, 1 << 16)


ROWS = "[('word', 1, 0.5, b'x'), ('Éa', -1, -0.0, b''), (None, 2**60, 1e300, None)]"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_processes_agree(seed: str) -> None:
    code = (
        "import pyarrow as pa; from viper.hashing import hashes_of_columns; "
        f"print(hashes_of_columns([pa.array(list(column)) for column in zip(*{ROWS})]).hex())"
    )
    environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=True
    )
    assert list(array("Q", bytes.fromhex(ran.stdout))) == [stable_hash(row) for row in eval(ROWS)]


def test_dates_are_those_of_the_calendar() -> None:
    days = [datetime.date.min, datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date.max]
    assert hashes(pa.array(days)) == [reference_hash(day) for day in days]
