"""Runs that are recorded, and repeated from what was recorded."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TicklessBatchingBolt, TopologyBuilder
from framework.model.errors import ComponentError, RecordingError
from framework.operators.sinks import CollectingSink
from framework.recording import Recording
from framework.recording.comparing import compare
from framework.runtime import RunReport, run
from tests.framework.runtime.pieces import Count, Numbers, plan_of
from tests.framework.runtime.shapes import SHAPES
from tests.portions import at_every_change

KINDS = [{"viper__worker": "inline"}, {"viper__worker": "thread", "topology__workers": 2}]
PROCESSES = {"viper__worker": "process", "topology__workers": 2}


def taped(
    builder: TopologyBuilder, *, record: Path | None = None, replay: Path | None = None, **options: Any
) -> RunReport:
    plan, settings = plan_of(builder, **options)
    return run(plan, settings, record=record, replay=replay)


def differences(a: Path, b: Path) -> list[tuple[str, str]]:
    """The streams in which two recordings differ."""
    with Recording(a) as first, Recording(b) as second:
        return [
            (component.id, stream.name)
            for component in first.header.components
            for stream in component.streams
            if compare(first, second, component.id, stream.name).first is not None
        ]


class Polled(Spout):
    """Emits so many numbers, one at a time, and now and then none."""

    outputs = ["source", "number"]
    config = {"viper.spout.bounded": False}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._polls = itertools.count()

    def next_tuple(self) -> None:
        poll = next(self._polls)
        if poll == 400:
            raise StopIteration
        if poll % 7:
            self.emit([f"s{self.task_id}", poll])


class Sums(Bolt):
    """Adds up, and says the sum at each tick: its output depends on when ticks come."""

    outputs = ["sum", "ticks"]
    config = {"topology.tick.tuple.freq.secs": 0.001}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._sum = self._ticks = 0

    def process(self, tup: Any) -> None:
        self._sum += tup.values[1]
        self.emit([self._sum, self._ticks])

    def process_tick(self, tup: Any) -> None:
        self._ticks += 1
        self.emit([-self._sum, self._ticks])


class Batches(TicklessBatchingBolt):
    outputs = ["size", "last"]
    secs_between_batches = 0.001

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([len(tups), tups[-1].values[0]])


def live(par: int = 2) -> TopologyBuilder:
    """Build a topology whose output depends on the wall clock in three ways: sources, ticks and batches."""
    builder = TopologyBuilder()
    builder.set_spout("a", Polled, 2)
    builder.set_spout("b", Polled)
    builder.set_bolt("count", Count, par).fields_grouping("a", "number").fields_grouping("b", "number")
    builder.set_bolt("sums", Sums).global_grouping("count")
    builder.set_bolt("batches", Batches).global_grouping("sums")
    builder.set_bolt("sink", CollectingSink).global_grouping("batches").global_grouping("sums")
    return builder


@pytest.mark.parametrize("options", at_every_change([PROCESSES, *KINDS]))
def test_a_live_run_is_repeated_tuple_for_tuple(tmp_path: Path, options: dict[str, Any]) -> None:
    first, second = tmp_path / "live", tmp_path / "again"
    recorded = taped(live(), record=first, **options)
    repeated = taped(live(), record=second, replay=first, viper__time="ingest")
    assert recorded.time == "ingest"
    assert repeated.result("sink") == recorded.result("sink")
    assert differences(first, second) == []


def test_ticks_are_part_of_what_is_repeated(tmp_path: Path) -> None:
    """Without them the sums would come at other places: the check above sees that."""
    taped(live(), record=tmp_path / "live")
    with Recording(tmp_path / "live") as recording:
        assert list(recording.ticks("sums", 0)), "the run was too short for a tick"


@pytest.mark.slow
def test_two_live_runs_differ_where_the_recording_shows_it(tmp_path: Path) -> None:
    for name in "ab":
        taped(live(), record=tmp_path / name)
    assert ("sums", "default") in differences(tmp_path / "a", tmp_path / "b")


@pytest.mark.few(6)
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_plan_does_not_show_in_a_recording(tmp_path: Path, shape: str) -> None:
    serial, parallel, replayed = (tmp_path / name for name in ("serial", "parallel", "replayed"))
    taped(SHAPES[shape](1, 60), record=serial)
    taped(SHAPES[shape](3, 60), record=parallel, viper__worker="thread", topology__workers=2)
    taped(SHAPES[shape](2, 60), record=replayed, replay=parallel)
    assert differences(serial, parallel) == []
    assert differences(serial, replayed) == []


class ByNumber:
    """A custom grouping that chooses one task."""

    def prepare(self, context: Any, component: str, stream: str, target_tasks: Sequence[int]) -> None:
        self.tasks = target_tasks

    def choose_tasks(self, values: Sequence[Any]) -> list[int]:
        return [self.tasks[values[1] % len(self.tasks)]]


class OneByNumber(ByNumber):
    """As its base, and says so."""

    copies = False


def chosen(grouping: type, par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[30])
    builder.set_bolt("count", Count, par).custom_grouping("source", grouping)
    builder.set_bolt("sink", CollectingSink).global_grouping("count")
    return builder


@pytest.mark.parametrize("options", [*KINDS, PROCESSES])
def test_a_plan_does_not_show_behind_a_custom_grouping_that_makes_no_copies(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    taped(chosen(OneByNumber, 1), record=tmp_path / "serial")
    taped(chosen(OneByNumber, 3), record=tmp_path / "parallel", **options)
    assert differences(tmp_path / "serial", tmp_path / "parallel") == []


def test_a_custom_grouping_that_may_make_copies_has_the_replica_in_its_positions(tmp_path: Path) -> None:
    serial = taped(chosen(ByNumber, 1), record=tmp_path / "serial")
    parallel = taped(chosen(ByNumber, 3), record=tmp_path / "parallel")
    assert serial.result("sink") == parallel.result("sink")
    assert differences(tmp_path / "serial", tmp_path / "parallel") == [("count", "default")]


def test_streams_that_nobody_reads_are_recorded(tmp_path: Path) -> None:
    class Both(Bolt):
        outputs = [Stream(["value"], name="read"), Stream(["value"], name="unread")]

        def process(self, tup: Any) -> None:
            self.emit([1], stream="read")
            self.emit([tup.values[1]], stream="unread")

    class Last(Bolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            self.emit([[tup.values[0]]])

    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[5])
    builder.set_bolt("both", Both).shuffle_grouping("source")
    builder.set_bolt("last", Last).shuffle_grouping("both", "read")
    taped(builder, record=tmp_path / "run")
    with Recording(tmp_path / "run") as recording:
        assert [t.values for t in recording.tuples("both", "unread")] == [(n,) for n in range(5)]
        assert [t.values for t in recording.tuples("last", "default")] == [([1],)] * 5


def test_the_spouts_are_not_made_in_a_replay(tmp_path: Path) -> None:
    class Once(Spout):
        outputs = ["source", "number"]
        made = 0

        def __init__(self) -> None:
            super().__init__()
            type(self).made += 1

        def tuples(self) -> Iterator[list[Any]]:
            yield ["once", 1]

    def builder() -> TopologyBuilder:
        made = TopologyBuilder()
        made.set_spout("source", Once)
        made.set_bolt("sink", CollectingSink).global_grouping("source")
        return made

    assert taped(builder(), record=tmp_path / "run").result("sink") == [("once", 1)]
    made = Once.made
    assert taped(builder(), replay=tmp_path / "run").result("sink") == [("once", 1)]
    assert Once.made == made


def test_a_run_that_fails_leaves_what_it_recorded(tmp_path: Path) -> None:
    class Fails(Bolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            self.emit([tup.values[1]])
            if tup.values[1] == 30:
                raise ValueError("enough")

    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[50])
    builder.set_bolt("fails", Fails).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("fails")
    with pytest.raises(ComponentError, match="enough"):
        taped(builder, record=tmp_path / "run")
    with Recording(tmp_path / "run") as recording:
        assert not recording.header.complete
        assert "enough" in recording.header.reason
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_recording_of_other_spouts_is_refused_before_anything_starts(tmp_path: Path) -> None:
    taped(live(), record=tmp_path / "live")
    with pytest.raises(RecordingError, match="'source' is not in it"):
        taped(SHAPES["chain"](1, 5), replay=tmp_path / "live", viper__time="ingest")
