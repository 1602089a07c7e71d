"""The page of a task: a successor repeats what was not committed, and leaves out what its consumers have."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest

from viper.arena import Arena
from viper.errors import DivergedError
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.page import TaskPage
from viper.payload import Payload, Rows
from viper.position import Position, Positions
from viper.state import Pool, UndoLog, Writer

SHAPE = {"slots": 8, "tuples": 32, "payload_bytes": 4096}


class Process:
    """One process with two gates, and the task between them; the next one finds what it left."""

    def __init__(self, before: Process | None = None) -> None:
        if before is None:
            size = 2 * ScaleGate.size(1, 1, *SHAPE.values()) + Pool.size(1 << 19) + (1 << 16)
            self.arena = Arena.private(size)
            gates = [ScaleGate.create(self.arena, 1, **SHAPE).offset for _ in range(2)]
            self.offsets = (*gates, Pool.create(self.arena, 1 << 19).offset)
            self.log = UndoLog.create(self.arena, owner=1).offset
            self.page_at = TaskPage.create(self.arena, inputs=1, outputs=1).offset
        else:
            self.arena, self.offsets = before.arena, before.offsets
            self.log, self.page_at = before.log, before.page_at
        first, second, pool = self.offsets
        self.inner = ScaleGate.attach(self.arena, first, local_readers=[0], survives=True)
        self.outer = ScaleGate.attach(self.arena, second, local_readers=[0], survives=True)
        log = UndoLog.attach(self.arena, self.log, 1)
        self.writer = Writer(self.arena, Pool.attach(self.arena, pool), log, [])
        self.page = TaskPage.attach(self.arena, self.page_at, inputs=1, outputs=1)
        if before is not None:
            self.outer.source(0).recover()
            self.inner.source(0).recover()
            self.page.rewind(0, self.inner, 0)
        self.page.read(0, self.inner, 0)
        self.left = self.page.feed(0, self.outer.source(0))

    def bring(self, *values: int) -> None:
        """Add rows to the gate before the task, all of one timestamp."""
        assert self.inner.source(0).add(Jumbo(Rows([(v,) for v in values])), at(len(values)), 0, len(values))

    def take(self, limit: int = 100) -> list[tuple[object, ...]]:
        """Read the rows that the task is delivered."""
        runs = self.inner.reader(0).get_ready(limit, Positions())
        return [row for _, jumbo, first, n in runs for row in jumbo.payload.rows[first : first + n]]

    def emit(self, payload: Payload, tags: Sequence[int] | None = None, ts: int = 1) -> bool:
        """Emit a payload as the task, at once."""
        jumbo = Jumbo(payload, None if tags is None else array("H", tags))
        return self.outer.source(0).add(jumbo, at(len(payload), ts), 0, len(payload))

    def commit(self) -> bool:
        noted = self.page.note(self.writer)
        if noted:
            self.writer.commit()
            self.inner.reader(0).release()
        return noted

    def consumed(self) -> list[tuple[object, ...]]:
        """Read the rows that come out after the task."""
        runs = self.outer.reader(0).get_ready(100, Positions())
        return [row for _, jumbo, first, n in runs for row in jumbo.payload.rows[first : first + n]]


def at(count: int, ts: int = 1) -> Positions:
    positions = Positions()
    for _ in range(count):
        positions.append(Position(ts, 0, 0))
    return positions


def rows(*values: int) -> Rows:
    return Rows([(value,) for value in values])


def test_what_was_not_committed_is_delivered_once_more() -> None:
    first = Process()
    first.bring(1, 2, 3)
    first.bring(4, 5)
    assert first.take(2) == [(1,), (2,)]
    assert first.commit() and not first.commit()
    assert first.take(2) == [(3,), (4,)]
    second = Process(first)
    assert second.page.delivered == [2] and second.page.commits == 1
    assert second.take() == [(3,), (4,), (5,)]
    assert second.commit()
    third = Process(second)
    assert third.take() == []
    assert third.inner.statistics().readers[0].sources[0].waiting_jumbos == 0


def test_what_is_out_is_left_out_whole_or_in_part() -> None:
    first = Process()
    assert first.emit(rows(1)) and first.commit()
    assert first.emit(rows(2, 3)) and first.emit(rows(4))
    second = Process(first)
    assert second.left == 3
    assert second.emit(rows(2))
    assert second.emit(rows(3, 4, 5, 6), ts=1)  # all at one position, as saturated ones are
    assert second.consumed() == [(1,), (2,), (3,), (4,), (5,), (6,)]


def test_a_redo_may_take_shorter_slices_and_die_between_them() -> None:
    first = Process()
    assert first.emit(rows(1, 2, 3, 4))
    second = Process(first)
    assert second.emit(rows(1, 2)) and second.commit()
    assert second.page.handed_over == [2]
    third = Process(second)
    assert third.left == 2
    assert third.emit(rows(3, 4, 5))
    assert third.commit() and third.page.handed_over == [5]
    assert third.consumed() == [(1,), (2,), (3,), (4,), (5,)]


def test_tags_stay_with_their_rows() -> None:
    first = Process()
    assert first.emit(rows(1, 2), [0, 1])
    second = Process(first)
    assert second.emit(rows(1, 2, 3, 4), [0, 1, 2, 3])
    runs = second.outer.reader(0).get_ready(100, Positions())
    assert [tag for _, jumbo, _, _ in runs for tag in jumbo.tags or ()] == [0, 1, 2, 3]


def test_columns_are_left_out_too() -> None:
    arrow = pytest.importorskip("pyarrow")
    from viper.columns.payload import Columns

    def batch(*values: int) -> Columns:
        return Columns(arrow.record_batch({"n": arrow.array(values, arrow.int64())}))

    first = Process()
    assert first.emit(batch(1, 2))
    second = Process(first)
    assert second.emit(batch(1, 2, 3))
    assert second.consumed() == [(1,), (2,), (3,)]


def test_what_finds_no_room_is_added_later_without_what_is_out() -> None:
    first = Process()
    for value in range(8):
        assert first.emit(rows(value))
    second = Process(first)
    for value in range(7):
        assert second.emit(rows(value))
    assert not second.emit(rows(7, 8)) and not second.emit(rows(7, 8))
    assert second.consumed() == [(value,) for value in range(8)]
    second.outer.reader(0).release()
    assert second.emit(rows(7, 8))
    assert second.consumed() == [(8,)]


def test_a_successor_that_emits_something_else_is_found_out() -> None:
    first = Process()
    assert first.emit(rows(1, 2))
    with pytest.raises(DivergedError, match=r"emits \(7,\) and the killed process had emitted \(2,\)"):
        Process(first).emit(rows(1, 7))
    with pytest.raises(DivergedError, match=r"emits \(2,\) at Position\(ts=5, .* it at Position\(ts=1"):
        Process(first).emit(rows(1, 2), ts=5)
    assert Process(first).emit(rows(1, 2))


def test_so_is_one_where_the_consumers_have_released_everything() -> None:
    first = Process()
    assert first.emit(rows(1, 2))
    assert first.consumed() == [(1,), (2,)]
    with pytest.raises(DivergedError, match=r"emits \(7,\) and the killed .* something else"):
        Process(first).emit(rows(1, 7))
    with pytest.raises(DivergedError, match=r"emits \(2,\) at Position\(ts=5"):
        Process(first).emit(rows(1, 2), ts=5)
    assert Process(first).emit(rows(1, 2))


def test_what_equals_though_its_bytes_differ_is_the_same() -> None:
    first = Process()
    assert first.emit(Rows([({0, 8},)]))
    assert Process(first).emit(Rows([({8, 0},)]))


def test_half_a_ring_is_delivered_at_once() -> None:
    task = Process()
    for value in range(8):
        task.bring(value)
    assert len(task.take()) == SHAPE["slots"] // 2
    assert not task.inner.source(0).add(Jumbo(rows(9)), at(1), 0, 1)
    assert task.commit()
    task.bring(8)
    task.bring(*range(9, 29))
    assert len(task.take()) == SHAPE["slots"] // 2
    assert len(task.take()) == SHAPE["tuples"] // 2


def test_rings_that_a_page_does_not_have_are_refused() -> None:
    task = Process()
    with pytest.raises(IndexError, match="no number 1 among the page's 1 inputs"):
        task.page.read(1, task.inner, 0)
    with pytest.raises(IndexError, match="no number 1 among the page's 1 outputs"):
        task.page.feed(1, task.outer.source(0))
