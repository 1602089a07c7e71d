"""Runs with tuples of coroutine functions in flight: suspended, resumed, with checkpoints, recorded."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder, run
from framework.operators.sinks import CollectingSink
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.coroutines import AHEAD, out_of_order
from tests.framework.runtime.durability.checkpoints.suspended import (
    Awaiting,
    Clock,
    Suspending,
    Twice,
    run_suspended,
)
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change

COUNT = 600


class Slowly(Twice):
    """As `Twice`, and waits for as long as is drawn."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.draw = random.Random(self.task_id)

    async def process(self, tup: Any) -> None:  # type: ignore[override]
        await out_of_order(self.draw)
        super().process(tup)
        await out_of_order(self.draw)


def built(spout: Partitions, sources: int, bolts: int, sharing: str = "dealt") -> TopologyBuilder:
    """Rows that are doubled and doubled again, with ticks among them."""
    builder = TopologyBuilder()
    config = {**AHEAD, "viper.sharing": sharing}
    builder.set_spout("source", spout, sources)
    builder.set_bolt("twice", Slowly, bolts, config=config).shuffle_grouping("source")
    builder.set_bolt("again", Slowly, bolts, config=config).shuffle_grouping("twice")
    builder.set_bolt("clock", Clock).global_grouping("twice")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("again")
    sink.global_grouping("clock")
    return builder


def expected(seed: int) -> list[Any]:
    builder = built(Partitions(4, COUNT, seed), 1, 1)
    return run_built(builder, viper__async__in_flight=1).result("sink")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(20), 2))
def test_suspended_and_resumed_with_any_parallelism(tmp_path: Path, seed: int) -> None:
    whole = expected(seed)
    spout = Suspending(4, COUNT, seed, os.getpid(), (seed * 7919) % COUNT)
    first = run_suspended(built(spout, 1 + seed % 3, 1 + seed % 4), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert first.checkpoint is not None
    for sources, bolts, sharing in ((1, 1, "dealt"), (2, 2, "claims"), (3, 5, "dealt")):
        again = {"start": Path(first.checkpoint.path)}
        second = run_built(built(Partitions(4, COUNT, seed), sources, bolts, sharing), again)
        assert rows + second.result("sink") == whole, bolts


@every_kind
@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(10), 1))
def test_every_checkpoint_can_be_resumed(tmp_path: Path, workers: Workers, seed: int) -> None:
    whole = expected(seed)
    sources, bolts, sharing = 1 + seed % 3, 1 + seed % 4, ("dealt", "claims")[seed % 2]
    spout = Awaiting(4, COUNT, seed, os.getpid(), 20 + seed, 90)
    report = run_with_checkpoints(built(spout, sources, bolts, sharing), tmp_path, workers)
    assert report.result("sink") == whole
    ids = CheckpointFolder(tmp_path).ids
    assert ids
    for number in ids:
        builder = built(Partitions(4, COUNT, seed), 1 + number % 3, 1 + number % 5)
        again = run_built(builder, {"start": tmp_path / f"checkpoint-{number:06}"}).result("sink")
        assert 0 < len(again) < len(whole) and again == whole[-len(again) :], number


@pytest.mark.parametrize(("recorded", "repeated"), [(32, 1), (1, 32)])
def test_a_recording_does_not_depend_on_what_was_in_flight(
    recorded: int, repeated: int, tmp_path: Path
) -> None:
    def made(in_flight: int, **options: Any) -> Any:
        topology = built(Partitions(4, COUNT, 7), 2, 2).build("tested")
        conf = {"viper.async.in_flight": in_flight}
        return run(topology, worker="thread", workers=3, conf=conf, **options).result("sink")

    found = made(recorded, record=tmp_path / "recorded")
    assert made(repeated, replay=tmp_path / "recorded") == found == expected(7)
