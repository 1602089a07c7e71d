"""Runs that no checkpoint can be made of, or that cannot resume from one, are refused before they start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import BatchingBolt, Bolt, TopologyBuilder
from framework.model.errors import CheckpointError, PlaceError, SuspendError
from framework.operators.sinks import CollectingSink
from framework.runtime import Run, RunReport
from framework.runtime.durability.checkpoints import CheckpointFolder, locked
from framework.runtime.durability.checkpoints.manifest import Manifest
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, Twice, built, run_suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import Numbers, plan_of, run_built

COUNT = 100


@pytest.fixture(scope="module")
def suspended(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    folder = tmp_path_factory.mktemp("checkpoints")
    return run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 50), 1, 1), folder)


def test_a_spout_that_cannot_say_where_it_is(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("sink", CollectingSink).global_grouping("numbers")
    with pytest.raises(CheckpointError, match="spout 'numbers' cannot say where it is: define offset"):
        run_built(builder, {"checkpoints": tmp_path / "folder"})
    assert not (tmp_path / "folder").exists()


def test_a_cycle(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    bolt = builder.set_bolt("round", Twice)
    bolt.shuffle_grouping("source")
    bolt.shuffle_grouping("round")
    with pytest.raises(CheckpointError, match="what goes back from 'round' to 'round' has no place"):
        run_built(builder, {"checkpoints": tmp_path})


class Batches(BatchingBolt):
    outputs = ["size"]

    def process_batch(self, key: Any, tups: Any) -> None:
        self.emit([len(tups)])


def test_a_bolt_that_gathers_batches(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    builder.set_bolt("batches", Batches).shuffle_grouping("source")
    with pytest.raises(CheckpointError, match="bolt 'batches' gathers batches, which no checkpoint holds"):
        run_built(builder, {"checkpoints": tmp_path})


def test_a_replay(tmp_path: Path) -> None:
    builder, recording = built(Partitions(), 1, 1), tmp_path / "recording"
    run_built(builder, {"record": recording})
    with pytest.raises(CheckpointError, match="a recording stands in for its spouts"):
        run_built(builder, {"replay": recording, "checkpoints": tmp_path / "folder"})


def test_another_run_in_the_same_folder(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(CheckpointError, match="belongs to a run that is going on"),
    ):
        run_built(built(Partitions(), 1, 1), {"checkpoints": tmp_path})


def test_a_run_without_a_folder_is_not_suspended() -> None:
    run = Run(*plan_of(built(Partitions(), 1, 1)))
    with pytest.raises(SuspendError, match="the run has no folder for checkpoints"):
        run.suspend()


# -- going on


def test_other_data(suspended: RunReport) -> None:
    refused(
        suspended, built(Partitions(4, COUNT, 2), 1, 1), "spout 'source' had other data, '4 x 100, seed 1'"
    )


class Fewer(Partitions):
    identity = "4 x 100, seed 1"


def test_fewer_partitions(suspended: RunReport) -> None:
    refused(
        suspended, built(Fewer(2, COUNT, 1), 1, 1), "spout 'source' had a partition 3: found 2 partitions"
    )


def test_a_missing_component_another_spout_and_another_grouping(suspended: RunReport) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(4, COUNT, 1))
    builder.set_spout("second", Partitions(4, COUNT, 1))
    builder.set_bolt("twice", Twice).fields_grouping("source", "key")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("twice")
    sink.global_grouping("second")
    refused(
        suspended,
        builder,
        r"cannot go on from .*checkpoint-000001: bolt 'twice' had stream 'default' of 'source' grouped by "
        r"SHUFFLE: found fields\(\['key'\]\).*component 'again' is missing: put it back.*"
        "spout 'second' was not there",
    )


def test_another_role(suspended: RunReport) -> None:
    other = TopologyBuilder()
    other.set_spout("source", Partitions(4, COUNT, 1))
    other.set_spout("twice", Partitions(4, COUNT, 1))
    for name in ("again", "clock", "sink", "tasks"):
        other.set_bolt(name, Twice if name != "sink" else CollectingSink).shuffle_grouping("twice")
    refused(suspended, other, "'twice' was a bolt: found a spout; give it another id")


def refused(suspended: RunReport, builder: TopologyBuilder, message: str) -> None:
    assert suspended.checkpoint is not None
    with pytest.raises(CheckpointError, match=message):
        run_built(builder, {"start": Path(suspended.checkpoint.path)})


def test_a_folder_without_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint in"):
        run_built(built(Partitions(), 1, 1), {"start": tmp_path})


def test_a_place_that_nobody_knows(suspended: RunReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Manifest, "places", lambda self, spout: {0: (-(2**63), 0)})
    builder = built(Partitions(4, COUNT, 1), 1, 1)
    refused(suspended, builder, "a worker of spout 'source' had died, and nobody knows how far it was")


def test_a_bolt_may_be_added(suspended: RunReport) -> None:
    builder = built(Partitions(4, COUNT, 1), 1, 1)
    builder.set_bolt("added", CollectingSink).global_grouping("source")
    assert suspended.checkpoint is not None
    report = run_built(builder, {"start": Path(suspended.checkpoint.path)})
    assert 0 < len(report.result("added")) == 4 * COUNT - suspended.emitted


class Failing(Bolt):
    def process(self, tup: Any) -> None:
        if tup.values[1] == 10:
            raise ValueError("not this one")


def test_no_checkpoint_is_written_of_a_run_that_has_lost_tuples(tmp_path: Path) -> None:
    builder = built(Suspending(4, COUNT, 1, os.getpid(), 50), 1, 1)
    builder.set_bolt("failing", Failing).global_grouping("source")
    with pytest.raises(SuspendError, match=r"checkpoint 1 in .* is not written: \d+ tuples were lost"):
        run_suspended(builder, tmp_path, viper__on__error="skip")
    assert CheckpointFolder(tmp_path).ids == []


def test_a_disk_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CheckpointFolder, "write", full)
    builder = built(Suspending(4, COUNT, 1, os.getpid(), 50), 1, 1)
    with pytest.raises(SuspendError, match=r"checkpoint 1 in .* cannot be written: No space left on device"):
        run_suspended(builder, tmp_path)


def test_a_report_is_no_checkpoint(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("{}", encoding="utf-8")
    with pytest.raises(PlaceError, match="is no report of a run"):
        run_built(built(Partitions(), 1, 1), {"start": report})
