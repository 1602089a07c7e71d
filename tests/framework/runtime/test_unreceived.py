"""Emits that are not as their stream declares, where nobody subscribes to it: fine, as on Storm."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Spout, Stream, TopologyBuilder
from framework.model.config import resolve
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.recording import Recording
from framework.recording.tap import tap_id, tapped
from framework.runtime import run
from tests.framework.runtime.pieces import bolt, polled, run_built

HEARD, UNHEARD = Stream(["value"]), Stream(["value"], name="unheard")
TYPED = Stream(schema={"value": "int64 not null"}, name="unheard")
DIRECT = Stream(["value"], name="unheard", direct=True)
ROWS = [[0], [1], [2]]
UNFIT: list[tuple[str, Stream, Any, str]] = [
    ("too many", UNHEARD, lambda b: b.emit([1, 2], stream="unheard"), "2 values [1, 2], expected 1"),
    ("none", UNHEARD, lambda b: b.emit([], stream="unheard"), "0 values [], expected 1"),
    (
        "for a task",
        UNHEARD,
        lambda b: b.emit([1], stream="unheard", direct_task=1),
        "direct_task=1, but the stream is not declared direct=True",
    ),
    ("for no task", DIRECT, lambda b: b.emit([1], stream="unheard"), "a direct stream needs direct_task="),
    ("of another type", TYPED, lambda b: b.emit(["x"], stream="unheard"), "'x'"),
    ("too many for a schema", TYPED, lambda b: b.emit([1, 2], stream="unheard"), "2 values [1, 2]"),
]


class Three(Spout):
    outputs = ["value"]

    def tuples(self) -> Iterator[list[int]]:
        yield from ROWS


class Two(Bolt):
    """Emits two values on a stream of one."""

    outputs = [HEARD, UNHEARD]

    def process(self, tup: Any) -> None:
        self.emit([1, 2], stream="unheard")
        self.emit(tup.values)


def heard(component: type, *, subscribe: bool = False) -> TopologyBuilder:
    """The bolt's stream "unheard" goes to a sink only if it is said so; its default stream always does."""
    builder = TopologyBuilder()
    builder.set_spout("source", Three)
    builder.set_bolt("bolt", component).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    if subscribe:
        builder.set_bolt("all", CollectingSink).all_grouping("bolt", "unheard")
    return builder


def emitting(emit: Any, stream: Stream) -> type:
    def process(self: Any, tup: Any) -> None:
        emit(self)
        self.emit(tup.values)

    return bolt(process, [HEARD, stream])


@pytest.mark.parametrize(
    ("stream", "emit", "said"), [case[1:] for case in UNFIT], ids=[case[0] for case in UNFIT]
)
def test_what_nobody_receives_is_not_compared_with_its_stream(
    stream: Stream, emit: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    report = run_built(heard(emitting(emit, stream)), viper__on__error="stop")
    assert report.result("sink") == [tuple(row) for row in ROWS]
    counters = report.components["bolt"]
    assert (counters.emitted, counters.errors, counters.restarts) == (6, 0, 0)
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.getMessage().startswith("component 'bolt', stream 'unheard': ")
    assert said in warning.getMessage()
    assert "nobody subscribes to the stream" in warning.getMessage()


@pytest.mark.parametrize(
    ("stream", "emit", "said"),
    [case[1:] for case in UNFIT if not case[1].direct],
    ids=[case[0] for case in UNFIT if not case[1].direct],
)
def test_the_same_is_refused_where_somebody_does(stream: Stream, emit: Any, said: str) -> None:
    with pytest.raises(ComponentError) as error:
        run_built(heard(emitting(emit, stream), subscribe=True), viper__on__error="stop")
    assert said in str(error.value)


def test_an_emit_for_its_receivers_is_told_of_none() -> None:
    def process(self: Any, tup: Any) -> None:
        self.emit([self.emit([1, 2, 3], stream="unheard", need_task_ids=True)])

    report = run_built(heard(bolt(process, [HEARD, UNHEARD])), viper__on__error="stop")
    assert report.result("sink") == [([],)] * 3


def rows_bolt(unfit: Any, stream: Stream) -> type[BatchBolt]:
    class Rows(BatchBolt):
        outputs = [HEARD, stream]

        def process_rows(self, rows: Sequence[Any]) -> None:
            self.emit_rows(unfit(len(rows)), stream="unheard")
            self.emit_rows([list(row) for row in rows])

    return Rows


@pytest.mark.parametrize(
    ("stream", "unfit"),
    [
        (UNHEARD, lambda count: [[1, 2]] * count),
        (TYPED, lambda count: [["x"]] * count),
        (TYPED, lambda count: {"other": [1] * count}),
        (TYPED, lambda count: {"value": ["x"] * count}),
    ],
    ids=["rows", "rows of another type", "other columns", "columns of another type"],
)
def test_rows_and_columns(stream: Stream, unfit: Any, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("pyarrow")
    report = run_built(heard(rows_bolt(unfit, stream)), viper__on__error="stop")
    assert report.result("sink") == [tuple(row) for row in ROWS]
    assert report.components["bolt"].emitted == 6
    assert len([record for record in caplog.records if "nobody subscribes" in record.getMessage()]) == 1


def test_a_spouts_tracked_emit_is_acked_at_once() -> None:
    """As on Storm, where a tree of no tuples is done as soon as it begins."""
    acked: list[int] = []

    def next_tuple(self: Any) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count == 3:
            raise StopIteration
        self.emit([1, 2], tup_id=self.count, stream="unheard")
        self.emit([self.count], tup_id=10 * self.count)

    def ack(self: Any, tup_id: int) -> None:
        acked.append(tup_id)

    builder = TopologyBuilder()
    builder.set_spout("source", polled(next_tuple, [HEARD, UNHEARD], ack=ack))
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = run_built(builder, viper__on__error="stop")
    assert report.result("sink") == [(1,), (2,)]
    assert sorted(acked) == [1, 2, 10, 20]


def test_a_stream_that_is_only_printed_or_recorded_is_let_pass_as_well(tmp_path: Path) -> None:
    """Components notice nothing of a tap that looks on."""
    topology = heard(Two).build("t")
    topology = tapped(topology, "bolt", CollectingSink, "unheard", looks_on=True)
    for kind in ("inline", "process"):
        settings, problems = resolve(topology, options={"viper.worker": kind, "viper.on.error": "stop"})
        assert not problems
        file = tmp_path / kind
        report = run(make_plan(topology, settings), settings, record=file)
        assert report.result(tap_id("bolt", "unheard", looks_on=True)) == [(1, 2)] * 3
        with Recording(file) as recording:
            assert [one.values for one in recording.tuples("bolt", "unheard")] == [(1, 2)] * 3


def test_a_recorded_row_without_its_timestamp_field_has_no_event_time(tmp_path: Path) -> None:
    """It is counted in the order of time only because it is recorded, so it must have one."""
    timed = Stream(["value", "time"], name="unheard")

    def next_tuple(self: Any) -> None:
        self.emit([1], stream="unheard")
        raise StopIteration

    builder = TopologyBuilder()
    outputs = [Stream(["value", "time"]), timed]
    own = {"viper.timestamp.field": "time"}
    builder.set_spout("source", polled(next_tuple, outputs, config=own))
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    assert run_built(builder, viper__time="event").result("sink") == []
    with pytest.raises(ComponentError, match=r"emitted \(1,\) without event time"):
        run_built(builder, {"record": tmp_path / "recording"}, viper__time="event")
