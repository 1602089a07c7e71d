"""Rows that are further out of order than the slack allows, and tracked tuples that are held back."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Stream, TopologyBuilder
from framework.cli.run import summary_lines
from framework.model.errors import ComponentError
from framework.operators.components import ReliableSpout
from framework.operators.sinks import CollectingSink
from framework.planning.validation import validate
from tests.framework.runtime.disorder import (
    LATE,
    SLACK,
    Shuffled,
    Tracked,
    counted,
    expected,
    jittered,
    sorted_rows,
    topology,
)
from tests.framework.runtime.pieces import run_built, spout
from tests.framework.runtime.workers.running import Workers, every_kind

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


@pytest.mark.few(6)
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


# -- validated


def complaints(**config: Any) -> list[str]:
    return [problem.message for problem in validate(topology(Shuffled, [], **config).build("tested"))]


def test_late_tuples_need_a_stream_of_the_spout() -> None:
    assert complaints(slack=5, late="tardy") == []
    (said,) = complaints(slack=5, late="trady")
    assert "viper.timestamp.late is 'trady'" in said and "did you mean 'tardy'" in said


def test_late_tuples_need_a_stream_with_the_same_fields() -> None:
    streams = [Stream(["number"]), Stream(["other"], name="tardy"), Stream(["number"], name="d", direct=True)]
    unlike = "its fields are ['other'], expected those of stream 'default'"
    for late, found in (("tardy", unlike), ("d", "not direct")):
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


def test_the_summary_tells_of_late_tuples() -> None:
    lines = list(summary_lines(run_built(topology(Shuffled, [9, 3, 4], slack=5, late="drop"))))
    assert any("source: 1 late tuples" in line for line in lines), lines
    assert any(line.split()[:2] == ["component", "emitted"] and "late" in line.split() for line in lines)
