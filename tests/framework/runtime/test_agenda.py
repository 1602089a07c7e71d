"""What is due in a bolt's task, and where: by event time, by the wall clock, and at the end."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.runtime.positions.lineage import LAST, REPEATS
from framework.runtime.positions.ticks import MOST_MISSED, WallTimer
from framework.runtime.tasks import bolt_task
from framework.runtime.tasks.agenda import Agenda, Frontier, LastEntries, Timed
from framework.sinks import CollectingSink
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
        """Where the entries stand that are due at a frontier."""
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
