"""How large the jumbo tuples of columns are."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest

from framework.runtime.edges.destination import STORE_SHARE, Destination
from viper.columns.payload import Columns
from viper.jumbo import Jumbo
from viper.position import Positions
from viper.source import Source

ROWS, ROW_BYTES, JUMBO, MOST = 100, 8, 16, 64


class Taking:
    """A source that takes everything, and notes how much at once."""

    def __init__(self, store_bytes: int | None) -> None:
        self.store_bytes = store_bytes
        self.sizes: list[int] = []

    def add(self, jumbo: Jumbo, positions: Positions, first: int, count: int) -> bool:
        assert jumbo.size == count
        self.sizes.append(count)
        return True


@pytest.mark.parametrize(
    ("stores", "expected"),
    [
        ([None], [64, 36]),
        ([STORE_SHARE * ROW_BYTES * 10], [10] * 10),
        ([STORE_SHARE * ROW_BYTES * 10, None], [10] * 10),
        ([STORE_SHARE * ROW_BYTES * 1000], [64, 36]),
        ([1], [1] * 100),
    ],
    ids=["within a process", "between two", "both", "a large store", "a tiny one"],
)
def test_they_take_a_share_of_what_a_channel_between_processes_holds(
    stores: list[int | None], expected: list[int]
) -> None:
    takers: Any = [Taking(store) for store in stores]
    destination = Destination([1], cast("list[Source]", takers), JUMBO, False, MOST)
    destination.put(Columns(pa.record_batch({"n": pa.array(range(ROWS), pa.int64())})))
    assert destination.flush()
    assert [taker.sizes for taker in takers] == [expected] * len(stores)
