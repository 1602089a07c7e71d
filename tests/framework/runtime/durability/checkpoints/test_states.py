"""The state of bolts resumes with a run that was suspended, whatever tasks its keys come to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, ListState, MapState, ReducingState, TableState, TopologyBuilder, ValueState
from framework.model.errors import CheckpointError
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.checkpoints import found_at
from framework.runtime.durability.checkpoints.states import SavedState, states_in
from framework.runtime.durability.state import saving
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import Row, chained, run_built
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change

COUNT = 600


class Remember(Bolt):
    """Emits what it remembers of a key, in every kind of state."""

    outputs = ["key", "told"]
    chain = ValueState("int64", default=0)
    last: Any = ValueState()
    both = TableState({"count": "int64", "name": "string"})
    most = ReducingState("int64", max)
    numbers = ListState("int64")
    partitions = MapState("string", "int64")

    def process(self, tup: Any) -> None:
        partition, number, key = tup.values
        self.chain.value = chained(self.chain.value, f"{partition}:{number}")
        told = [self.chain.value, self.last.value, self.both.count, self.both.name]
        self.last.value = {"number": number, "of": [partition]}
        self.both.count += 1
        self.both.name = partition
        self.most.add(number)
        self.numbers.add(number)
        if len(self.numbers.get()) > 20:
            self.numbers.update(self.numbers.get()[-3:])
        self.partitions.put(partition, number)
        told += [self.most.value, self.numbers.get(), self.partitions.items()]
        self.emit([key, repr(told)])


class Total(Bolt):
    """Counts for its task, and emits the number at every tick."""

    outputs = ["key", "told"]
    count = ValueState("int64", default=0, per="task")
    config = {"topology.tick.tuple.freq.secs": 0.00005}

    def process(self, tup: Any) -> None:
        self.count.value += 1

    def process_tick(self, tup: Any) -> None:
        self.emit(["total", str(self.count.value)])


def built(spout: Partitions, sources: int, bolts: int, remember: type[Bolt] = Remember) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout, sources)
    builder.set_bolt("remember", remember, bolts).fields_grouping("source", "key")
    builder.set_bolt("total", Total).global_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("remember")
    sink.global_grouping("total")
    return builder


def expected(seed: int, count: int = COUNT) -> list[Row]:
    return run_built(built(Partitions(4, count, seed), 1, 1)).result("sink")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(50), 3))
def test_suspended_and_gone_on_with_any_parallelism(tmp_path: Path, seed: int) -> None:
    whole = expected(seed)
    spout = Suspending(4, COUNT, seed, os.getpid(), (seed * 7919) % COUNT)
    first = run_suspended(built(spout, 1 + seed % 3, 1 + seed % 4), tmp_path)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert rows == whole[: len(rows)]
    assert first.checkpoint is not None
    for sources, bolts in ((1, 1), (2, 2), (3, 5)):
        again = {"start": Path(first.checkpoint.path)}
        second = run_built(built(Partitions(4, COUNT, seed), sources, bolts), again)
        assert rows + second.result("sink") == whole, bolts


@pytest.mark.few(1)
@every_kind
def test_on_every_kind_of_worker(tmp_path: Path, workers: Workers) -> None:
    whole = expected(3, 2000)
    spout = Suspending(4, 2000, 3, os.getpid(), 500)
    first = run_suspended(built(spout, 2, 3), tmp_path, **workers.options)
    second = workers.run(built(Partitions(4, 2000, 3), 3, 2), {"start": tmp_path})
    assert 0 < len(first.result("sink")) < len(whole)
    assert first.result("sink") + second.result("sink") == whole


def test_without_a_state_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above can fail: whichever state is not restored shows."""
    whole = expected(1)
    first = run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 300), 1, 1), tmp_path)
    names = [state.state for state in states_in(found_at(tmp_path).content["states"])]
    assert sorted(names) == ["both", "chain", "count", "last", "most", "numbers", "partitions"]
    for missing in names:

        def others(told: Any, missing: str = missing) -> list[SavedState]:
            return [state for state in states_in(told) if state.state != missing]

        monkeypatch.setattr(saving, "states_in", others)
        second = run_built(built(Partitions(4, COUNT, 1), 1, 1), {"start": tmp_path})
        assert first.result("sink") + second.result("sink") != whole, missing


# -- what has changed


@pytest.fixture(scope="module")
def suspended(tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    folder = tmp_path_factory.mktemp("checkpoints")
    return run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 50), 1, 1), folder)


def go_on(suspended: RunReport, builder: TopologyBuilder, **options: Any) -> RunReport:
    assert suspended.checkpoint is not None
    return run_built(builder, {"start": Path(suspended.checkpoint.path)}, **options)


class Changed(Remember):
    chain = ValueState("float64", default=0.0)
    most = None  # type: ignore[assignment]


def test_other_types_and_missing_states_are_refused(suspended: RunReport) -> None:
    message = (
        "'remember' does not declare the state 'most' any more: declare it, used or not; if it has "
        r"another name now, say which one \(--rename remember.most=remember.NEW\); "
        "state 'chain' of 'remember' was value of int64, per key: found value of float64, per key; "
        "declare another state"
    )
    with pytest.raises(CheckpointError, match=message):
        go_on(suspended, built(Partitions(4, COUNT, 1), 1, 1, Changed))


def test_another_number_of_key_groups_is_refused(suspended: RunReport) -> None:
    with pytest.raises(
        CheckpointError, match=r"there were 256 key groups: found viper.key.groups=64; set it"
    ):
        go_on(suspended, built(Partitions(4, COUNT, 1), 1, 1), viper__key__groups=64)


def test_state_of_tasks_goes_with_their_number(suspended: RunReport) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions(4, COUNT, 1))
    builder.set_bolt("remember", Remember).fields_grouping("source", "key")
    builder.set_bolt("total", Total, 2).global_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("remember")
    sink.global_grouping("total")
    with pytest.raises(
        CheckpointError, match="each task of 'total' has state of its own: found 2 tasks, exp"
    ):
        go_on(suspended, builder)


class More(Remember):
    added = ValueState("int64", default=7)

    def process(self, tup: Any) -> None:
        super().process(tup)
        assert self.added.value == 7


def test_an_added_state_begins_with_its_default(suspended: RunReport) -> None:
    report = go_on(suspended, built(Partitions(4, COUNT, 1), 2, 2, More))
    assert suspended.result("sink") + report.result("sink") == expected(1)


class Large(Remember):
    data = ValueState("binary", default=b"")

    def process(self, tup: Any) -> None:
        super().process(tup)
        self.data.value = bytes(400_000)


def test_too_little_room_is_told(tmp_path: Path) -> None:
    spout = Suspending(4, COUNT, 1, os.getpid(), 100)
    first = run_suspended(built(spout, 1, 1, Large), tmp_path, viper__state__bytes=1 << 27)
    message = r"checkpoint-000001: .*: raise viper.state.bytes"
    with pytest.raises(CheckpointError, match=message):
        go_on(first, built(Partitions(4, COUNT, 1), 1, 1, Large), viper__state__bytes=1 << 20)
