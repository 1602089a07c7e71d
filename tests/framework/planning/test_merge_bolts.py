"""The merge bolts of a plan, and the plans that cannot have them."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Grouping, TopologyBuilder, ValueState
from framework.model.errors import TopologyError
from framework.operators.sinks import CollectingSink
from framework.planning import Plan
from tests.framework.runtime.pieces import Forward, Numbers, plan_of

LAYERS = ("operator", "operator-python")


class Tally(Bolt):
    """Counts the tuples of each key."""

    outputs = ["source", "count"]
    count = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0], self.count.add(1)])


def line(par: int = 2, name: str = "second") -> TopologyBuilder:
    """``source -> first -> second -> sink``, of which the middle ones have several tasks."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("first", Forward, par).shuffle_grouping("source")
    builder.set_bolt(name, Forward, par).shuffle_grouping("first")
    builder.set_bolt("sink", CollectingSink).global_grouping(name)
    return builder


def names(plan: Plan, ids: Any) -> list[str]:
    return [plan.tasks[task - 1].component for task in ids]


@pytest.mark.parametrize("layer", LAYERS)
def test_one_stands_before_each_task_with_several_producers(layer: str) -> None:
    plan, _ = plan_of(line(), viper__merge__layer=layer)
    assert sorted(names(plan, plan.merges.values())) == ["second.merge", "second.merge", "sink.merge"]
    assert [task.id for task in plan.tasks] == list(range(1, len(plan.tasks) + 1))
    for reader, merge in plan.merges.items():
        behind, before = plan.channel_of(reader), plan.channel_of(merge)
        assert behind.sources == (merge,) and not behind.arriving
        assert len(before.sources) == 2 and before.arriving == (layer == "operator-python")
        deeper, above = plan.tasks[reader - 1].depth, plan.tasks[merge - 1].depth
        assert max(plan.tasks[source - 1].depth for source in before.sources) < above < deeper
        assert plan.placement.executor_of(merge) == plan.placement.executor_of(reader)


def test_the_communication_layer_has_none() -> None:
    plan, _ = plan_of(line())
    assert not plan.merges
    assert names(plan, [task.id for task in plan.tasks]).count("second.merge") == 0


def test_a_task_with_one_producer_has_none() -> None:
    plan, _ = plan_of(line(par=1), viper__merge__layer="operator")
    assert not plan.merges


def test_a_bolt_in_a_cycle_has_none() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2)
    builder.set_bolt("round", Forward).shuffle_grouping("source").shuffle_grouping("round")
    builder.set_bolt("sink", CollectingSink).global_grouping("round")
    plan, _ = plan_of(builder, viper__merge__layer="operator")
    assert not plan.merges


def test_the_merge_bolt_of_one_that_blocks_is_run_with_the_other_tasks() -> None:
    builder = line()
    builder.set_bolt("slow", Forward, 2, config={"viper.blocking": True}).shuffle_grouping("first")
    plan, _ = plan_of(builder, viper__merge__layer="operator-python")
    blocking = {task for executor in plan.placement.executors if executor.blocking for task in executor.tasks}
    assert names(plan, sorted(blocking)) == ["slow", "slow"]
    assert not blocking & set(plan.merges.values())


def test_a_component_of_the_same_name_stays_what_it_is() -> None:
    builder = line()
    builder.set_bolt("second.merge", Forward).shuffle_grouping("source")
    plan, _ = plan_of(builder, viper__merge__layer="operator")
    assert set(names(plan, plan.merges.values())) == {"second.merge_", "sink.merge"}


def test_levels_and_so_positions_are_the_same() -> None:
    plain, _ = plan_of(line())
    merged, _ = plan_of(line(), viper__merge__layer="operator")
    for name, level in plain.layout.components.items():
        assert merged.layout.components[name] == level


@pytest.mark.parametrize("layer", LAYERS)
def test_exact_recovery_is_refused(layer: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    with pytest.raises(TopologyError, match=f"exact, but merge bolts .*{layer}.* lose what they hold"):
        plan_of(builder, viper__merge__layer=layer, viper__recovery="exact")


def test_elastic_bolts_are_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2)
    config = {"viper.parallelism.max": 3}
    builder.set_bolt("tally", Tally, config=config).grouping("source", Grouping.fields("source"))
    with pytest.raises(TopologyError, match="can be scaled while it runs, but its merge bolts"):
        plan_of(builder, viper__merge__layer="operator")
