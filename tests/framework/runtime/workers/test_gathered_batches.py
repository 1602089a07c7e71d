"""Batches of batching bolts survive killed processes, suspensions and exceptions, where recovery is exact."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import BatchingBolt, SeekableSpout, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.state.batches import GatheredBatches
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import Row, run_built
from tests.framework.runtime.workers.killed import Mortal, MortalPartitions, Written
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.framework.runtime.workers.test_exact import run, undisturbed, written
from tests.portions import at_every_change

EXACT = {"viper__recovery": "exact"}


class Gathers(BatchingBolt):
    """Gathers rows by their keys, and emits the numbers of each batch."""

    outputs = ["key", "numbers"]
    config = {"topology.tick.tuple.freq.secs": 0.00003}
    ticks_between_batches = 2

    def group_key(self, tup: Any) -> Any:
        return ("of", tup.values.key % 4)

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([list(key), [tup.values.number for tup in tups]])


class MortalGathers(Mortal, Gathers):
    """Its process may be killed."""


def killed() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", MortalPartitions, 2, kwargs={"count": 900})
    builder.set_bolt("gathers", MortalGathers).global_grouping("source")
    builder.set_bolt("sink", Written).global_grouping("gathers")
    return builder


SPREAD = {"source": [1, 2], "gathers": 3, "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(1, 13), 2))
def test_killed_workers_change_nothing(seed: int, tmp_path: Path) -> None:
    expected = undisturbed(killed(), tmp_path)
    # Deaths come early, as the run is short.
    early = {"viper__slice__tuples": 16, "kill__bits": 8}
    report = run(killed(), tmp_path, seed, viper__placement=SPREAD, **early)
    assert len(report.incidents) > 1
    assert written(tmp_path) == expected


def suspended(spout: Partitions) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, 2)
    builder.set_bolt("gathers", Gathers).global_grouping("source")
    builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True}).global_grouping("gathers")
    return builder


def in_two(folder: Path, seed: int, **options: Any) -> list[Row]:
    """Suspend a run, resume it from there, and join the rows of both."""
    spout = Suspending(4, 300, seed, os.getpid(), (seed * 7919 + 31) % 250)
    first = run_suspended(suspended(spout), folder, **EXACT, **options)
    assert first.reason is StopReason.SUSPENDED
    second = run_built(suspended(Partitions(4, 300, seed)), {"start": folder}, **EXACT)
    found: list[Row] = first.result("sink") + second.result("sink")
    return found


@pytest.mark.parametrize("seed", at_every_change(range(10), 1))
@every_kind
def test_a_run_that_is_suspended_is_gone_on_with(seed: int, workers: Workers, tmp_path: Path) -> None:
    whole = run_built(suspended(Partitions(4, 300, seed))).result("sink")
    assert in_two(tmp_path, seed, **workers.options) == whole


def test_batches_that_are_forgotten_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GatheredBatches, "flush", lambda self: None)
    assert in_two(tmp_path, 0) != run_built(suspended(Partitions(4, 300, 0))).result("sink")


class Stumbles(Gathers):
    """Raises at one row, before it is in any batch, and at the second batch."""

    batches = 0

    def group_key(self, tup: Any) -> Any:
        if tup.values[:2] == ("p0", 20):
            raise ValueError("a row")
        return super().group_key(tup)

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.batches += 1
        if self.batches == 2:
            raise ValueError("a batch")
        super().process_batch(key, tups)


@pytest.mark.parametrize("survives", [True, False])
def test_batches_are_the_same_whether_they_are_declared_state_or_not(survives: bool) -> None:
    def found(**options: Any) -> list[Row]:
        class Raises(Stumbles):
            exit_on_exception = not survives
            config = {**Gathers.config, "viper.on.error": "skip"}

        builder = TopologyBuilder()
        builder.set_spout("source", Partitions(2, 60))
        builder.set_bolt("gathers", Raises).global_grouping("source")
        sink = builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True})
        sink.global_grouping("gathers")
        rows: list[Row] = run_built(builder, **options).result("sink")
        return rows

    assert found() == found(**EXACT) != []


def test_what_is_gathered_outlives_a_component_that_is_made_anew() -> None:
    """As all declared state does; elsewhere it is gone, and is counted as lost."""

    class Raises(Stumbles):
        batches = 10
        config = {**Gathers.config, "viper.on.error": "restart"}

    def report(**options: Any) -> Any:
        builder = TopologyBuilder()
        builder.set_spout("source", Partitions(2, 60))
        builder.set_bolt("gathers", Raises).global_grouping("source")
        sink = builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True})
        sink.global_grouping("gathers")
        return run_built(builder, **options)

    exact, best = report(**EXACT), report()
    assert sum(len(numbers) for _, numbers in exact.result("sink")) == 2 * 60 - 1
    assert sum(len(numbers) for _, numbers in best.result("sink")) < 2 * 60 - 1
    assert exact.lost == 1 < best.lost


class Tracked(SeekableSpout):
    """Emits numbers with ids; those that fail do not come again."""

    outputs = ["number", "key"]
    config = {"viper.timestamp.field": "number", "viper.timestamp.unit": "us"}
    number = 0

    def tuples(self) -> Iterator[None]:
        while self.number < 60:
            self.number += 1
            self.emit([self.number, self.number % 7], tup_id=self.number)
            yield None

    def offset(self) -> int:
        return self.number

    def seek(self, offset: int) -> None:
        self.number = offset


def test_tuples_that_have_failed_with_a_component_are_answered_in_vain() -> None:
    """The component after it processes them with their batch, which is no second answer."""

    class Raises(Gathers):
        config = {**Gathers.config, "viper.on.error": "restart"}

        def group_key(self, tup: Any) -> Any:
            if tup.values.number == 20:
                raise ValueError("a row")
            return super().group_key(tup)

    builder = TopologyBuilder()
    builder.set_spout("source", Tracked)
    builder.set_bolt("gathers", Raises).global_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True})
    sink.global_grouping("gathers")
    report = run_built(builder, **EXACT, viper__answers="strict")
    numbers = [number for _, batch in report.result("sink") for number in batch]
    assert sorted(numbers) == [number for number in range(1, 61) if number != 20]
    assert report.components["gathers"].second_answers == 0 < report.components["gathers"].failed


def test_a_batch_that_cannot_be_kept_is_named() -> None:
    class Unkept(Gathers):
        def group_key(self, tup: Any) -> Any:
            return lambda: None

    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(1, 5))
    builder.set_bolt("gathers", Unkept).global_grouping("source")
    with pytest.raises(ComponentError, match=r"a tuple of batch <function .* cannot be pickled"):
        run_built(builder, **EXACT)
