"""Python components as programs: the same rows in the same order, and what cannot be one says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import Bolt, Spout, Stream, TopologyBuilder
from framework.frontends.builder import shell
from framework.frontends.loading import load
from framework.frontends.multilang.as_programs import as_programs
from framework.model.topology import Bean, ObjectDef, PythonImplementation, Ref, ShellImplementation, Topology
from framework.operators.sinks import CollectingSink
from framework.recording.tap import tap_id, tapped
from tests.framework.frontends.multilang.pieces import run_topology
from tests.framework.frontends.multilang.served import Numbers, Polled, Repeats, Sums, Twice
from tests.framework.runtime.partitioned import Partitions
from tests.portions import at_every_change

FIXTURES = Path(__file__).parents[3] / "fixtures"


def programs(topology: Topology) -> Topology:
    made = as_programs(topology)
    shown = [c.id for c in made.topology.components if isinstance(c.implementation, ShellImplementation)]
    sinks = [c.id for c in topology.components if c.id.startswith("__tap") or c.id == "sink"]
    assert sorted([*shown, *sinks]) == sorted(c.id for c in topology.components)
    return made.topology


@pytest.mark.few(1)
@pytest.mark.usefixtures("streamparse")
@pytest.mark.parametrize("project", ["quickstart", "quickstart_framework"])
@pytest.mark.parametrize(
    "workers", at_every_change([{"viper__worker": "process", "topology__workers": 2}, {}]), ids=str
)
def test_a_project_does_the_same(project: str, workers: dict[str, Any]) -> None:
    loaded = load(str(FIXTURES / project / "topologies" / "wordcount.py")).topology
    assert loaded is not None
    topology = tapped(loaded, "count_bolt", CollectingSink)
    limits = {"max_tuples": 300}
    hosted = run_topology(topology, limits)
    served = run_topology(programs(topology), limits, **workers)
    rows = hosted.result(tap_id("count_bolt"))
    assert served.result(tap_id("count_bolt"))[:300] == rows[:300]
    assert len(rows) >= 300
    assert served.components["count_bolt"].acked >= 300


def branched(par: int) -> Topology:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, args=[30], kwargs={"name": "ä"})
    builder.set_spout("polled", Polled)
    builder.set_bolt("twice", Twice, par, config={"viper.stateless": True}).shuffle_grouping("numbers")
    sink = builder.set_bolt("sink", CollectingSink)
    sink.global_grouping("twice").global_grouping("twice", "told").global_grouping("polled")
    return builder.build("branched")


@pytest.mark.parametrize("par", at_every_change([2, 1], daily=True))
def test_spouts_of_every_kind_streams_and_arguments(par: int) -> None:
    hosted = run_topology(branched(par), viper__time="logical").result("sink")
    assert run_topology(programs(branched(par)), viper__time="logical").result("sink") == hosted
    assert len(hosted) == 30 * 3 + 10


def test_a_batching_bolt_of_ours_by_event_time() -> None:
    builder = TopologyBuilder()
    timed = {"viper.timestamp.field": "number", "viper.timestamp.unit": "s"}
    builder.set_spout("numbers", Numbers, args=[40], config=timed)
    ticks = {"topology.tick.tuple.freq.secs": 5}
    builder.set_bolt("sums", Sums, config=ticks).fields_grouping("numbers", "text")
    builder.set_bolt("sink", CollectingSink).global_grouping("sums")
    topology = builder.build("sums")
    hosted = run_topology(topology).result("sink")
    served = run_topology(programs(topology)).result("sink")
    assert len(served) >= 9
    # What is left in the batches at the end is not to be had of a program, as on Storm.
    assert served == hosted[: len(served)]
    assert len(hosted) - len(served) <= 3


class TestWhatStays:
    def reasons(self, topology: Topology) -> dict[str, str]:
        made = as_programs(topology)
        told = {}
        for problem in made.stayed:
            assert problem.warning
            head, _, reason = problem.message.partition(" runs in Python and not as a program: ")
            told[head.split("'")[1]] = reason
        same = {c.id for c in made.topology.components if c == topology.component(c.id)}
        assert set(told) <= same
        return told

    def topology(self, bolt: type[Bolt] = Twice, **options: Any) -> Topology:
        builder = TopologyBuilder()
        builder.set_spout("numbers", Numbers)
        builder.set_bolt("bolt", bolt, **options).shuffle_grouping("numbers")
        return builder.build("t")

    def test_sinks(self) -> None:
        assert self.reasons(self.topology(CollectingSink)) == {"bolt": "it is a sink"}

    def test_spouts_with_partitions(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("parts", Partitions())
        builder.set_bolt("sink", CollectingSink).shuffle_grouping("parts")
        told = self.reasons(builder.build("t"))
        assert told["parts"] == "it brings partitions, which the protocol does not know"

    def test_columns(self) -> None:
        """Also where only the input has a schema; a bolt for single tuples needs no columns."""
        schema = Stream(schema={"number": "int64", "text": "string"})
        builder = TopologyBuilder()
        builder.set_spout("numbers", type("Typed", (Numbers,), {"outputs": [schema], "__module__": __name__}))
        builder.set_bolt("bolt", Repeats).shuffle_grouping("numbers")
        builder.set_bolt("single", Twice).shuffle_grouping("numbers")
        reason = "a stream of it has a schema, and the protocol does not know columns"
        assert self.reasons(builder.build("t")) == {"numbers": reason, "bolt": reason}

    def test_local_classes(self) -> None:
        local = type("Local", (Twice,), {"__module__": __name__})
        name = f"{__name__}.Local"
        assert self.reasons(self.topology(local)) == {"bolt": f"its class cannot be imported as {name!r}"}

    def test_other_arguments(self) -> None:
        assert self.reasons(self.topology(args=[{1, 2}])) == {"bolt": "JSON cannot carry its arguments"}

    def test_beans(self) -> None:
        plain = self.topology()
        cached = PythonImplementation(
            ObjectDef("tests.framework.frontends.multilang.served.Twice", args=(Ref("bean"),), cls=Twice)
        )
        components = [c if c.id != "bolt" else replace(c, implementation=cached) for c in plain.components]
        beans = (Bean("bean", ObjectDef("builtins.dict")),)
        with_bean = replace(plain, components=tuple(components), beans=beans)
        assert self.reasons(with_bean) == {"bolt": "an argument of it is an object"}

    def test_programs_are_left_as_they_are_without_a_word(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("numbers", shell("ruby", "x.rb", outputs=["number"]))
        topology = builder.build("t")
        made = as_programs(topology)
        assert (made.topology, made.stayed) == (topology, ())


def test_a_generator_spout_is_still_known_to_end() -> None:
    made = as_programs(branched(1)).topology
    assert made.component("numbers").config["viper.spout.bounded"] is True
    assert "viper.spout.bounded" not in made.component("polled").config


def test_streamparse_gets_no_arguments(streamparse: ModuleType) -> None:
    from tests.framework.runtime.workers.ported import Emits

    builder = TopologyBuilder()
    builder.set_spout("emits", Emits)
    (component,) = as_programs(builder.build("t")).topology.components
    assert isinstance(component.implementation, ShellImplementation)
    assert component.implementation.command[1:] == (
        "-m",
        "framework.frontends.streamparse.serve",
        "tests.framework.runtime.workers.ported.Emits",
    )
    assert issubclass(Emits, streamparse.Spout) and not issubclass(Emits, Spout)
