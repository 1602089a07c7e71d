"""The rows that a bolt's sources bring, and how far each says that it is."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from spark_ingest.backfill.feeding import Arrival, Arrivals, bringers
from viper.position import Position


def arrival(ts: int, source: int) -> Arrival:
    return Arrival(Position(ts, 0, 1), source, 0, (ts,))


def test_rows_go_to_those_who_bring_them() -> None:
    batches = [[arrival(1, 0), arrival(2, 1)], [arrival(3, 1), arrival(4, 0)]]
    one, other = bringers(Arrivals(iter(batches), 2), {"a": False, "b": False}).values()
    assert one.take(5).payload.rows == [(1,)]
    assert other.frontier == Position(2, 0, 1)
    assert [*other.take(5).payload.rows, *other.take(5).payload.rows] == [(2,), (3,)]
    assert one.take(5).payload.rows == [(4,)]
    assert one.take(5).payload.rows == [] and one.exhausted and other.exhausted


def test_who_has_nothing_says_how_far_all_is_read() -> None:
    arrivals = Arrivals(iter([[arrival(1, 0), arrival(9, 0)]]), 2)
    one, other = bringers(arrivals, {"a": False, "b": False}).values()
    assert other.take(5).payload.rows == []
    assert other.frontier == Position(9, 0, 1)
    assert one.frontier == Position(1, 0, 1)


def test_who_asks_alone_does_not_fill_the_memory() -> None:
    arrivals = Arrivals(iter([[arrival(ts, 0)] for ts in range(1000)]), 2)
    _, other = bringers(arrivals, {"a": False, "b": False}).values()
    for _ in range(100):
        assert other.take(5).payload.rows == []
    assert len(arrivals.waiting[0]) <= 3


def test_no_more_than_is_asked_for_with_their_streams() -> None:
    rows = [Arrival(Position(ts, 0, 1), 0, ts % 2, (ts,)) for ts in range(4)]
    (one,) = bringers(Arrivals(iter([rows]), 1), {"a": True}).values()
    batch = one.take(3)
    assert batch.payload.rows == [(0,), (1,), (2,)]
    assert list(batch.positions) == [row.position for row in rows[:3]]
    assert batch.tags is not None and list(memoryview(batch.tags).cast("H")) == [0, 1, 0]
