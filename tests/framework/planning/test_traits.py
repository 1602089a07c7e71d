"""The traits of a component's class that are known before it runs; the class is asked once."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from framework import (
    BatchingBolt,
    Bolt,
    Spout,
    TicklessBatchingBolt,
    Topology,
    TopologyBuilder,
)
from framework.model.config import resolve
from framework.model.errors import LoadError
from framework.model.topology import ComponentSpec, JavaImplementation, ObjectDef, PythonImplementation, Role
from framework.operators.components import PartitionedSpout
from framework.planning import make_plan
from framework.planning.traits import Batching, Traits, known_traits, traits_of

HERE = __name__


class Polled(Spout):
    outputs = ["word"]


class Generated(Spout):
    outputs = ["word"]

    def tuples(self) -> Iterator[list[Any]]:
        yield ["a"]


class Parts(PartitionedSpout):
    outputs = ["word"]


class Ticked(Bolt):
    def process_tick(self, tup: Any) -> None: ...


class ByTicks(BatchingBolt): ...


class ByTimer(TicklessBatchingBolt): ...


BATCHES = {"bounded": False, "hears_ticks": True}


def known(**found: Any) -> Traits:
    """The traits of a component whose class is known."""
    return Traits(is_class_known=True, **found)


def by_name(role: Role, class_name: str) -> ComponentSpec:
    return ComponentSpec("it", role, PythonImplementation(ObjectDef(class_name)))


@pytest.mark.parametrize(
    ("cls", "conf", "expected"),
    [
        (Polled, {}, known(bounded=False)),
        (Polled, {"viper.spout.bounded": True}, known(bounded=True)),
        (Polled, {"viper.timestamp.field": "at"}, known(bounded=False, event_time=True)),
        (Generated, {}, known(bounded=True)),
        (Generated, {"viper.spout.bounded": False}, known(bounded=False)),
        (Parts, {}, known(bounded=True, partitioned=True, event_time=True)),
        (Bolt, {}, known(bounded=False)),
        (Ticked, {"viper.stateless": True}, known(bounded=False, hears_ticks=True, stateless=True)),
        (Ticked, {"viper.isolated": True}, known(bounded=False, hears_ticks=True, isolated=True)),
        (ByTicks, {}, known(**BATCHES, batching=Batching.TICKS, kind="BatchingBolt")),
        (ByTimer, {}, known(**BATCHES, batching=Batching.TIMER, kind="TicklessBatchingBolt")),
    ],
)
def test_of_our_classes(cls: type, conf: dict[str, Any], expected: Traits) -> None:
    role = Role.SPOUT if issubclass(cls, Spout) else Role.BOLT
    held = ComponentSpec("it", role, PythonImplementation(ObjectDef("x.Y", cls=cls)))
    assert traits_of(held, conf) == known_traits(held, conf) == expected


def test_of_ported_classes() -> None:
    pystorm = importlib.import_module("pystorm")
    timer = type("Timer", (pystorm.TicklessBatchingBolt,), {})
    held = ComponentSpec("it", Role.BOLT, PythonImplementation(ObjectDef("x.Y", cls=timer)))
    found = traits_of(held, {})
    assert (found.ported, found.isolated, found.batching) == (True, True, Batching.TIMER)
    assert not traits_of(held, {"viper.isolated": False}).isolated


def test_of_what_is_no_python_class() -> None:
    java = ComponentSpec("it", Role.SPOUT, JavaImplementation(ObjectDef("org.Spout")))
    assert traits_of(java, {}) == Traits(bounded=None)
    assert traits_of(java, {"viper.spout.bounded": True}).bounded


def test_a_class_that_cannot_be_imported_is_an_error_only_where_it_has_to_be_known() -> None:
    missing = by_name(Role.SPOUT, "nowhere.Spout")
    with pytest.raises(LoadError, match="nowhere"):
        traits_of(missing, {})
    assert known_traits(missing, {}) == Traits(bounded=None)


def test_a_bolt_that_nobody_holds_is_not_imported_for_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "framework.planning.traits.import_class", lambda name: pytest.fail(f"imported {name}")
    )
    assert known_traits(by_name(Role.BOLT, f"{HERE}.ByTicks"), {}) == Traits()


def test_planning_asks_each_class_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()

    def found(component: ComponentSpec, conf: Any) -> Traits:
        asked[component.id] += 1
        return traits_of(component, conf)

    builder = TopologyBuilder()
    builder.set_spout("source", Polled, 2)
    builder.set_bolt("timed", ByTimer, 2).shuffle_grouping("source")
    topology = builder.build("asked")
    settings = resolve(topology)[0]
    monkeypatch.setattr("framework.planning.planner.traits_of", found)
    monkeypatch.setattr("framework.planning.traits.class_of", _counted(asked))
    plan = make_plan(topology, settings)
    assert asked == {"source": 1, "timed": 1, "class of source": 1, "class of timed": 1}
    assert plan.traits["timed"].batching is Batching.TIMER
    assert plan.emits_outside_input


def _counted(asked: Counter[str]) -> Any:
    from framework.planning.traits import class_of

    def counted(component: ComponentSpec) -> type:
        asked[f"class of {component.id}"] += 1
        return class_of(component)

    return counted


def test_the_plan_says_whether_bolts_emit_outside_of_their_input() -> None:
    class Simple(Topology):
        source = Generated.spec()
        timed = ByTicks.spec(inputs=[source])

    from framework.frontends.dsl import topology_of

    topology = topology_of(Simple).topology
    assert topology is not None
    assert not make_plan(topology, resolve(topology)[0]).emits_outside_input
