"""Bolts whose tasks claim their input: who may, what is refused, and what a slow tuple holds up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, TopologyBuilder, ValueState, run
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.runtime.coordination.measuring import flow_of
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind

COUNT = 500
CLAIMS = {"viper.sharing": "claims", "viper.stateless": True}


class Numbers(Spout):
    """Emits 0, 1 and so on, with their numbers as ids."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.next, self.acked = 0, 0

    def next_tuple(self) -> None:
        if self.next == COUNT:
            if self.acked == COUNT:
                raise StopIteration
            return
        self.emit([self.next], tup_id=self.next)
        self.next += 1

    def ack(self, tup_id: int) -> None:
        self.acked += 1


class Some(Bolt):
    """Emits a number no time, once or twice."""

    outputs = ["number", "time"]

    def process(self, tup: Any) -> None:
        for time in range(tup.values.number % 3):
            self.emit([tup.values.number, time])


def built(bolt: type[Bolt] = Some, tasks: int = 3, config: dict[str, Any] | None = None) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    declared = builder.set_bolt("some", bolt, tasks, config=CLAIMS if config is None else config)
    declared.shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    return builder


@every_kind
def test_order_and_acks_are_what_they_are_without(workers: Workers) -> None:
    """The source ends when it has heard an ack for each tuple, whoever has claimed it."""
    report = workers.run(built(), topology__max__spout__pending=50)
    assert report.result("sink") == [(number, time) for number in range(COUNT) for time in range(number % 3)]
    source = report.components["source"]
    assert (source.acked, source.failed, source.unanswered) == (COUNT, 0, 0)


@every_kind
def test_each_task_is_counted_by_what_it_has_claimed(workers: Workers) -> None:
    statistics = workers.run(built()).statistics
    readers = [one for channel in statistics.channels for one in channel.readers]
    claiming = [reader for reader in readers if reader.task.startswith("some:")]
    assert sum(reader.delivered for reader in claiming) == COUNT
    assert 1 <= sum(reader.claims for reader in claiming) <= COUNT
    assert all((reader.delivered > 0) == (reader.claims > 0) for reader in claiming)
    assert sum(task.tuples_in for task in statistics.tasks if task.component == "some") == COUNT
    assert not any(reader.claims for reader in readers if reader not in claiming)
    assert flow_of("some", statistics.channels).taken == COUNT


class Lists(Spout):
    """Emits [0], [1] and so on."""

    outputs = ["numbers"]

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(COUNT):
            yield [[number]]


class Appends(Bolt):
    """Changes what it receives, and emits it."""

    outputs = ["numbers"]

    def process(self, tup: Any) -> None:
        tup.values.numbers.append(-1)
        self.emit([tup.values.numbers])


def changed(sharing: str) -> TopologyBuilder:
    """Two bolts change the same tuples, and a sink gets them as they were."""
    builder = TopologyBuilder()
    builder.set_spout("source", Lists)
    for bolt in ("one", "other"):
        config = {"viper.sharing": sharing, "viper.stateless": True, "viper.mutates": True}
        builder.set_bolt(bolt, Appends, 2, config=config).shuffle_grouping("source")
        builder.set_bolt(f"sink of {bolt}", CollectingSink).global_grouping(bolt)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    return builder


@every_kind
def test_a_claimant_that_changes_values_changes_nobody_elses(workers: Workers) -> None:
    report = workers.run(changed("claims"))
    assert report.result("sink") == [([number],) for number in range(COUNT)]
    for bolt in ("one", "other"):
        assert report.result(f"sink of {bolt}") == [([number, -1],) for number in range(COUNT)]


@pytest.mark.parametrize(("recorded", "repeated"), [("claims", "dealt"), ("dealt", "claims")])
def test_a_recording_does_not_depend_on_who_claimed_what(
    recorded: str, repeated: str, tmp_path: Path
) -> None:
    def made(sharing: str, **options: Any) -> Any:
        topology = built(config={**CLAIMS, "viper.sharing": sharing}).build("tested")
        return run(topology, worker="thread", workers=3, **options).result("sink")

    found = made(recorded, record=tmp_path / "recorded")
    assert made(repeated, replay=tmp_path / "recorded") == found
    assert len(found) == sum(number % 3 for number in range(COUNT))


class Held(Bolt):
    """Holds tuple 0 until all others but the last have been processed by another task."""

    outputs = ["number"]
    done = threading.Semaphore(0)

    def process(self, tup: Any) -> None:
        if tup.values.number == 0:
            for _ in range(COUNT - 1):
                self.done.acquire()
        self.done.release()
        self.emit([tup.values.number])


def test_a_slow_tuple_holds_up_no_other_that_is_not_claimed() -> None:
    """Dealt out beforehand, half of them would wait behind it for ever."""
    config = {**CLAIMS, "viper.blocking": True}
    report = run_built(built(Held, 2, config), viper__worker="thread")
    assert report.result("sink") == [(number,) for number in range(COUNT)]


class Counts(Bolt):
    outputs = ["number"]
    count = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.emit([self.count.value])


class CountsByTask(Bolt):
    outputs = ["number"]
    count = ValueState("int64", default=0, per="task")

    def process(self, tup: Any) -> None:
        self.emit([self.count.value])


class Models(Bolt):
    outputs = ["number"]
    model = ValueState(default={}, durable="checkpoint")

    def process(self, tup: Any) -> None:
        self.emit([len(self.model.value)])


class Ticks(Some):
    def process_tick(self, tup: Any) -> None:
        self.emit([0, 0])


BY_KEY = {"viper.sharing": "claims"}
REFUSED = [
    ("claim key groups: expected fields", Counts, {"viper.sharing": "claims"}, Grouping.SHUFFLE),
    (r"state of its tasks \(count\)", CountsByTask, {"viper.sharing": "claims"}, Grouping.fields("number")),
    (r"values of model live in one process", Models, {"viper.sharing": "claims"}, Grouping.fields("number")),
    ("set viper.stateless to true", Some, {"viper.sharing": "claims"}, Grouping.SHUFFLE),
    ("has FIELDS grouping", Some, CLAIMS, Grouping.fields("number")),
    ("has ALL grouping", Some, CLAIMS, Grouping.ALL),
    ("it gets ticks", Ticks, {**CLAIMS, "topology.tick.tuple.freq.secs": 1}, Grouping.SHUFFLE),
    ("it may be scaled", Counts, {**BY_KEY, "viper.parallelism.max": 4}, Grouping.fields("number")),
]


def grouped(bolt: type[Bolt], config: dict[str, Any], grouping: Grouping) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("some", bolt, 2, config=config).grouping("source", grouping)
    builder.set_bolt("sink", CollectingSink).global_grouping("some")
    return builder


@pytest.mark.parametrize(("reason", "bolt", "config", "grouping"), REFUSED, ids=[one[0] for one in REFUSED])
def test_what_cannot_be_shared_is_refused(
    reason: str, bolt: type[Bolt], config: dict[str, Any], grouping: Grouping
) -> None:
    with pytest.raises(TopologyError, match=reason):
        plan_of(grouped(bolt, config, grouping))


def test_a_run_with_merge_bolts_is_refused() -> None:
    with pytest.raises(TopologyError, match="cannot share its input"):
        plan_of(built(), viper__merge__layer="operator")


def test_a_topology_that_asks_for_claims_has_them_where_they_can_be() -> None:
    builder = built(config={"viper.stateless": True})
    builder.set_bolt("keyed", Counts, 2).fields_grouping("source", "number")
    builder.set_bolt("by_task", CountsByTask, 2).fields_grouping("source", "number")
    plan, _ = plan_of(builder, viper__sharing="claims")
    assert plan.claiming == ("keyed", "some")
    assert plan.claimed_by_key == ("keyed",)
    assert plan_of(builder)[0].claiming == ()
    assert plan_of(built(tasks=1))[0].claiming == ()


def test_a_mapping_names_the_bolts_that_share() -> None:
    """As the planner writes it; what a bolt says itself stands above it."""
    builder = built(config={"viper.stateless": True})
    named = {"viper__sharing": {"some": "claims"}}
    assert plan_of(builder, **named)[0].claiming == ("some",)
    assert plan_of(builder, viper__sharing={"some": "dealt"})[0].claiming == ()
    assert plan_of(builder, viper__sharing={"sink": "dealt"})[0].claiming == ()
    own = built(config={**CLAIMS, "viper.sharing": "dealt"})
    assert plan_of(own, **named)[0].claiming == ()
    assert plan_of(built(), viper__sharing={"some": "dealt"})[0].claiming == ("some",)


@pytest.mark.parametrize(
    ("config", "sharing", "message"),
    [
        ({"viper.stateless": True}, {"sum": "claims"}, "viper.sharing: unknown component 'sum'"),
        ({}, {"some": "claims"}, "cannot share its input.*set viper.stateless to true"),
        ({**CLAIMS, "viper.sharing": {"some": "claims"}}, "dealt", "a mapping as viper.sharing"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(config: dict[str, Any], sharing: Any, message: str) -> None:
    with pytest.raises(TopologyError, match=message):
        plan_of(built(config=config), viper__sharing=sharing)


class AskedFor(Spout):
    outputs = ["number"]

    def tuples(self) -> Iterator[None]:
        self.emit([1], need_task_ids=True)
        yield None


def test_who_gets_a_tuple_cannot_be_asked() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", AskedFor)
    builder.set_bolt("some", Some, 2, config=CLAIMS).shuffle_grouping("source")
    with pytest.raises(ComponentError, match="leave need_task_ids out"):
        run_built(builder)
