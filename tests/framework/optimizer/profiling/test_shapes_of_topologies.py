"""Shapes of the repository's topologies, and of some that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.frontends.loading import load_any
from framework.model.config import resolve
from framework.optimizer.costs import Flow, Node, Shape, Spread
from framework.optimizer.profiling import CannotBeModelled, deployments, options_of, shape_of
from framework.optimizer.profiling.shapes import fixed_tasks
from framework.planning import Plan, make_plan

TOPOLOGIES = Path(__file__).parents[4] / "topologies"


def planned(topology: object, **options: Any) -> Plan:
    loaded = load_any(topology).topology
    assert loaded is not None
    settings, problems = resolve(
        loaded, options={key.replace("__", "."): value for key, value in options.items()}
    )
    assert not problems
    return make_plan(loaded, settings)


class Source(Spout):
    outputs = ["value"]


class Pass(Bolt):
    outputs = ["value"]


class Stateless(Pass):
    config = {"viper.stateless": True}


def test_word_count() -> None:
    shape = shape_of(planned(str(TOPOLOGIES / "wordcount.yaml")), 4)
    assert shape == Shape(
        (
            Node("lines", True, 1),
            Node("split", False, 4),
            Node("count", False, 4),
            Node("top", False, 1),
            Node("console", False, 1),
        ),
        (
            Flow("lines", "default", "split", Spread.TURNS),
            Flow("split", "default", "count", Spread.KEYS),
            Flow("count", "default", "top", Spread.ONE),
            Flow("top", "default", "console", Spread.ONE),
        ),
    )


@pytest.mark.parametrize("time", ["logical", "ingest", "event"])
def test_spouts_take_turns_unless_their_tuples_have_times(time: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source, 2)
    builder.set_bolt("pass", Pass).shuffle_grouping("source")
    shape = shape_of(planned(builder, viper__time=time), 2)
    assert shape.spouts_take_turns == (time == "logical")


@pytest.mark.parametrize("name", ["linear_road", "letters_windows", "stretch_wordcount", "wordcount_windows"])
def test_other_topologies_have_shapes_in_the_order_of_the_stream(name: str) -> None:
    plan = planned(str(TOPOLOGIES / f"{name}.yaml"))
    shape = shape_of(plan, 3)
    place = {node: at for at, node in enumerate(shape.names)}
    assert sorted(place) == sorted(component.id for component in plan.topology.components)
    assert all(place[flow.source] < place[flow.target] for flow in shape.flows)
    assert {flow.stream for flow in shape.flows} <= {s.stream for s in plan.subscriptions}
    for node in shape.nodes:
        assert node.most == fixed_tasks(plan).get(node.name, 3)


@pytest.mark.parametrize(("hashed", "most"), [("stable", 2), ("storm", 4)])
def test_keys_are_divided_among_no_more_tasks_than_there_are_groups(hashed: str, most: int) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("spread", Stateless).shuffle_grouping("source")
    builder.set_bolt("keyed", Stateless).fields_grouping("spread", ["value"])
    plan = planned(builder.build("keys"), viper__key__groups=2, viper__grouping__hash=hashed)
    found = {node.name: node.most for node in shape_of(plan, 4).nodes}
    assert found == {"source": 1, "spread": 4, "keyed": most}


def test_the_run_of_a_shuffle_is_its_turn() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("pass", Stateless).shuffle_grouping("source")
    builder.set_bolt("all", Pass, 2).all_grouping("pass")
    shape = shape_of(planned(builder.build("turns"), viper__shuffle__run=16), 2)
    assert shape.into["pass"] == (Flow("source", "default", "pass", Spread.TURNS, 16),)
    assert shape.into["all"] == (Flow("pass", "default", "all", Spread.ALL),)
    assert [node.most for node in shape.nodes] == [1, 2, 2]


def test_a_bolt_that_says_nothing_of_its_state_keeps_its_one_task() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("pass", Pass).shuffle_grouping("source")
    assert shape_of(planned(builder.build("one")), 8).node("pass").most == 1


def test_cycles_are_refused_with_their_ways() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    first = builder.set_bolt("first", Pass)
    first.shuffle_grouping("source")
    first.shuffle_grouping("second")
    builder.set_bolt("second", Pass).shuffle_grouping("first")
    with pytest.raises(CannotBeModelled, match="first -> second is part of a cycle"):
        shape_of(planned(builder.build("ring")), 2)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_run_with_the_options_of_a_plan_has_that_plan(workers: int) -> None:
    target = str(TOPOLOGIES / "wordcount.yaml")
    plan = planned(target)
    shape = shape_of(plan, workers)
    drawn = deployments(shape, fixed_tasks(plan), workers, 12, seed=7)
    assert len({one.key() for one in drawn}) == len(drawn)
    for one in drawn:
        made = planned(target, **options_of(one, workers))
        used = one.places_used()
        for name, places in one.tasks.items():
            found = [made.placement.executors[made.placement.executor_of(t.id)] for t in made.tasks_of(name)]
            assert [used[executor.worker - 1] for executor in found] == list(places)


@pytest.mark.parametrize("kind", ["inline", "process"])
def test_components_with_a_process_of_their_own_are_refused_wherever_they_run(kind: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("pass", Pass).shuffle_grouping("source").add_configuration("viper.isolated", True)
    with pytest.raises(CannotBeModelled, match=r"pass has a process for each task.*viper\.isolated"):
        shape_of(planned(builder.build("apart"), viper__worker=kind), 2)
