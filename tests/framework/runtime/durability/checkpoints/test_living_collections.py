"""Lists, maps, sums and accumulators that live in their process, in runs with checkpoints and deaths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import AggregatingState, Bolt, ListState, MapState, ReducingState, TopologyBuilder
from framework.model.errors import CheckpointError
from framework.operators.sinks import CollectingSink, JsonLinesSink
from framework.runtime import Run, RunOptions, run
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.durability.checkpoints.mortal import Dying, Source, Table, planned, rows
from tests.framework.runtime.durability.checkpoints.suspended import Awaiting, suspending
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built

COUNT = 200


def _extended(numbers: list[int], others: list[int]) -> list[int]:
    return [*numbers, *others][-5:]


class Written(Bolt):
    """Emits what it remembers of a key, in values that are written after each slice."""

    outputs = ["key", "told"]
    numbers: Any = ListState()
    partitions: Any = MapState("string")
    last: Any = ReducingState(None, _extended)
    all: Any = AggregatingState(create=set, add=lambda found, number: found | {number}, result=len)
    owned: Any = ListState(per="task")

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        self.numbers.add([number])
        if len(self.numbers) > 20:
            self.numbers.update(self.numbers.get()[-3:])
        self.numbers.get()[-1].append(partition)
        self.partitions.put(partition, [*self.partitions.get(partition, []), number][-4:])
        if number % 17 == 0:
            self.partitions.remove(f"p{number % 4}")
        self.last.add([number])
        self.all.add(number)
        self.owned.add(number)
        told = [self.numbers.get(), self.partitions.items(), self.last.value, self.all.value]
        self.emit([key, repr(told)])


class Living(Written):
    """As `Written`, in values that live in its process."""

    numbers: Any = ListState(durable="checkpoint")
    partitions: Any = MapState("string", durable="checkpoint")
    last: Any = ReducingState(None, _extended, durable="checkpoint")
    all: Any = AggregatingState(
        create=set, add=lambda found, number: found | {number}, result=len, durable="checkpoint"
    )
    owned: Any = ListState(per="task", durable="checkpoint")


class Mortal(Dying, Living):
    """As `Living`; its process may be killed."""


def built(bolt: type[Bolt], spout: Partitions, bolts: int = 2) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("remember", bolt, bolts).fields_grouping("source", "key")
    builder.set_bolt("sink", CollectingSink).global_grouping("remember")
    return builder


def test_every_checkpoint_has_them(tmp_path: Path) -> None:
    whole = run_built(built(Written, Partitions(4, COUNT, 1))).result("sink")
    report = run_with_checkpoints(built(Living, Awaiting(4, COUNT, 1, os.getpid(), 20, 50)), tmp_path)
    assert report.result("sink") == whole
    first = f"checkpoint-{CheckpointFolder(tmp_path).ids[0]:06}"
    for bolt in (Written, Living):
        start = {"start": tmp_path / first, "checkpoints": tmp_path / bolt.__name__}
        again = run_built(built(bolt, Partitions(4, COUNT, 1)), start).result("sink")
        assert 0 < len(again) < len(whole) and again == whole[-len(again) :]


def into_files(folder: Path, bolt: type[Bolt], spout: Partitions) -> TopologyBuilder:
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    builder = TopologyBuilder()
    builder.set_spout("source", spout, 2)
    builder.set_bolt("remember", bolt, 2).fields_grouping("source", "key")
    told = Table(str(folder / "told.db"), "told", ["key", "told"])
    builder.set_bolt("table", told).global_grouping("remember")
    builder.set_bolt("file", JsonLinesSink(str(folder / "told.jsonl"))).global_grouping("remember")
    return builder


def test_a_run_goes_back_when_their_process_dies(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    inline = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "round-robin"}
    undisturbed = into_files(calm, Mortal, Source(4, COUNT, 1))
    run(*planned(undisturbed, calm, 0, kills=0, **inline), checkpoints=calm / "kept")
    near = {"viper__channel__tuples": 32, "viper__channel__jumbos": 8, "viper__jumbo__size": 4}
    builder = into_files(killed, Mortal, Source(4, COUNT, 1, os.getpid(), 20, 60))
    options = {**near, "kill__among": "all", "kill__bits": 8, "kills": 1}
    made = Run(*planned(builder, killed, 3, **options), RunOptions(checkpoints=killed / "kept"))
    with suspending(made, goes_on=True):
        report = made.execute()
    assert report.statistics.repeats.went_back
    assert rows(killed) == rows(calm)


def test_a_run_without_checkpoints_is_refused() -> None:
    found = ", ".join(rf"remember\.{name}" for name in ("all", "last", "numbers", "owned", "partitions"))
    with pytest.raises(CheckpointError, match=f"{found}: durable='checkpoint' in a run without"):
        run_built(built(Living, Partitions(4, COUNT, 1)))
