"""Topologies that cannot run shard by shard are refused before they start, one test for each reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from framework import BatchingBolt, Bolt, Grouping, ShellBolt, Spout, Topology, TopologyBuilder
from framework.model.errors import TopologyError
from framework.operators.sinks import CountingSink
from spark_ingest.backfill.planned import plan_shards
from spark_ingest.backfill.shapes import Output
from spark_ingest.errors import JobError
from tests.spark_ingest.backfill.components import Events, Large, PerItem, Sums
from tests.spark_ingest.backfill.topologies import Shop


def refusal(topology: object, *outputs: str, **options: Any) -> str:
    with pytest.raises(TopologyError) as caught:
        plan_shards(topology, [Output.parse(name) for name in outputs], options=options)
    return str(caught.value)


def with_bolt(bolt: Any, connect: Callable[[Any], Any], **options: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("events", Events)
    connect(builder.set_bolt("bolt", bolt, **options))
    return builder


GROUPINGS = {
    "ALL": lambda bolt: bolt.all_grouping("events"),
    "CUSTOM": lambda bolt: bolt.custom_grouping("events", Anywhere),
}
TO_ONE_TASK = {
    "SHUFFLE": lambda bolt: bolt.shuffle_grouping("events"),
    "GLOBAL": lambda bolt: bolt.global_grouping("events"),
    "NONE": lambda bolt: bolt.none_grouping("events"),
    "LOCAL_OR_SHUFFLE": lambda bolt: bolt.local_or_shuffle_grouping("events"),
    "PARTIAL_KEY": lambda bolt: bolt.partial_key_grouping("events", "user"),
}


class Anywhere:
    def prepare(self, context: Any, component: str, stream: str, targets: list[int]) -> None:
        self.targets = targets

    def choose_tasks(self, values: tuple[Any, ...]) -> list[int]:
        return self.targets


@pytest.mark.parametrize("kind", GROUPINGS)
@pytest.mark.parametrize("bolt", [Sums, Large])
def test_groupings_that_no_keys_can_divide(kind: str, bolt: type) -> None:
    text = refusal(with_bolt(bolt, GROUPINGS[kind]), "bolt")
    assert f"bolt 'bolt' receives 'events' by {kind} grouping, which no division by keys can do" in text
    assert "group by fields" in text


@pytest.mark.parametrize("kind", TO_ONE_TASK)
def test_state_over_all_keys(kind: str) -> None:
    text = refusal(with_bolt(Sums, TO_ONE_TASK[kind]), "bolt")
    assert f"bolt 'bolt' receives 'events' by {kind} grouping and may keep state over all keys" in text
    assert "viper.stateless: true" in text


@pytest.mark.parametrize("kind", TO_ONE_TASK)
def test_without_state_any_of_these_will_do(kind: str) -> None:
    assert plan_shards(with_bolt(Large, TO_ONE_TASK[kind]), [Output("bolt")], options={}).stages


def test_what_is_cut_off_may_be_grouped_as_it_likes() -> None:
    assert plan_shards(Shop, [Output("meet"), Output("items")], options={}).stages


class Ticked(Sums):
    config = {"topology.tick.tuple.freq.secs": 10}

    def process_tick(self, tup: Any) -> None:
        self.emit(["all", sum(self.sums.values()), ""])


class Gathering(BatchingBolt):
    outputs = ["n"]
    config = {"topology.tick.tuple.freq.secs": 10}

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([len(tups)])


def by_user(bolt: Any) -> None:
    bolt.fields_grouping("events", "user")


def test_ticks() -> None:
    text = refusal(with_bolt(Ticked, by_user), "bolt")
    assert "bolt 'bolt' has ticks (topology.tick.tuple.freq.secs) and a process_tick" in text


def test_ticks_that_nobody_looks_at() -> None:
    options = {"topology.tick.tuple.freq.secs": 10}
    assert plan_shards(with_bolt(Sums, by_user), [Output("bolt")], options=options).stages


def test_a_subscription_to_ticks() -> None:
    topology = with_bolt(
        Sums, lambda bolt: bolt.fields_grouping("events", "user").all_grouping("__system", stream="__tick")
    )
    options = {"topology.tick.tuple.freq.secs": 10}
    assert "subscribes to the system's ticks" in refusal(topology, "bolt", **options)


def test_batches() -> None:
    assert "bolt 'bolt' gathers batches over all its keys" in refusal(with_bolt(Gathering, by_user), "bolt")


def test_a_program() -> None:
    class WithProgram(Topology):
        events = Events.spec()
        bolt = ShellBolt.spec(
            command="cat", script="", outputs=["x"], inputs={events: Grouping.fields("user")}
        )

    assert "bolt 'bolt' is a program" in refusal(WithProgram, "bolt")


class Counter(Spout):
    outputs = ["user"]

    def tuples(self) -> Any:
        yield ["ann"]


def test_a_spout_that_executors_cannot_read() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Counter, config={"viper.timestamp.field": "user"})
    builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
    text = refusal(builder, "bolt")
    assert "spout 'events' is a Counter, whose rows no executor can read" in text
    assert "expected a SparkSpout" in text


def test_a_spout_whose_rows_are_given_is_not_asked() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Counter, config={"viper.time": "event"})
    builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
    assert plan_shards(builder, [Output("bolt")], options={"viper.time": "event"}, given=["events"]).stages


def test_time_that_is_no_event_time() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Counter)
    builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
    with pytest.raises(TopologyError, match="time is logical"):
        plan_shards(builder, [Output("bolt")], options={}, given=["events"])


def test_a_cycle() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Events)
    builder.set_bolt("one", Sums).fields_grouping("events", "user").fields_grouping("two", "item")
    builder.set_bolt("two", PerItem).fields_grouping("one", "user")
    assert "bolt 'one' receives 'two' back through a cycle" in refusal(builder, "two")


def test_values_as_json() -> None:
    assert "viper.values is json" in refusal(Shop, "sums", **{"viper.values": "json"})


def test_all_reasons_are_told_together() -> None:
    builder = with_bolt(Ticked, lambda bolt: bolt.shuffle_grouping("events"))
    builder.set_bolt("other", Gathering).all_grouping("bolt")
    text = refusal(builder, "other")
    assert len(text.splitlines()) == 4


def test_outputs_that_there_are_not() -> None:
    assert "did you mean 'sums'?" in refusal(Shop, "sum")
    assert "component 'sums': unknown stream 'even': expected 'default' or 'odd'" in refusal(
        Shop, "sums/even"
    )
    assert "no outputs: name the streams that are wanted" in refusal(Shop)


def test_rows_for_what_is_no_spout() -> None:
    with pytest.raises(JobError, match="rows are given for 'sums', which is no spout"):
        plan_shards(Shop, [Output("sums")], options={}, given=["sums"])


def test_a_topology_with_mistakes_of_its_own() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Events)
    builder.set_bolt("bolt", CountingSink).fields_grouping("events", "usr")
    assert "did you mean 'user'?" in refusal(builder, "events")


class FromAFactory(Bolt):
    """Says what it is only when it is made."""

    outputs = ["n"]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        conf["topology.tick.tuple.freq.secs"] = 10

    def process(self, tup: Any) -> None:
        pass

    def process_tick(self, tup: Any) -> None:
        self.emit([1])


def test_ticks_that_initialize_asks_for() -> None:
    pytest.importorskip("pyarrow")
    from spark_ingest.backfill.errors import ShardError
    from tests.spark_ingest.backfill.engine import Engine

    wanted = [Output("bolt")]
    with pytest.raises(ShardError, match="bolt 'bolt' asks for ticks in initialize"):
        Engine(plan_shards(with_bolt(FromAFactory, by_user), wanted, options={}), 2).run(wanted)
