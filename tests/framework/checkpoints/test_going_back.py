"""Values that live in their process: a run whose process dies goes back to its last checkpoint.

What transactional sinks have written then is what an undisturbed run writes, byte for byte.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder, ValueState
from framework.errors import WorkerError
from framework.runtime import Run, RunReport, run
from framework.runtime.control.stop import StopReason
from framework.sinks import JsonLinesSink
from tests.framework.checkpoints.mortal import Dying, Source, Table, planned, rows
from tests.framework.checkpoints.suspended import suspending
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import chained
from tests.portions import at_every_change

COUNT = 300
NEAR = {"viper__channel__tuples": 32, "viper__channel__jumbos": 8, "viper__jumbo__size": 4}
CALM = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "round-robin", "kills": 0}
PLANT = "GOING_BACK_PLANT"
"""The environment variable that has worker processes forget to write values at the cut."""


class Living(Dying, Bolt):
    """Emits what it remembers of a key, in values that live in its process."""

    outputs = ["key", "told"]
    chain: Any = ValueState(durable="checkpoint")
    numbers: Any = ValueState(default=[], durable="checkpoint")
    seen: Any = ValueState(default={}, durable="checkpoint", per="task")
    count = ValueState("int64", default=0)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        if os.environ.get(PLANT):
            from framework.runtime.tasks.slot import ComponentSlot

            ComponentSlot.save = lambda self: None  # type: ignore[method-assign]
        super().initialize(storm_conf, context)

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        self.count.value += 1
        self.chain.value = chained(self.chain.value or 0, f"{partition}:{number}")
        self.numbers.value.append(number)
        if len(self.numbers.value) > 20:
            self.numbers.clear()
        self.seen.value[key] = self.seen.value.get(key, 0) + 1
        told = [self.chain.value, self.numbers.value[-3:], self.seen.value[key], self.count.value]
        self.emit([key, repr(told)])


def built(folder: Path, spout: Partitions, sources: int = 2, bolts: int = 2) -> TopologyBuilder:
    (folder / "marks").mkdir(parents=True, exist_ok=True)
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("remember", Living, bolts).fields_grouping("source", "key")
    table = Table(str(folder / "told.db"), "told", ["key", "told"])
    builder.set_bolt("table", table).global_grouping("remember")
    builder.set_bolt("file", JsonLinesSink(str(folder / "told.jsonl"))).global_grouping("remember")
    return builder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], bytes]:
    """What the sinks of an undisturbed run have written."""
    folder = tmp_path_factory.mktemp("whole")
    run(*planned(built(folder, Source(4, COUNT, 1), 1), folder, 0, **CALM), checkpoints=folder / "kept")
    return rows(folder)


def run_killed(folder: Path, seed: int, at: int, every: int, **options: Any) -> RunReport:
    """A run with killed workers that makes checkpoints every so many rows."""
    builder = built(folder, Source(4, COUNT, 1, os.getpid(), at, every))
    made = Run(*planned(builder, folder, seed, **{**NEAR, **options}), checkpoints=folder / "kept")
    with suspending(made, goes_on=True):
        try:
            report = made.execute()
        except WorkerError as error:
            if "it had not come to run" not in str(error) and "its tasks had ended" not in str(error):
                raise
            pytest.skip("a worker was killed before the run had begun, or at its end")
    return report


AMONG = [(among, seed) for seed in range(1, 13) for among in ("checkpoints", "all")]


@pytest.mark.parametrize(("among", "seed"), at_every_change(AMONG, 4))
def test_a_run_goes_back_as_often_as_its_processes_die(
    tmp_path: Path, whole: tuple[list[Any], bytes], among: str, seed: int
) -> None:
    bits = 4 if among == "checkpoints" else 9
    report = run_killed(tmp_path, seed, 20, 60, kill__among=among, kill__bits=bits)
    assert report.reason is StopReason.EXHAUSTED and report.incidents
    assert report.statistics.repeats.went_back and report.lost == 0
    assert rows(tmp_path) == whole
