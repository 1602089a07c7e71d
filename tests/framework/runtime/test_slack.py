"""Rows that are a little out of order: put in order within a slack; what is later than that."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.components import ReliableSpout
from framework.errors import ComponentError
from framework.runtime import RunReport, run
from framework.sinks import CollectingSink
from framework.validation import validate
from tests.framework.runtime.pieces import Forward, chained, drawn, plan_of, run_built, spout
from tests.framework.runtime.workers.running import Workers, every_kind

Rows = list[tuple[Any, ...]]

SLACK, LATE, PENDING = "viper.timestamp.slack", "viper.timestamp.late", "topology.max.spout.pending"


class Shuffled(Spout):
    """Emits (number, time) for these times, in milliseconds; late ones may go to a stream of their own."""

    outputs = [Stream(["number", "time"]), Stream(["number", "time"], name="tardy")]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self._rows = [[number, time] for number, time in enumerate(times)]

    def tuples(self) -> Any:
        yield from self._rows


class Tracked(Spout):
    """Emits the same with ids, one at a call, and writes down its acks."""

    outputs = Shuffled.outputs
    config = Shuffled.config

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self._rows = [[number, time] for number, time in enumerate(times)]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._heard: list[Any] = []
        self._waiting = iter(self._rows)

    def next_tuple(self) -> None:
        row = next(self._waiting)
        self.emit(row, tup_id=row[0])

    def ack(self, tup_id: Any) -> None:
        self._heard.append(tup_id)
        self.report_metric("acked", self._heard)

    def fail(self, tup_id: Any) -> None:
        raise AssertionError(tup_id)


def jittered(seed: int, count: int = 400, jitter: int = 50) -> list[int]:
    """Times that rise on the whole, and are out of order by less than the jitter."""
    draw = random.Random(seed)
    return [number * 3 + draw.randrange(jitter) for number in range(count)]


def sorted_rows(times: Sequence[int]) -> Rows:
    return sorted(enumerate(times), key=lambda row: row[1])


def expected(times: Sequence[int], slack: int) -> tuple[Rows, Rows]:
    """What is in time, in order, and what is late, as one that was before it is later by more than the slack."""
    in_time, late, latest = [], [], -(1 << 60)
    for number, time in enumerate(times):
        (late if time < latest - slack else in_time).append((number, time))
        latest = max(latest, time)
    return sorted(in_time, key=lambda row: row[1]), late


def topology(source: type[Spout], times: list[int], **config: Any) -> TopologyBuilder:
    """A spout, a sink of its tuples, and one of those that are late."""
    named = {f"viper.timestamp.{name}": value for name, value in config.items() if name != "pending"}
    if "pending" in config:
        named[PENDING] = config["pending"]
    builder = TopologyBuilder()
    builder.set_spout("source", source, args=[times], config={**source.config, **named})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    builder.set_bolt("belated", CollectingSink).global_grouping("source", stream="tardy")
    return builder


def counted(report: RunReport, name: str) -> int:
    value: int = getattr(report.components["source"], name)
    return value


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
    """The rows of a topology with state behind the spouts, by a plan that a seed draws."""
    parallelism, options = drawn(seed)
    rows: Rows = run_built(builder_of(parallelism), **options).result("sink")
    return rows


@pytest.mark.parametrize("seed", range(4))
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


# -- late


@every_kind
@pytest.mark.parametrize("slack", [0, 10, 30])
def test_late_rows_go_to_a_stream(workers: Workers, slack: int) -> None:
    times = jittered(11)
    in_time, late = expected(times, slack)
    assert late
    report = workers.run(topology(Shuffled, times, slack=slack, late="tardy"))
    assert (report.result("sink"), report.result("belated")) == (in_time, late)
    assert counted(report, "late") == len(late)


@every_kind
def test_late_rows_are_dropped_and_counted(workers: Workers) -> None:
    times = jittered(12)
    in_time, late = expected(times, 10)
    report = workers.run(topology(Shuffled, times, slack=10, late="drop"))
    assert (report.result("sink"), report.result("belated")) == (in_time, [])
    assert (counted(report, "late"), counted(report, "emitted")) == (len(late), len(times))


@every_kind
def test_a_late_row_ends_the_run_by_default(workers: Workers) -> None:
    with pytest.raises(ComponentError) as caught:
        workers.run(topology(Shuffled, [50, 45, 70, 64], slack=5))
    said = str(caught.value)
    assert "component 'source', task " in said
    assert "emitted (3, 64) at 64000 us, after a tuple at 70000 us" in said
    assert "viper.timestamp.slack allows for 5000 us" in said and "viper.timestamp.late" in said


# -- tracked


@every_kind
@pytest.mark.parametrize("late", ["tardy", "drop"])
def test_each_tuple_is_acked_by_its_own_id_also_if_it_is_late(workers: Workers, late: str) -> None:
    times = jittered(13, count=200)
    in_time, behind = expected(times, 10)
    report = workers.run(topology(Tracked, times, slack=10, late=late))
    assert report.result("sink") == in_time
    assert report.result("belated") == (behind if late == "tardy" else [])
    assert sorted(report.components["source"].metrics["acked"]) == list(range(len(times)))
    assert counted(report, "tracked") == len(times) - (0 if late == "tardy" else len(behind))
    assert (counted(report, "failed"), counted(report, "unanswered")) == (0, 0)


@every_kind
@pytest.mark.parametrize("pending", [1, 2, 7, 1000])
def test_tuples_that_are_held_count_as_pending_and_the_earliest_goes_when_they_are_all(
    workers: Workers, pending: int
) -> None:
    times = jittered(14, count=100)
    report = workers.run(topology(Tracked, times, slack=10**6, late="tardy", pending=pending))
    rows = report.result("sink")
    assert rows == sorted(rows, key=lambda row: row[1])
    assert sorted(rows + report.result("belated")) == list(enumerate(times))
    assert sorted(report.components["source"].metrics["acked"]) == list(range(len(times)))
    dropping = topology(Tracked, times, slack=10**6, late="drop", pending=pending)
    assert rows == run_built(dropping).result("sink")
    if pending == 1000:
        assert rows == sorted_rows(times)


def test_a_late_row_names_the_pending_tuples_where_they_are_the_cause() -> None:
    with pytest.raises(ComponentError, match=r"\(2, 4\) at 4000 us.*raise topology.max.spout.pending"):
        run_built(topology(Tracked, [5, 9, 4], slack=100, pending=2))


class Retried(ReliableSpout):
    """Emits numbers with times, and repeats what fails."""

    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time", SLACK: 10}
    max_fails = 3

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._rows = [[number, time] for number, time in enumerate([5, 2, 30, 25, 60, 55])]

    def next_tuple(self) -> None:
        if self._rows:
            row = self._rows.pop(0)
            self.emit(row, tup_id=row[0])


class FailsOnce(Bolt):
    """Fails a number the first time that it comes."""

    outputs = ["number", "time"]
    auto_ack = False

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._to_fail = {1, 3}

    def process(self, tup: Any) -> None:
        if tup.values.number in self._to_fail:
            self._to_fail.remove(tup.values.number)
            self.fail(tup)
        else:
            self.emit(list(tup.values))
            self.ack(tup)


@every_kind
def test_a_tuple_that_failed_is_never_late(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Retried)
    builder.set_bolt("fails", FailsOnce).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("fails")
    report = workers.run(builder, {"max_tuples": 8})
    assert sorted(report.result("sink")) == [(0, 5), (1, 2), (2, 30), (3, 25), (4, 60), (5, 55)]
    assert (counted(report, "failed"), counted(report, "late"), counted(report, "acked")) == (2, 0, 6)


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
    for report in (run(plan, settings, record=tmp_path / "tape"), run(plan, settings, replay=tmp_path / "tape")):
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


# -- validated


def complaints(**config: Any) -> list[str]:
    return [problem.message for problem in validate(topology(Shuffled, [], **config).build("tested"))]


def test_late_tuples_need_a_stream_of_the_spout() -> None:
    assert complaints(slack=5, late="tardy") == []
    (said,) = complaints(slack=5, late="trady")
    assert "viper.timestamp.late is 'trady'" in said and "did you mean 'tardy'" in said


def test_late_tuples_need_a_stream_with_the_same_fields() -> None:
    streams = [Stream(["number"]), Stream(["other"], name="tardy"), Stream(["number"], name="d", direct=True)]
    for late, found in (("tardy", "its fields are ['other'], expected those of stream 'default'"), ("d", "not direct")):
        builder = TopologyBuilder()
        config = {"viper.timestamp.field": "number", SLACK: 5, LATE: late}
        builder.set_spout("source", spout(lambda self: iter(()), streams), config=config)
        builder.set_bolt("sink", CollectingSink).global_grouping("source")
        said = [problem for problem in validate(builder.build("tested")) if not problem.warning]
        assert any(found in problem.message for problem in said), said


def test_a_slack_without_event_time_is_warned_of() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout(lambda self: iter(()), ["number"]), config={SLACK: 5})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    (problem,) = validate(builder.build("tested"))
    assert problem.warning and "have no effect: viper.time is logical" in problem.message
