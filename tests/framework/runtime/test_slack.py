"""Rows that are a little out of order are put in order within a slack."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.runtime import run
from tests.framework.runtime.disorder import (
    LATE,
    SLACK,
    Rows,
    Shuffled,
    Tracked,
    counted,
    expected,
    jittered,
    sorted_rows,
    topology,
)
from tests.framework.runtime.pieces import Forward, chained, drawn, plan_of, run_built, spout
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change

# -- in order


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_rows_within_the_slack_come_in_order_of_time(workers: Workers, seed: int) -> None:
    times = jittered(seed)
    report = workers.run(topology(Shuffled, times, slack=50))
    assert report.result("sink") == sorted_rows(times)
    assert (counted(report, "late"), counted(report, "emitted")) == (0, len(times))


def test_equal_times_stay_in_the_order_of_their_emits() -> None:
    report = run_built(topology(Shuffled, [5, 3, 5, 3, 4, 3], slack=2))
    assert report.result("sink") == [(1, 3), (3, 3), (5, 3), (4, 4), (0, 5), (2, 5)]


def test_a_slack_longer_than_the_input_sorts_all_of_it() -> None:
    times = random.Random(7).choices(range(10**6), k=500)
    assert run_built(topology(Shuffled, times, slack=1e300)).result("sink") == sorted_rows(times)


def test_without_a_slack_nothing_may_go_back() -> None:
    with pytest.raises(ComponentError, match=r"\(1, 4\) at 4000 us, after .* 5000 us.*timestamp.slack"):
        run_built(topology(Shuffled, [5, 4]))


def test_a_row_that_is_just_as_late_as_allowed_is_in_time() -> None:
    report = run_built(topology(Shuffled, [10, 5, 12, 7, 6], slack=5, late="tardy"))
    assert report.result("sink") == [(1, 5), (3, 7), (0, 10), (2, 12)]
    assert report.result("belated") == [(4, 6)]


class History(Bolt):
    """Says for each tuple what has come before it of the same number."""

    outputs = ["number", "history"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._chains: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        number = tup.values.number
        self._chains[number] = chained(self._chains.get(number, 0), repr(tuple(tup.values)))
        self.emit([number, self._chains[number]])


def plan_free(builder_of: Any, seed: int) -> Rows:
    """The rows of a topology with state after the spouts, by a plan that a seed draws."""
    parallelism, options = drawn(seed)
    rows: Rows = run_built(builder_of(parallelism), **options).result("sink")
    return rows


@pytest.mark.parametrize("seed", at_every_change(range(4)))
def test_no_plan_shows(seed: int) -> None:
    """Late rows go to a stream, two spouts merge with it, and a bolt keeps the history of each key."""

    def built(parallelism: int) -> TopologyBuilder:
        builder = TopologyBuilder()
        for name, late in (("one", "tardy"), ("two", "drop")):
            config = {**Shuffled.config, SLACK: 20, LATE: late}
            times = jittered(seed * 10 + len(late), count=300)
            builder.set_spout(name, Shuffled, args=[times], config=config)
        forward = builder.set_bolt("forward", Forward, parallelism, args=[2])
        history = builder.set_bolt("history", History, parallelism)
        for name in ("one", "two"):
            forward.fields_grouping(name, ["number"])
        history.fields_grouping("forward", ["number"]).fields_grouping("one", ["number"], stream="tardy")
        builder.set_bolt("sink", CollectingSink).global_grouping("history")
        return builder

    first = plan_free(built, 0)
    assert first
    for draw in range(1, 8):
        assert plan_free(built, seed * 100 + draw) == first


class Texts(Spout):
    """Emits ISO 8601 texts as event time, with and without a zone."""

    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time", SLACK: 3_600_000}

    def tuples(self) -> Any:
        yield [0, "2013-01-01T05:00:00Z"]
        yield [1, "2013-01-01T05:30:00+01:00"]
        yield [2, "2013-01-01 04:45"]
        self.emit([3, None], timestamp="2013-01-01T04:40:00.000001")


def test_texts_as_event_time() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Texts)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    assert [number for number, _ in run_built(builder).result("sink")] == [1, 3, 2, 0]


class Pulse(Bolt):
    """Says at each tick how many tuples have come, which a second bolt joins with the tuples."""

    outputs = ["number", "time"]
    config = {"topology.tick.tuple.freq.secs": 0.01}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._count = 0

    def process(self, tup: Any) -> None:
        self._count += 1

    def process_tick(self, tup: Any) -> None:
        self.emit([self._count, -1])


@every_kind
def test_ticks_stand_among_the_tuples_where_their_time_is(workers: Workers) -> None:
    times = jittered(17, count=200)
    builder = TopologyBuilder()
    builder.set_spout("source", Shuffled, args=[times], config={**Shuffled.config, SLACK: 50})
    builder.set_bolt("pulse", Pulse).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("pulse").global_grouping("source")
    seen = 0
    for number, time in workers.run(builder).result("sink"):
        if time == -1:
            assert number == seen
        else:
            seen += 1
    assert seen == len(times)


# -- the end


class Endless(Shuffled):
    """Goes on for ever: two steps ahead, one back."""

    def tuples(self) -> Any:
        number = 0
        while True:
            yield [number, number + (1 if number % 2 else 2)]
            number += 1


@every_kind
@pytest.mark.parametrize("slack", [1, 10**9])
def test_a_stop_lets_go_of_what_is_held_in_order(workers: Workers, slack: int) -> None:
    report = workers.run(topology(Endless, [], slack=slack), {"max_tuples": 101})
    assert report.reason == "max-tuples" and report.drained
    times = [number + (1 if number % 2 else 2) for number in range(101)]
    assert report.result("sink") == sorted_rows(times)
    assert counted(report, "emitted") == 101


class Waiting(Tracked):
    """Brings nothing more after its rows, but does not end."""

    def next_tuple(self) -> None:
        row = next(self._waiting, None)
        if row is not None:
            self.emit(row, tup_id=row[0])


@every_kind
def test_tracked_tuples_that_are_held_when_the_run_stops_are_acked(workers: Workers) -> None:
    report = workers.run(topology(Waiting, [9, 3, 5], slack=10**6), {"max_tuples": 3})
    assert report.result("sink") == [(1, 3), (2, 5), (0, 9)]
    assert sorted(report.components["source"].metrics["acked"]) == [0, 1, 2]
    assert report.drained


# -- emits of other kinds


def test_an_emit_that_asks_for_its_receivers_is_refused() -> None:
    class Asking(Shuffled):
        def tuples(self) -> Any:
            self.emit([1, 1], need_task_ids=True)
            yield None

    with pytest.raises(Exception, match="need_task_ids=True, but its tuples are held back"):
        run_built(topology(Asking, [], slack=5))


@every_kind
def test_direct_tuples_come_to_the_tasks_that_were_named_for_them(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Directing, config={**Directing.config, SLACK: 50})
    builder.set_bolt("sink", CollectingSink, 2).direct_grouping("source")
    found = workers.run(builder).results["sink"]
    times = jittered(15, count=100)
    assert list(found) == [[row for row in sorted_rows(times) if row[0] % 2 == rest] for rest in (0, 1)]


class Directing(Spout):
    """Sends even numbers to the first task of the sink, and odd ones to the second."""

    outputs = [Stream(["number", "time"], direct=True)]
    config = {"viper.timestamp.field": "time"}

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._sinks = sorted(int(task) for task, name in context["task->component"].items() if name == "sink")

    def tuples(self) -> Any:
        for number, time in enumerate(jittered(15, count=100)):
            self.emit([number, time], direct_task=self._sinks[number % 2])
        yield None


# -- recorded


def test_a_recording_holds_the_order_in_which_tuples_were_placed(tmp_path: Path) -> None:
    times = jittered(16)
    plan, settings = plan_of(topology(Shuffled, times, slack=20, late="tardy"))
    tape = tmp_path / "tape"
    for report in (run(plan, settings, record=tape), run(plan, settings, replay=tape)):
        assert (report.result("sink"), report.result("belated")) == expected(times, 20)


def test_what_nobody_subscribes_to_counts_whether_or_not_it_is_recorded(tmp_path: Path) -> None:
    def tuples(self: Any) -> Any:
        self.emit([1], timestamp=10)
        self.emit([2], timestamp=50, stream="unheard")
        self.emit([3], timestamp=20)
        yield None

    streams = [Stream(["number"]), Stream(["number"], name="unheard")]
    builder = TopologyBuilder()
    config = {"viper.spout.bounded": True, SLACK: 5, LATE: "drop"}
    builder.set_spout("source", spout(tuples, streams), config=config)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    plan, settings = plan_of(builder, viper__time="event")
    for record in (None, tmp_path / "tape"):
        report = run(plan, settings, record=record)
        assert (report.result("sink"), counted(report, "late")) == ([(1,)], 1)
