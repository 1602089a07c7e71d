"""Parquet's timestamps of 96 bits, and times that are far from 1970."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.model.errors import SourceError
from framework.operators.components import Block
from framework.operators.sources import ParquetSource
from tests.framework.operators.sources.test_formats import read, timed

NEVER = 253_402_214_400_000_000
"""9999-12-31, as DuckDB counts it (``epoch_us(TIMESTAMP '9999-12-31')``), in microseconds."""
LEAST = -62_135_596_800_000_000
"""0001-01-01, likewise."""
FINE = 1_704_067_200_123_456_789
LIST = pa.list_(pa.timestamp("ns"))
MAP = pa.map_(pa.string(), pa.timestamp("ns"))
STRUCT = pa.struct({"t": pa.timestamp("ns")})


def written(folder: Path, values: Any, kind: pa.DataType, *, wide: bool = True, **options: Any) -> str:
    path = folder / "a.parquet"
    table = pa.table({"t": pa.array(values, kind), "n": pa.array(range(len(values)))})
    pq.write_table(table, path, use_deprecated_int96_timestamps=wide, **options)
    return str(path)


@pytest.mark.parametrize("typed", [False, True])
def test_far_dates_are_counted_in_microseconds(tmp_path: Path, typed: bool) -> None:
    at = datetime.datetime(2024, 1, 1, 0, 0, 0, 5)
    values = [datetime.datetime(9999, 12, 31), datetime.datetime(1, 1, 1), at, None]
    source = ParquetSource(written(tmp_path, values, pa.timestamp("us")), ["t"], typed=typed)
    found = [row[0] if not typed else row["t"] for row in read(source)]
    if typed:
        assert [str(kind) for kind in source.outputs[0].schema.types] == ["timestamp[us]"]
        assert found == values
    else:
        assert found == [NEVER, LEAST, 1_704_067_200_000_005, None]


@pytest.mark.parametrize(
    ("kind", "values", "wrong", "told"),
    [
        (pa.timestamp("ns"), [1000, FINE, None, -1], [1, 3], "with nanoseconds"),
        (pa.timestamp("s"), [0, 2**53, -(2**53)], [1, 2], "too far from 1970"),
        (LIST, [[1000], [], None, [2000, FINE]], [3], "with nanoseconds"),
        (MAP, [[("a", FINE)], [], None, [("b", 5000)]], [0], "with nanoseconds"),
        (STRUCT, [{"t": 1000}, {"t": FINE}, None], [1], "with nanoseconds"),
        (pa.list_(STRUCT), [[{"t": 1000}, {"t": FINE}], None, [{"t": None}]], [0], "with nanoseconds"),
    ],
)
def test_what_microseconds_do_not_hold_is_malformed(
    tmp_path: Path, kind: pa.DataType, values: Any, wrong: list[int], told: str
) -> None:
    path = written(tmp_path, values, kind)
    with pytest.raises(
        SourceError, match=rf"a.parquet, row {wrong[0] + 1}: 't' is an INT96 timestamp.*{told}"
    ):
        read(ParquetSource(path))
    found = read(ParquetSource(path, ["n"], on_malformed="skip"))
    assert found == [(n,) for n in range(len(values))]  # as the other column is not read
    found = read(ParquetSource(path, ["n", "t"], on_malformed="skip"))
    assert [row[0] for row in found] == [n for n in range(len(values)) if n not in wrong]


def test_a_row_that_is_malformed_is_named_in_any_batch_and_behind_any_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [n * 1000 + (n in (3, 700, 1999)) for n in range(2000)]
    path = written(tmp_path, values, pa.timestamp("ns"), row_group_size=300)
    monkeypatch.setattr(ParquetSource, "_most_block_rows", 64)
    source = ParquetSource(path, on_malformed="stream")
    for start in (None, 0, 3, 4, 650, 700, 1999):
        first = start or 0
        wrong, rows = [], []
        for block in source.blocks(0, start):
            assert isinstance(block, Block)
            for index, row in enumerate(block.rows):
                (wrong if len(row) == 4 else rows).append(row)
                assert source.place_of(0, index).startswith(path)
        assert [row[1] for row in wrong] == [n + 1 for n in (3, 700, 1999) if n >= first]
        assert [row[1] for row in rows] == [n for n in range(first, 2000) if n not in (3, 700, 1999)]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("unit", ["us", "ms"])
def test_event_times_beyond_the_calendar_are_malformed(tmp_path: Path, wide: bool, unit: str) -> None:
    """Such as DuckDB's infinity, at which pyarrow fails to make a datetime."""
    far = 2**62 if unit == "us" else 2**52
    path = written(tmp_path, [0, far, None, -far, 1000], pa.timestamp(unit), wide=wide)
    with pytest.raises(SourceError, match=rf"a.parquet, row 2: 't' is {far}"):
        read(ParquetSource(path, timestamp="t"))
    found = timed(ParquetSource(path, timestamp="t", on_malformed="skip"))
    scale = 1 if unit == "us" else 1000
    assert [(time_us, row[1]) for time_us, row in found] == [(0, 0), (1000 * scale, 4)]
    malformed = [
        row for row in read(ParquetSource(path, timestamp="t", on_malformed="stream")) if len(row) == 4
    ]
    assert [row[1] for row in malformed] == [2, 3, 4]


def test_dates_and_numbers_beyond_the_calendar_are_malformed(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 10**7, -(10**7), 1], pa.date32(), wide=False)
    assert timed(ParquetSource(path, ["n"], timestamp="t", on_malformed="skip")) == [
        (0, (0,)),
        (86_400_000_000, (3,)),
    ]
    path = written(tmp_path, [0, 2**62, -(2**62), 1], pa.int64(), wide=False)
    for unit in ("us", "ms"):
        found = timed(ParquetSource(path, ["n"], timestamp="t", unit=unit, on_malformed="skip"))
        assert [row for _, row in found] == [(0,), (3,)]
