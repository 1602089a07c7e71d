"""A task that resumes where another had come to places nothing below what that one had promised."""

from __future__ import annotations

import time
from array import array

import pytest

from framework.planning import TimeMode
from framework.runtime.order.positions.clocks import Clock, make_clock
from framework.runtime.order.positions.event_times import EventTimes
from framework.runtime.order.positions.lineage import Lineage
from viper.lineage import Fanout
from viper.payload import Rows
from viper.position import LEAST, Level, Position, Positions

SOURCE = Level(64, 16, 8, 1)
HOP = Level(32, 16, 8, 2)
US = 1_000_000


def clock_of(mode: TimeMode) -> Clock:
    return make_clock(mode, SOURCE, EventTimes("spout:1", {0: 0}, "s"))


def placed(clock: Clock, *values: int) -> Positions:
    out = Positions()
    clock.place(Rows([(value,) for value in values]), None, {}, out)
    return out


def last_of(mode: TimeMode, *values: int) -> Position:
    return placed(clock_of(mode), *values).last()


@pytest.mark.parametrize("mode", TimeMode)
def test_a_clock_goes_on_at_the_floor_or_above_it(mode: TimeMode) -> None:
    floor = last_of(mode, 1, 2, 3)
    clock = clock_of(mode)
    clock.resume(floor)
    assert clock.frontier() >= floor
    positions = list(placed(clock, 1, 2, 3, 4))
    assert positions == sorted(positions)
    assert positions[0] >= floor


@pytest.mark.parametrize("mode", TimeMode)
def test_who_had_come_nowhere_leaves_no_trace(mode: TimeMode) -> None:
    clock = clock_of(mode)
    clock.resume(LEAST)
    positions = list(placed(clock, 1, 2))
    if mode is not TimeMode.INGEST:
        assert positions == list(placed(clock_of(mode), 1, 2))
    assert clock.raised == 0


def test_logical_time_counts_on() -> None:
    clock = clock_of(TimeMode.LOGICAL)
    clock.resume(last_of(TimeMode.LOGICAL, 0, 0, 0))
    assert [position.ts for position in placed(clock, 0, 0)] == [4, 5]
    again = clock_of(TimeMode.LOGICAL)
    again.resume(clock.frontier())  # which was promised, and not used
    assert placed(again, 0)[0].ts == 6


def test_ingest_time_goes_on_behind_a_floor_in_the_future() -> None:
    floor = Position(time.time_ns() // 1000 + 3600 * US, 5, 5)
    clock = clock_of(TimeMode.INGEST)
    clock.resume(floor)
    assert placed(clock, 0)[0] > floor


def test_event_time_before_the_floor_is_raised_and_counted() -> None:
    clock = clock_of(TimeMode.EVENT)
    clock.resume(last_of(TimeMode.EVENT, 5, 7))
    positions = placed(clock, 3, 2, 7, 8)
    assert [position.ts for position in positions] == [7 * US, 7 * US, 7 * US, 8 * US]
    assert clock.raised == 2


def test_outputs_below_the_floor_stand_at_it() -> None:
    inputs = Positions()
    for ordinal in (1, 2):
        inputs.append(Position(9, ordinal, 0))
    before, out = Lineage(), Positions()
    before.begin(inputs)
    before.place(Fanout.of_ends(array("I", [3, 3])), False, HOP, out)
    floor = out.last()
    lineage, out = Lineage(), Positions()
    lineage.resume(floor)
    lineage.place_beside(2, HOP, out)
    assert list(out) == [floor, floor]
    out.clear()
    lineage.begin(inputs)
    lineage.place(Fanout.of_ends(array("I", [4, 5])), False, HOP, out)
    assert list(out)[:3] == [floor] * 3
    assert out[3] > floor and out[4] > out[3]


def test_outputs_of_a_tick_that_is_repeated_too_late_stand_at_what_was_promised() -> None:
    """It is due at an input of which outputs were sent off, and nothing below those may follow."""
    lineage, sent, out = Lineage(), Positions(), Positions()
    inputs = Positions()
    inputs.append(Position(9, 1, 0))
    lineage.begin(inputs)
    lineage.place(Fanout.of_ends(array("I", [3])), False, HOP, sent)
    lineage.keep_above(sent.last())
    lineage.keep_above(Position(9, 1, 0))  # what was promised earlier takes nothing back
    inputs.clear()
    inputs.append(Position(8, 1, 0))
    lineage.begin(inputs)
    lineage.place(Fanout.of_ends(array("I", [2])), False, HOP, out)
    assert list(out) == [sent.last()] * 2
