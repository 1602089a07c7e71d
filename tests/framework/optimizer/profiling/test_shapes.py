"""Shapes of planned topologies: which components may have other numbers of tasks, and what has no model."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.config import resolve
from framework.optimizer.costs import Deployment, Spread
from framework.optimizer.profiling import (
    CannotBeModelled,
    deployment_of,
    deployments,
    fixed_tasks,
    options_of,
    shape_of,
)
from framework.planning import Plan, make_plan


class Source(Spout):
    outputs = ["value"]


class Pass(Bolt):
    outputs = ["value"]


class Forgets(Pass):
    config = {"viper.stateless": True}


def planned(builder: TopologyBuilder, options: dict[str, Any] | None = None) -> Plan:
    topology = builder.build("shaped")
    settings, problems = resolve(topology, options=options or {})
    assert not problems
    return make_plan(topology, settings)


def words() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("split", Forgets).shuffle_grouping("source").add_configuration("viper.shuffle.run", 8)
    builder.set_bolt("count", Pass, 2).fields_grouping("split", "value")
    builder.set_bolt("own", Pass).shuffle_grouping("split")
    builder.set_bolt("sink", Pass).global_grouping("count")
    return builder


def test_what_may_have_other_numbers_of_tasks() -> None:
    plan = planned(words())
    shape = shape_of(plan, 3)
    assert {node.name: node.most for node in shape.nodes} == {
        "source": 1,
        "split": 3,
        "count": 3,
        "own": 1,
        "sink": 1,
    }
    assert fixed_tasks(plan) == {"source": 1, "own": 1, "sink": 1}
    assert shape.names[0] == "source" and shape.names.index("count") < shape.names.index("sink")
    assert [(f.source, f.target, f.spread, f.turn) for f in shape.flows] == [
        ("source", "split", Spread.TURNS, 8),
        ("split", "count", Spread.KEYS, 1),
        ("split", "own", Spread.TURNS, 1),
        ("count", "sink", Spread.ONE, 1),
    ]


def test_a_deployment_is_what_a_run_with_its_options_has() -> None:
    plan = planned(words())
    for deployment in deployments(shape_of(plan, 2), fixed_tasks(plan), 2, 12, seed=5):
        other = planned(words(), dict(options_of(deployment, 2)))
        assert deployment_of(other).key() == deployment.key() or len(deployment.places_used()) == 1
        assert {name: len(places) for name, places in deployment_of(other).tasks.items()} == {
            name: len(places) for name, places in deployment.tasks.items()
        }


def test_plans_to_measure_are_different() -> None:
    plan = planned(words())
    found = deployments(shape_of(plan, 2), fixed_tasks(plan), 2, 12, seed=5)
    assert len({one.key() for one in found}) == len(found) == 12
    assert found[0] == Deployment({name: (0,) for name in shape_of(plan, 2).names})


def test_cycles_and_groupings_of_which_nobody_knows_are_refused() -> None:
    builder = words()
    builder.set_bolt("back", Pass).shuffle_grouping("count")
    builder.set_bolt("again", Pass).shuffle_grouping("back").shuffle_grouping("last")
    builder.set_bolt("last", Pass).direct_grouping("again")
    with pytest.raises(CannotBeModelled) as raised:
        shape_of(planned(builder), 2)
    assert "shaped: there is no model of its costs:" in str(raised.value)
    assert "last -> again is part of a cycle" in str(raised.value)
