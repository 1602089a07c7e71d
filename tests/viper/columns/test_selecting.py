"""The rows of a batch that a mask keeps, against Arrow's own filter."""

from __future__ import annotations

import gc
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viper.columns.selecting import where
from viper.rows import bits_of_mask, select

COLUMNS: dict[str, Any] = {
    "byte": lambda n: pa.array([i % 100 for i in range(n)], pa.int8()),
    "short": lambda n: pa.array([i % 1000 for i in range(n)], pa.uint16()),
    "half": lambda n: pa.array(range(n), pa.int32()),
    "float": lambda n: pa.array(range(n), pa.float32()),
    "number": lambda n: pa.array(range(n), pa.int64()),
    "value": lambda n: pa.array([i / 3 for i in range(n)], pa.float64()),
    "at": lambda n: pa.array(range(n), pa.timestamp("us", tz="UTC")),
    "day": lambda n: pa.array([date(1970, 1, 1) + timedelta(i) for i in range(n)], pa.date32()),
    "span": lambda n: pa.array(range(n), pa.duration("ms")),
    "time": lambda n: pa.array(range(n), pa.time32("s")),
    "price": lambda n: pa.array([Decimal(i) / 4 for i in range(n)], pa.decimal128(20, 2)),
}
OTHERS: dict[str, Any] = {
    "text": lambda n: pa.array(map(str, range(n))),
    "is_odd": lambda n: pa.array([i % 2 == 1 for i in range(n)]),
    "missing": lambda n: pa.array([None if i % 7 == 0 else i for i in range(n)], pa.int64()),
    "wide": lambda n: pa.array([Decimal(i) for i in range(n)], pa.decimal256(50, 2)),
    "list": lambda n: pa.array([[i] * (i % 3) for i in range(n)]),
}


def batch_of(names: list[str], count: int) -> pa.RecordBatch:
    return pa.record_batch({name: {**COLUMNS, **OTHERS}[name](count) for name in names})


@st.composite
def masks(draw: st.DrawFn) -> list[bool | None]:
    """Runs of rows that are kept or not, long or short."""
    run = st.tuples(st.sampled_from([True, True, False, None]), st.integers(1, 150))
    runs = draw(st.lists(run, max_size=8))
    return [kept for kept, count in runs for _ in range(count)]


@given(
    st.lists(st.sampled_from([*COLUMNS] * 3 + [*OTHERS]), min_size=1, max_size=5, unique=True),
    masks(),
    st.integers(0, 70),
    st.integers(0, 70),
)
def test_rows_are_those_of_arrow(names: list[str], mask: list[bool | None], first: int, skipped: int) -> None:
    batch = batch_of(names, first + len(mask)).slice(first)
    wanted = pa.array([None] * skipped + mask, pa.bool_()).slice(skipped)
    found, kept = where(batch, wanted)
    found.validate(full=True)
    assert found.equals(batch.filter(wanted))
    assert found.schema.equals(batch.schema)
    assert [*kept] == [index for index, value in enumerate(mask) if value]
    assert kept.fanout.ends.tolist() == [sum(map(bool, mask[: end + 1])) for end in range(len(mask))]


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_fixed_width_are_copied_in_runs(name: str) -> None:
    assert selected(batch_of([name], 100), [index != 40 for index in range(100)]) is not None


@pytest.mark.parametrize("name", OTHERS)
def test_others_stay_with_arrow(name: str) -> None:
    assert selected(batch_of(["number", name], 100), [index != 40 for index in range(100)]) is None


def test_short_runs_stay_with_arrow() -> None:
    assert selected(batch_of(["number"], 100), [index % 8 > 0 for index in range(100)]) is None


def test_what_was_copied_outlives_the_batch_and_its_other_columns() -> None:
    batch = batch_of(["number", "value"], 1000)
    found, _ = where(batch, pa.array([index > 10 for index in range(1000)]))
    column = found.column(1).slice(5, 5)
    del batch, found
    gc.collect()
    assert column.to_pylist() == [index / 3 for index in range(16, 21)]


def test_what_nobody_takes_is_let_go() -> None:
    def refuse(address: int) -> None:
        raise KeyError(address)

    batch = batch_of(["number"], 100)
    with pytest.raises(KeyError):
        select(batch, bits_of_mask(pa.array([True] * 100)), refuse)


def test_bits_for_all_rows_are_needed() -> None:
    with pytest.raises(ValueError, match="8 bytes of bits for 100 rows"):
        select(batch_of(["number"], 100), bytes(8), int)


def selected(batch: pa.RecordBatch, mask: list[bool]) -> Any:
    return select(
        batch, bits_of_mask(pa.array(mask)), lambda at: pa.RecordBatch._import_from_c(at, batch.schema)
    )
