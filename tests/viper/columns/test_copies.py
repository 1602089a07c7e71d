"""Copies of record batches: equal to what they were made of, and without any memory of it."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from viper.columns.batches import SMALL_BYTES, Batches, copied
from viper.columns.payload import Columns
from viper.rows import copy_batch
from viper.schema import Schema

ROWS = 300
KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "bool": (pa.bool_(), lambda n: n % 3 == 0),
    "int8": (pa.int8(), lambda n: n % 100 - 50),
    "uint16": (pa.uint16(), lambda n: n * 200),
    "int32": (pa.int32(), lambda n: -n),
    "float32": (pa.float32(), lambda n: n / 4),
    "float64": (pa.float64(), lambda n: n / 3),
    "date32": (pa.date32(), lambda n: dt.date(2024, 1, 1) + dt.timedelta(n)),
    "time32": (pa.time32("s"), lambda n: dt.time(n % 24)),
    "timestamp": (pa.timestamp("us", "UTC"), lambda n: n * 1000),
    "duration": (pa.duration("ms"), lambda n: dt.timedelta(n)),
    "decimal128": (pa.decimal128(10, 2), lambda n: Decimal(n) / 4),
    "string": (pa.string(), lambda n: "ab€"[: n % 4] * (n % 5)),
    "binary": (pa.binary(), lambda n: bytes(n % 7)),
    "large_string": (pa.large_string(), lambda n: "x" * (n % 9)),
}
RARE: dict[str, tuple[pa.DataType, Any]] = {
    "list": (pa.list_(pa.int64()), lambda n: list(range(n % 4))),
    "struct": (pa.struct([("a", pa.string())]), lambda n: {"a": str(n)}),
    "null": (pa.null(), lambda n: None),
    "fixed": (pa.binary(3), lambda n: b"abc"),
    "view": (pa.string_view(), lambda n: "a rather long text"[: n % 18]),
}
SLICES = [(0, ROWS), (0, 0), (ROWS, 0), (1, 64), (7, 130), (64, 64), (63, 65), (200, 100), (299, 1)]


def batch_of(kind: pa.DataType, value: Any, every: int) -> pa.RecordBatch:
    """A batch of two columns, of which one holds null in every so many rows; 0: in none."""
    values = [None if every and n % every == 0 else value(n) for n in range(ROWS)]
    return pa.record_batch({"f": pa.array(values, kind), "g": pa.array(range(ROWS))})


def addresses(batch: pa.RecordBatch) -> list[range]:
    """The memory of all buffers of a batch that have any."""
    found = [buffer for column in batch.columns for buffer in column.buffers() if buffer is not None]
    return [range(buffer.address, buffer.address + buffer.size) for buffer in found if buffer.size]


def share(one: pa.RecordBatch, other: pa.RecordBatch) -> bool:
    """True if any memory belongs to both batches."""
    return any(a.start < b.stop and b.start < a.stop for a in addresses(one) for b in addresses(other))


@pytest.mark.parametrize("every", [0, 1, 3], ids=["no nulls", "all null", "some null"])
@pytest.mark.parametrize("name", [*KINDS, *RARE])
def test_a_copy_is_equal_and_apart(name: str, every: int) -> None:
    batch = batch_of(*{**KINDS, **RARE}[name], every)
    for first, count in SLICES:
        part = batch.slice(first, count)
        made = copied(part)
        made.validate(full=True)
        assert made.equals(part, check_metadata=True) and made.schema == part.schema, (first, count)
        assert made.column(0).null_count == part.column(0).null_count
        assert not share(made, batch), (first, count)


@pytest.mark.parametrize("name", KINDS)
def test_the_usual_types_are_copied_in_c(name: str) -> None:
    batch = batch_of(*KINDS[name], 3).slice(5, 100)
    made = copy_batch(batch, lambda address: pa.RecordBatch._import_from_c(address, batch.schema))
    assert made is not None and made.equals(batch)


def test_a_copy_of_a_copy_and_one_that_outlives_what_it_was_made_of() -> None:
    drawn = random.Random(5)
    made = batch_of(*KINDS["string"], 7)
    expected = made.to_pylist()
    for _ in range(20):
        first = drawn.randrange(3)
        made, expected = copied(made.slice(first)), expected[first:]
    assert made.to_pylist() == expected


def test_a_column_that_is_cut_within_a_batch_that_is_cut() -> None:
    inner = pa.array(range(100)).slice(10)
    batch = pa.record_batch({"f": inner, "g": pa.array(["t" * (n % 4) for n in range(95)]).slice(5)})
    assert copied(batch.slice(3, 20)).equals(batch.slice(3, 20))


def test_what_takes_a_copy_may_refuse_it() -> None:
    def refuse(address: int) -> None:
        raise RuntimeError(f"not {bool(address)}")

    with pytest.raises(RuntimeError, match="not True"):
        copy_batch(batch_of(*KINDS["int32"], 0), refuse)
    assert copy_batch(pa.RecordBatch.from_arrays([], names=[]), refuse) is None  # a batch without a column


# -- slices that are emitted


def stream() -> Batches:
    """A stream of a number and a text."""
    return Batches(Schema.of(["int64 not null", "string not null"], ["f", "g"]), ["f", "g"])


def table(numbers: np.ndarray[Any, Any], batches: Batches) -> pa.RecordBatch:
    """A large batch over the memory of an array."""
    texts = pa.array(["x" * 20] * len(numbers))
    return pa.RecordBatch.from_arrays([pa.array(numbers), texts], schema=batches.schema)


@pytest.mark.parametrize("passed_on", ["gives_away", "was_carried"])
def test_a_slice_that_nobody_changes_is_not_copied(passed_on: str) -> None:
    batches, numbers = stream(), np.arange(100_000)
    part = table(numbers, batches).slice(40_000, 16_384)
    made = batches.accepted(part, **{passed_on: True})
    assert made.column(0).buffers()[1].address == numbers.ctypes.data
    assert Columns(made).rows[0] == (40_000, "x" * 20)


def test_a_slice_is_copied_where_its_owner_may_write_to_it() -> None:
    batches, numbers = stream(), np.arange(100_000)
    batch = table(numbers, batches)
    made = batches.accepted(batch.slice(40_000, 16_384))
    numbers[:] = -1
    assert made.column(0).to_pylist() == list(range(40_000, 56_384))
    assert not share(made, batch)


@pytest.mark.parametrize(("rows", "keeps"), [(SMALL_BYTES // 32, False), (SMALL_BYTES // 32 + 1, True)])
def test_only_a_small_part_of_a_large_batch_does_not_keep_it(rows: int, keeps: bool) -> None:
    batches = stream()
    batch = table(np.arange(100_000), batches)  # 32 bytes a row, and an offset more
    while batch.slice(0, rows).nbytes > SMALL_BYTES + 32 * keeps:
        rows -= 1
    assert share(batches.accepted(batch.slice(9, rows), gives_away=True), batch) is keeps
