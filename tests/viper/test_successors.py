"""The remains of a dead process in gates and quotas, set right for its successor."""

from __future__ import annotations

import multiprocessing
import os
import signal
from array import array

import pytest

from viper.arena import Arena, ArenaHandle
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.payload import Row, Rows
from viper.position import END, LEAST, Position, Positions
from viper.quota import Quota
from viper.reader import Reader
from viper.source import Source, raise_to

TIMEOUT_S = 30


def positions_from(ts: int, count: int) -> Positions:
    positions = Positions()
    for number in range(ts, ts + count):
        positions.append(Position(number, 0, 0))
    return positions


def add(source: Source, ts: int, count: int) -> None:
    rows: list[Row] = [(number,) for number in range(ts, ts + count)]
    assert source.add(Jumbo(Rows(rows)), positions_from(ts, count), 0, count)


def taken(reader: Reader, limit: int = 100) -> list[object]:
    runs = reader.get_ready(limit, Positions())
    return [row[0] for _, jumbo, first, count in runs for row in jumbo.payload.rows[first : first + count]]


def take_some_and_die(handle: ArenaHandle, offset: int) -> None:
    reader = ScaleGate.attach(Arena.attach(handle), offset).reader(0)
    assert taken(reader, 3) == [0, 1, 2]
    reader.working(2)
    assert taken(reader, 2) == [3, 4]
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_successor_of_a_reader_goes_on_where_that_one_was() -> None:
    arena = Arena.shared(1_000_000)
    offset = ScaleGate.create(arena, 1, slots=4, tuples=8, payload_bytes=4096).offset
    gate = ScaleGate.attach(arena, offset)
    for ts in (0, 4):
        add(gate.source(0), ts, 4)
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=take_some_and_die, args=(arena.handle(), offset))
    child.start()
    child.join(TIMEOUT_S)
    assert child.exitcode == -signal.SIGKILL
    assert gate.bury_reader(0) == 4  # the two that it was working on, and the two behind them
    assert taken(ScaleGate.attach(arena, offset).reader(0)) == [5, 6, 7]


def test_what_was_only_in_the_dead_process_is_dropped() -> None:
    arena = Arena.private(1_000_000)
    gate = ScaleGate.create(arena, 2, 2, slots=4, tuples=8)
    add(gate.source(0), 0, 3)
    add(gate.source(1), 1, 2)
    successor = ScaleGate.attach(arena, gate.offset, local_readers=[0, 1])
    successor.source(0).recover()
    assert [successor.bury_reader(reader) for reader in (0, 1)] == [0, 0]
    assert sum(successor.drop(0)) == 6
    assert sum(successor.drop(0)) == 0
    assert successor.source(0).floor() == Position(2, 0, 0)
    add(successor.source(0), 3, 1)
    assert [waiting.waiting_tuples for waiting in successor.statistics().readers[0].sources] == [1, 2]


def test_what_is_tracked_is_not_counted_as_lost() -> None:
    gate = ScaleGate.create(Arena.private(1_000_000), 1, slots=4, tuples=8)
    positions = positions_from(0, 4)
    positions.set_trees([1, 3], array("Q", [7, 7]))
    assert gate.source(0).add(Jumbo(Rows([(0,)] * 4)), positions, 0, 4)
    taken(gate.reader(0), 3)
    assert gate.bury_reader(0) == 2


def test_a_position_that_is_appended_is_in_no_tree() -> None:
    positions = positions_from(5, 3)
    assert list(positions.trees(0, 3)) == [0, 0, 0]


@pytest.mark.parametrize("index", [-1, 1])
def test_who_is_not_there_cannot_be_buried(index: int) -> None:
    gate = ScaleGate.create(Arena.private(1_000_000), 1, slots=4, tuples=8)
    with pytest.raises(IndexError, match=f"no reader {index}: the gate has 1"):
        gate.bury_reader(index)
    with pytest.raises(IndexError, match=f"no source {index}: the gate has 1"):
        gate.drop(index)


def test_what_the_dead_held_of_a_quota_goes_back() -> None:
    arena = Arena.private(10_000)
    mine = Quota.create(arena, 10, accounts=2)
    dead = Quota.attach(arena, mine.offset, account=1)
    assert (dead.take(7), mine.take(2), mine.left) == (7, 2, 1)
    dead.settle(3, 3)
    dead.bury()
    assert mine.left == 5
    dead.bury()
    mine.settle(2, 2)
    assert (mine.take(100), mine.take(100)) == (5, 0)
    mine.settle(5, 5)
    assert mine.used_up


def test_positions_are_raised_to_a_floor() -> None:
    positions = positions_from(0, 4)
    assert raise_to(LEAST, positions) == 0
    assert raise_to(Position(2, 0, 5), positions) == 3
    assert list(positions) == [Position(2, 0, 5)] * 3 + [Position(3, 0, 0)]
    assert raise_to(END, positions) == 4
