"""A spout that brings what a component has emitted in a recorded run: all of it, in order, and as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder, run
from framework.model.errors import ViperError
from framework.operators.sinks import CollectingSink
from framework.recording import Recording
from framework.recording.replay import RecordedSpout


class Numbers(Spout):
    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "us"}

    def tuples(self) -> Iterator[list[int]]:
        for number in range(700):
            yield [number, number // 3]


class Parted(Bolt):
    outputs = [Stream(["number"]), Stream(["third"], name="thirds")]

    def process(self, tup: Any) -> None:
        self.emit([tup.values.number])
        if tup.values.number % 3 == 0:
            self.emit([tup.values.number // 3], stream="thirds")


class Times(Bolt):
    outputs = ["values"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("parted", Parted, 2).shuffle_grouping("numbers")
    path = tmp_path_factory.mktemp("recorded") / "run.viper"
    run(builder.build("numbers"), worker="inline", conf={"viper.shuffle.run": 5}, record=path)
    return path


def brought(recorded: Path, again: Path, tasks: int = 1, time: str = "event", **options: Any) -> Any:
    """The report of a run in which the tuples come again, which is recorded as well."""
    builder = TopologyBuilder()
    builder.set_config("viper.time", time)
    builder.set_spout(
        "parted", RecordedSpout, tasks, args=(str(recorded), "parted"), kwargs=options, outputs=Parted.outputs
    )
    sink = builder.set_bolt("sink", CollectingSink)
    sink.shuffle_grouping("parted").shuffle_grouping("parted", "thirds")
    return run(builder.build("again"), worker="inline", record=again)


def rows_of(path: Path) -> list[tuple[int, int, Any]]:
    with Recording(path) as recording:
        return [(found.position.ts, found.tag, found.values) for found in recording.tuples("parted")]


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_all_tuples_come_with_their_times(recorded: Path, tmp_path: Path, tasks: int) -> None:
    brought(recorded, tmp_path / "again.viper", tasks)
    found, expected = rows_of(tmp_path / "again.viper"), rows_of(recorded)
    assert len(expected) == 700 + 234
    assert sorted(found) == sorted(expected) if tasks > 1 else found == expected


def test_without_event_time_they_come_in_their_order(recorded: Path, tmp_path: Path) -> None:
    brought(recorded, tmp_path / "again.viper", time="logical")
    found = rows_of(tmp_path / "again.viper")
    assert [row[1:] for row in found] == [row[1:] for row in rows_of(recorded)]


def test_some_streams_are_brought(recorded: Path, tmp_path: Path) -> None:
    report = brought(recorded, tmp_path / "again.viper", streams=["thirds"])
    assert report.result("sink") == [(number,) for number in range(234)]


def test_a_call_emits_what_is_wanted_however_rare_it_is(recorded: Path) -> None:
    spout = RecordedSpout(str(recorded), "parted", ["thirds"])
    spout.initialize(
        {"viper.time": "logical"}, {"task->component": {"4": "x"}, "componentid": "x", "taskid": 4}
    )
    emitted: list[Any] = []
    spout.emit = lambda values, *others, **options: emitted.append(values)  # type: ignore[method-assign]
    spout.next_tuple()
    assert emitted == [(number,) for number in range(234)]
    spout.close()


@pytest.mark.parametrize("tracked", [False, True])
def test_they_are_tracked_if_that_is_asked_for(recorded: Path, tmp_path: Path, tracked: bool) -> None:
    report = brought(recorded, tmp_path / "again.viper", tracked=tracked)
    assert report.components["parted"].acked == (934 if tracked else 0)


class Late(Bolt):
    """Emits when there is no input left, which is behind all times."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        pass

    def process_tick(self, tup: Any) -> None:
        self.emit([1])


def test_what_was_emitted_behind_all_input_comes_last(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("late", Late, config={"topology.tick.tuple.freq.secs": 1}).shuffle_grouping("numbers")
    run(builder.build("late"), worker="inline", record=tmp_path / "late.viper")
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    arguments = (str(tmp_path / "late.viper"), "late")
    builder.set_spout("late", RecordedSpout, args=arguments, outputs=["number"])
    builder.set_bolt("sink", CollectingSink).shuffle_grouping("late")
    assert run(builder.build("again"), worker="inline").result("sink") == [(1,)]


def test_an_unknown_component_ends_the_run(recorded: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("parts", RecordedSpout, args=(str(recorded), "part"), outputs=["number"])
    builder.set_bolt("sink", CollectingSink).shuffle_grouping("parts")
    with pytest.raises(ViperError, match=r"unknown component 'part'.*did you mean 'parted'"):
        run(builder.build("again"), worker="inline")
