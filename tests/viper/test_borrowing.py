"""Columns that lie in the memory of their source while a reader's component has them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from viper.arena import Arena
from viper.columns.payload import Columns
from viper.errors import CodecError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Rows
from viper.position import Position, Positions
from viper.reader import LEAST_BYTES, Loans, Reader
from viper.source import BATCHES_BESIDE, WHOLE, Source

ROWS = LEAST_BYTES // 8
"""Rows of a number that are worth a lease."""


@cache
def at_once(rows: int) -> Positions:
    """So many positions, all the same."""
    positions = Positions()
    for _ in range(rows):
        positions.append(Position(0, 0, 0))
    return positions


class Ends:
    """Both ends of a gate, as two processes see it, with room for a number of jumbo tuples.

    Args:
        jumbos: how many of `ROWS` rows its source has room for.
    """

    def __init__(self, jumbos: int = 8) -> None:
        self.arena = Arena.shared(128 * LEAST_BYTES)
        shape: dict[str, Any] = {"slots": 64, "tuples": 1 << 17, "payload_bytes": jumbos * 2 * LEAST_BYTES}
        self.offset = ScaleGate.create(self.arena, 1, **shape).offset
        self.source: Source = ScaleGate.attach(self.arena, self.offset).source(0)
        self.reader: Reader = self.another_reader()

    def another_reader(self) -> Reader:
        return ScaleGate.attach(self.arena, self.offset).reader(0)

    def add(self, value: int, rows: int = ROWS) -> bool:
        """Add a jumbo tuple in which every number is the value."""
        batch = pa.record_batch({"n": pa.array(np.full(rows, value, np.int64))})
        return self.source.add(Jumbo(Columns(batch)), at_once(rows), 0, rows)

    def fill(self, first: int = 0) -> int:
        """Add numbers from one on until there is no room; returns how many."""
        count = 0
        while self.add(first + count):
            count += 1
        return count

    def borrow(self, limit: int = 1 << 17) -> list[Columns]:
        """Take columns without their copies."""
        runs = self.reader.get_ready(limit, Positions(), borrows=True)
        return [jumbo.payload.slice(first, count) for _, jumbo, first, count in runs]  # type: ignore[misc]


def numbers(columns: Columns) -> Any:
    return columns.batch.column("n").to_numpy()


def taken(ends: Ends, limit: int = ROWS) -> Any:
    """A view of the next columns, which nobody else refers to."""
    (columns,) = ends.borrow(limit)
    return numbers(columns)


def test_they_are_views_of_the_arena() -> None:
    ends = Ends()
    assert ends.add(7)
    (columns,) = ends.borrow()
    assert columns.lease is not None
    assert columns.lease.has_lent(columns.batch.column("n"))
    assert numbers(columns).tolist() == [7] * ROWS
    (copied,) = (jumbo.payload for _, jumbo, *_ in ends.another_reader().get_ready(ROWS, Positions()))
    assert copied.lease is None


def test_their_room_is_released_when_they_are_given_back_and_not_before() -> None:
    ends = Ends()
    count = ends.fill()
    columns = ends.borrow(ROWS)
    assert not ends.add(-1)
    assert numbers(columns[0])[0] == 0
    columns.clear()
    assert ends.reader.give_back() is None
    assert ends.add(count)


def stays_as_it_is() -> bool:
    """True if what a reader has borrowed is the same when its source has filled the room that it finds."""
    ends = Ends()
    ends.fill()
    view = taken(ends)
    ends.fill(100)
    return bool((view == 0).all())


def test_nobody_writes_over_what_is_borrowed() -> None:
    assert stays_as_it_is()


def test_the_check_finds_a_release_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    deliver = Reader._deliver

    def too_early(reader: Reader, *args: Any, **options: Any) -> Any:
        found = deliver(reader, *args, **options)
        reader._release(reader._merge)
        return found

    monkeypatch.setattr(Reader, "_deliver", too_early)
    assert not stays_as_it_is()


def test_what_is_kept_is_found_and_stays_as_it_is() -> None:
    ends = Ends()
    ends.fill()
    view = taken(ends)[5:]
    lease = ends.reader.give_back()
    assert lease is not None
    assert lease.holds(view.__array_interface__["data"][0])
    assert not ends.add(-1)
    assert (view == 0).all()
    del view
    assert ends.reader.give_back() is None
    assert ends.add(-1)


def test_what_is_kept_outlives_the_arena() -> None:
    ends = Ends()
    assert ends.add(7)
    view = taken(ends)
    del ends
    assert (view == 7).all()


def test_a_jumbo_tuple_is_given_back_at_its_end() -> None:
    ends = Ends()
    count = ends.fill()
    for _ in range(2):
        view = taken(ends, ROWS // 2)
        assert not ends.add(-1)
        assert (view == 0).all()
        del view
        assert ends.reader.give_back() is None
    assert ends.add(count)


def test_what_is_kept_of_its_first_part_is_found_at_its_end() -> None:
    ends = Ends()
    assert ends.add(7)
    view = taken(ends, ROWS // 2)
    assert ends.reader.give_back() is None
    taken(ends, ROWS // 2)
    assert ends.reader.give_back() is not None
    assert (view == 7).all()


@pytest.mark.parametrize("kept", [0, ROWS // 2])
def test_what_is_put_back_is_given_back_only_when_it_has_come_again(kept: int) -> None:
    ends = Ends()
    ends.reader.defer()
    count = ends.fill()
    positions = Positions()
    (run,) = ends.reader.get_ready(ROWS, positions, borrows=True)
    ends.reader.put_back([(run, ROWS - kept)], positions, kept)
    ends.reader.accept()
    del run
    assert len(positions) == kept and ends.reader.give_back() is None
    assert not ends.add(-1)
    view = taken(ends)
    assert len(view) == ROWS - kept and (view == 0).all()
    del view
    assert ends.reader.give_back() is None
    assert ends.add(count)


def test_at_most_a_half_of_the_store_is_lent_and_the_rest_copied() -> None:
    ends = Ends()
    count = ends.fill()
    borrowed = [columns for _ in range(count) for columns in ends.borrow(ROWS)]
    assert len(borrowed) == count
    lent = [columns for columns in borrowed if columns.lease is not None]
    store = ends.source.store_bytes
    assert store is not None
    assert len(lent) == store // 2 // (store // count)
    assert [int(numbers(columns)[0]) for columns in borrowed] == list(range(count))


def test_what_is_lent_comes_alone() -> None:
    ends = Ends()
    ends.fill()
    borrowed = [ends.borrow(limit) for limit in (1, 10, 2 * ROWS, 2 * ROWS)]
    assert [list(map(len, columns)) for columns in borrowed] == [[1], [10], [ROWS - 11], [ROWS, ROWS]]
    assert [columns.lease is None for parts in borrowed for columns in parts] == [False] * 3 + [True] * 2


def test_small_ones_then_come_together_again() -> None:
    ends = Ends()
    assert all([ends.add(1), ends.add(2, 3), ends.add(3, 4), ends.add(4, 5)])
    assert [len(ends.borrow(limit)) for limit in (ROWS, 1, ROWS)] == [1, 1, 3]


def test_what_is_small_is_copied() -> None:
    ends = Ends()
    assert ends.add(7, ROWS // 2)
    (columns,) = ends.borrow()
    assert columns.lease is None
    assert ends.reader.give_back() is None


class Unreadable:
    """Pickles, and cannot be unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return int, ("no number",)


def test_a_delivery_that_fails_leaves_what_was_borrowed_before() -> None:
    ends = Ends()
    assert ends.add(0)
    assert ends.source.add(Jumbo(Rows([(Unreadable(),)])), at_once(1), 0, 1)
    count = ends.fill(1)
    view = taken(ends)
    with pytest.raises(CodecError):
        ends.borrow(1)
    assert not ends.add(-1)
    assert (view == 0).all()
    del view
    assert ends.reader.give_back() is None
    assert ends.add(-1)
    assert [int(numbers(columns)[0]) for columns in ends.borrow()] == [*range(1, count + 1), -1]


def test_the_leases_of_a_delivery_that_fails_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = Ends()
    count = ends.fill()
    delivered = Loans.delivered

    def interrupted(loans: Loans, *args: Any) -> None:
        delivered(loans, *args)
        raise KeyboardInterrupt

    for index in range(count):  # more than may be lent at a time
        monkeypatch.setattr(Loans, "delivered", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ends.borrow(ROWS)
        monkeypatch.setattr(Loans, "delivered", delivered)
        assert ends.add(count + index)
    assert ends.borrow(ROWS)[0].lease is not None


def test_the_successor_of_a_dead_reader_gets_what_comes_behind_and_the_source_its_room() -> None:
    ends = Ends()
    count = ends.fill()
    view = taken(ends)
    assert not ends.add(-1)
    ScaleGate.attach(ends.arena, ends.offset).bury_reader(0)
    assert ends.add(count)
    ends.reader = ends.another_reader()
    assert numbers(ends.borrow(ROWS)[0])[0] == 1
    del view


def test_the_successor_of_a_dead_source_leaves_what_is_borrowed() -> None:
    ends = Ends()
    count = ends.fill()
    view = taken(ends)
    ends.source = ScaleGate.attach(ends.arena, ends.offset).source(0)
    ends.source.recover()
    assert not ends.add(-1)
    assert (view == 0).all()
    del view
    assert ends.reader.give_back() is None
    assert ends.add(count)


# -- large ones come uncut


def sizes(ends: Ends, limit: int) -> list[int]:
    """The tuples of the jumbo tuples that come at once."""
    return [len(columns) for columns in ends.borrow(limit)]


def test_a_large_jumbo_tuple_comes_alone_and_uncut() -> None:
    ends = Ends()
    largest = ends.reader.take_whole(ROWS)
    assert largest == (1 << 17) // (1 + BATCHES_BESIDE)
    for rows in (ROWS // 2, ROWS // 4, 3 * ROWS, ROWS // 2, ROWS):
        assert ends.add(1, rows)
    assert sizes(ends, largest) == [ROWS // 2, ROWS // 4, ROWS // 4]
    assert sizes(ends, largest) == [3 * ROWS - ROWS // 4]
    assert sizes(ends, largest) == [ROWS // 2, ROWS // 2]
    assert sizes(ends, largest) == [ROWS // 2]
    assert sizes(ends, largest) == []


def test_a_large_jumbo_tuple_is_cut_at_the_limit_and_is_lent_all_the_same() -> None:
    ends = Ends()
    largest = ends.reader.take_whole(2 * ROWS)
    assert ends.add(5, 3 * ROWS)
    for limit, expected in ((8, 8), (100, 100), (largest, 3 * ROWS - 108)):
        (columns,) = ends.borrow(limit)
        assert len(columns) == expected
        assert columns.lease is not None
        assert numbers(columns).tolist() == [5] * expected


def test_what_is_put_back_of_a_large_one_comes_again() -> None:
    ends = Ends()
    ends.reader.defer()
    largest, positions = ends.reader.take_whole(ROWS), Positions()
    assert ends.add(3, 2 * ROWS)
    (run,) = ends.reader.get_ready(largest, positions, borrows=True)
    assert run[3] == 2 * ROWS
    ends.reader.put_back([(run, ROWS)], positions, ROWS)
    ends.reader.accept()
    assert sizes(ends, largest) == [ROWS]


def test_several_sources_have_no_use_for_a_larger_limit() -> None:
    arena = Arena.shared(1 << 20)
    gate = ScaleGate.create(arena, 2, slots=4, tuples=1 << 10, payload_bytes=0)
    assert gate.reader(0).take_whole(16) == 16


def test_a_whole_one_has_four_times_as_many_rows_as_others_at_most() -> None:
    ends = Ends()
    assert ends.reader.take_whole(16) == ends.source.most_whole(16, BATCHES_BESIDE) == WHOLE * 16
