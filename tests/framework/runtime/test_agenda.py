"""The entries due in a bolt's task, and their positions: by event time, by the wall clock, and at the end."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from framework import APlus, Block, Bolt, PartitionedSpout, Spout, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import Count
from framework.runtime.order.positions.lineage import LAST, REPEATS
from framework.runtime.order.positions.ticks import MOST_MISSED, WallTimer
from framework.runtime.tasks import bolt_task
from framework.runtime.tasks.agenda import Agenda, Frontier, LastEntries, Timed
from tests.framework.runtime.pieces import run_built
from viper.position import END, LEAST, Position

DEPTH = 3
AT = Position(LAST.ts + DEPTH, 0, 0)


def ignore(at: Position | None) -> None:
    """Done at an entry of an agenda that is only asked for its entries."""


class TestTimed:
    def test_each_period_that_has_passed_counts(self) -> None:
        agenda = Agenda([Timed(WallTimer(2.0, 10.0), ignore, catches_up=True)])
        assert agenda.due_at_s == 12.0
        assert len(list(agenda.take_timed(11.9))) == 0
        assert len(list(agenda.take_timed(18.5))) == 4
        assert agenda.due_at_s == 20.0
        assert [entry.at for entry in agenda.take_timed(20.0)] == [None]

    def test_batches_are_fired_once_for_all_of_them(self) -> None:
        agenda = Agenda([Timed(WallTimer(2.0, 10.0), ignore, catches_up=False)])
        assert len(list(agenda.take_timed(18.5))) == 1
        assert agenda.due_at_s == 20.0

    @pytest.mark.parametrize("period_s", [1e-300, 1e-9, 0.001])
    def test_short_periods_come_to_an_end(self, period_s: float) -> None:
        timer = WallTimer(period_s, 0.0)
        assert timer.take_due(1e6) == MOST_MISSED
        assert timer.due_at_s >= 1e6


class Last:
    """`LastEntries` with one entry, and what it asks for."""

    def __init__(self, *, waits_for_end: bool) -> None:
        self.holds = False
        self.published = LEAST
        self.client = LastEntries(
            DEPTH,
            [ignore],
            waits_for_end=waits_for_end,
            take_new_holds=self._take_holds,
            published=lambda: self.published,
        )

    def _take_holds(self) -> bool:
        holds, self.holds = self.holds, False
        return holds

    def at(self, position: Position, *, is_over: bool = False) -> list[Position | None]:
        """List the positions of the entries that are due at a frontier."""
        return [entry.at for entry in self.client.take_until(Frontier(position, 0, is_over))]


class TestLastEntries:
    def test_they_stand_behind_those_of_the_bolts_before(self) -> None:
        last = Last(waits_for_end=False)
        assert last.at(LAST) == []
        assert last.at(Position(AT.ts - 1, 5, 5)) == []
        assert last.at(REPEATS) == [AT]
        assert last.at(END, is_over=True) == []

    def test_they_wait_for_the_end_where_no_source_waits_for_answers(self) -> None:
        last = Last(waits_for_end=True)
        assert last.at(REPEATS) == []
        assert last.at(END, is_over=True) == [AT]

    def test_what_is_held_brings_them_earlier(self) -> None:
        last = Last(waits_for_end=True)
        last.holds = True
        assert last.at(REPEATS) == [AT]

    def test_input_behind_them_brings_them_once_more_at_the_end_alone(self) -> None:
        last = Last(waits_for_end=False)
        assert last.at(REPEATS) == [AT]
        last.published = later = Position(REPEATS.ts + 7, 0, 0)
        last.client.input_passed(later)
        assert last.at(later) == []
        assert last.at(END, is_over=True) == [later]
        assert last.at(END, is_over=True) == []


class Two(Spout):
    """Brings two tuples."""

    outputs = ["n"]

    def tuples(self) -> Any:
        yield from ([n] for n in range(2))


class Clock:
    """A clock of the bolts' turns that a bolt sets forward."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s


def test_a_bolt_that_was_held_up_gets_each_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(bolt_task, "time", clock)
    monkeypatch.setattr("framework.runtime.tasks.bolt_agenda.time", clock)

    class Slow(Bolt):
        outputs = ["what"]
        config = {"topology.tick.tuple.freq.secs": 10}

        def process(self, tup: Any) -> None:
            clock.now_s += 35
            self.emit([f"tuple {tup.values[0]}"])

        def process_tick(self, tup: Any) -> None:
            self.emit(["tick"])

    builder = TopologyBuilder()
    builder.set_spout("source", Two)
    builder.set_bolt("slow", Slow).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("slow")
    rows = [row for (row,) in run_built(builder, viper__slice__tuples=1).result("sink")]
    # Three ticks after 35 s and four after 70 s; the last one comes at the end.
    assert rows == ["tuple 0", *["tick"] * 3, "tuple 1", *["tick"] * 4, "tick"]


class Each(PartitionedSpout):
    """A row every 100 us up to 10 ms, of 40 keys in turn."""

    outputs = ["key"]
    partitions = 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        for number in range(101):
            yield Block(array("q", [100 * number]), [(number % 40,)])


class Counts(APlus):
    """Counts rows of each key in windows of 4 ms, which end every 2 ms up to 14 ms."""

    outputs = ["key", "rows"]
    size, advance = "4ms", "2ms"
    aggregate = Count()


class Marked(Bolt):
    """Tells the keys of rows, and ticks."""

    outputs = ["key"]
    config = {"topology.tick.tuple.freq.secs": 0.002}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])

    def process_tick(self, tup: Any) -> None:
        self.emit(["tick"])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_ticks_stand_behind_windows_by_key_that_end_at_their_time(tasks: int, seed: int) -> None:
    """They come as far as the last window does, also in tasks that get none of its rows."""
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("source", Each)
    builder.set_bolt("counts", Counts(), 2).fields_grouping("source", "key")
    builder.set_bolt("marked", Marked, tasks).fields_grouping("counts", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("marked")
    random = {"viper__scheduling": "random", "viper__seed": seed, "viper__slice__tuples": 3}
    rows = [row for (row,) in run_built(builder, **random).result("sink")]
    stretches = [(is_tick, len(list(some))) for is_tick, some in groupby(rows, lambda row: row == "tick")]
    # Event time begins with the rows of 2 ms; the last tick of all comes at the end of all input.
    of_windows, of_ticks = [60, 40, 40, 40, 21, 1], [tasks] * 5 + [2 * tasks]
    assert [count for is_tick, count in stretches if not is_tick] == of_windows
    assert [count for is_tick, count in stretches if is_tick] == of_ticks
