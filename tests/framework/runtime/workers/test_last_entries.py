"""The last ticks and batches stand where no clock is asked, and nothing that they emit is stuck."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from framework import BatchingBolt, Bolt, Grouping, Spout, Topology
from framework.operators.sinks import CollectingSink, CountingSink
from framework.testing import run_topology

COUNT = 50
KINDS = ("inline", "thread", "process")
TICKS = {"topology.tick.tuple.freq.secs": 10}
EVENT_TIME = {"viper.timestamp.field": "t", "viper.timestamp.unit": "s"}


class Tracked(Spout):
    """Brings tuples with ids; it has ended long before it has heard of all of them."""

    outputs = ["n", "t"]
    config = {**EVENT_TIME, "viper.spout.bounded": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.n = 0

    def next_tuple(self) -> None:
        if self.n == COUNT:
            raise StopIteration
        self.emit([self.n, self.n // 10], tup_id=self.n)
        self.n += 1


class Plain(Spout):
    """Brings the same tuples without ids."""

    outputs = ["n", "t"]
    config = EVENT_TIME

    def tuples(self) -> Any:
        for n in range(COUNT):
            yield [n, n // 10]


class Pass(Bolt):
    """Forwards."""

    outputs = ["n"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])


class Total(Bolt):
    """Says at each tick which component it is, and how many tuples have come."""

    outputs = ["who", "n"]
    config = TICKS

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.me, self.seen = context["componentid"], 0

    def process(self, tup: Any) -> None:
        self.seen += 1

    def process_tick(self, tup: Any) -> None:
        self.emit([self.me, self.seen])


class Batch(BatchingBolt):
    """Emits so many rows for each key."""

    outputs = ["k"]
    config = TICKS

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.each = storm_conf.get("each", 1)

    def group_key(self, tup: Any) -> Any:
        return tup.values[0]

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        for _ in range(self.each):
            self.emit([key])


def two_branches(par: int) -> type[Topology]:
    """A tracked and a plain source, each with a bolt that ticks at the end, into one sink."""

    class Branches(Topology):
        tracked = Tracked.spec()
        plain = Plain.spec()
        p = Pass.spec(inputs=[tracked], par=par)
        q = Pass.spec(inputs=[plain], par=par)
        b = Total.spec(inputs=[p])
        c = Total.spec(inputs=[q])
        sink = CollectingSink.spec(inputs={b: Grouping.GLOBAL, c: Grouping.GLOBAL})

    return Branches


def result(topology: Any, conf: dict[str, Any], seed: int = 0) -> Any:
    return run_topology(topology, conf=conf, seed=seed).report.result("sink")


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("par", [1, 3])
@pytest.mark.parametrize("size", [1, 1000])
def test_rows_of_the_last_tick_come_in_one_order(kind: str, par: int, size: int) -> None:
    reference = result(two_branches(1), {})
    assert reference == [("b", COUNT), ("c", COUNT)]
    conf = {"viper.worker": kind, "viper.jumbo.size": size}
    if kind != "inline":
        conf["topology.workers"] = 2
    for seed in range(2 if kind == "process" else 4):
        assert result(two_branches(par), conf, seed) == reference, f"seed {seed}"


class Chained(Topology):
    """A batch after a batch, after a tracked source."""

    tracked = Tracked.spec()
    first = Batch.spec(inputs=[tracked])
    second = Batch.spec(inputs=[first])
    sink = CollectingSink.spec(inputs={second: Grouping.GLOBAL})


@pytest.mark.few(1)
@pytest.mark.parametrize("slices", [1, 1000])
def test_a_last_batch_waits_for_those_that_feed_it(slices: int) -> None:
    reference = result(Chained, {"topology.acker.executors": 0})
    assert len(reference) == COUNT
    for seed in range(10):
        found = result(Chained, {"viper.scheduling": "random", "viper.slice.tuples": slices}, seed)
        assert found == reference, f"seed {seed}"


@pytest.mark.parametrize("par", [1, 2, 4])
def test_the_parallelism_behind_replicas_that_tick_does_not_show(par: int) -> None:
    class Replicas(Topology):
        plain = Plain.spec()
        batch = Batch.spec(inputs={plain: Grouping.fields("n")}, par=3)
        same = Pass.spec(inputs={batch: Grouping.fields("k")}, par=par)
        sink = CollectingSink.spec(inputs={same: Grouping.GLOBAL})

    assert result(Replicas, {"viper.order": "strict"}) == _replicas_in_order()


def _replicas_in_order() -> Any:
    class Replicas(Topology):
        plain = Plain.spec()
        batch = Batch.spec(inputs={plain: Grouping.fields("n")}, par=3)
        sink = CollectingSink.spec(inputs={batch: Grouping.GLOBAL})

    return result(Replicas, {})


class Flood(Topology):
    """Last batches whose outputs exceed all channels, dealt out by key to replicas that one sink merges."""

    source = Plain.spec()
    batch = Batch.spec(inputs=[source])
    same = Pass.spec(inputs={batch: Grouping.fields("k")}, par=3)
    sink = CountingSink.spec(inputs={same: Grouping.GLOBAL})


@pytest.mark.parametrize("kind", KINDS)
def test_last_batches_larger_than_the_channels_flow(kind: str) -> None:
    conf = {"viper.worker": kind, "viper.jumbo.size": 7, "viper.channel.jumbos": 4, "each": 60}
    if kind != "inline":
        conf["topology.workers"] = 2
    assert result(Flood, conf) == COUNT * 60


def test_ids_that_fail_after_the_last_tick_bring_one_more() -> None:
    """A tuple that fails is repeated after the last ticks; another tick takes note of it."""
    failed: Counter[int] = Counter()

    class Repeats(Tracked):
        def next_tuple(self) -> None:
            if self.n == COUNT and self.again:
                self.emit([self.again.pop(), 5], tup_id="again")
                return
            super().next_tuple()

        def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
            super().initialize(storm_conf, context)
            self.again: list[int] = []

        def fail(self, tup_id: Any) -> None:
            self.again.append(tup_id)

    class FailsOnce(Total):
        auto_ack = False

        def process(self, tup: Any) -> None:
            failed[tup.values[0]] += 1
            if tup.values[0] == 7 and failed[7] == 1:
                self.fail(tup)
                return
            super().process(tup)
            self.ack(tup)

    class Fails(Topology):
        tracked = Repeats.spec()
        total = FailsOnce.spec(inputs=[tracked])
        sink = CollectingSink.spec(inputs={total: Grouping.GLOBAL})

    rows = result(Fails, {})
    assert rows[-1] == ("total", COUNT)
    assert failed[7] == 2
