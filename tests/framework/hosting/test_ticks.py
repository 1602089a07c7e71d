"""Ticks for a whole topology, for one component, and for who subscribes to them by name."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import Grouping, Topology, TopologyBuilder
from framework.frontends.dsl import GlobalStreamId, topology_of
from framework.frontends.flux import load_flux
from framework.frontends.loading import load
from framework.model.config import resolve
from framework.model.errors import TopologyError
from framework.model.render import rendered, to_dot, to_mermaid
from framework.model.topology import Loaded
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.planning.validation import validate
from framework.runtime import RunReport, run
from framework.testing import run_topology
from tests.framework.hosting import ours, ported
from tests.framework.hosting.kinds import KINDS, both, chain, everywhere
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.running import Workers

EVERY_SECOND = {"topology.tick.tuple.freq.secs": 1}
ROWS = {"rows": [[500], [1500], [1600], [3500]]}
"""Times in milliseconds."""
BETWEEN = [500, "tick", 1500, 1600, "tick", "tick", 3500, "tick"]
"""These times, a tick each second between them, and a last one."""


def seen(report: RunReport) -> list[Any]:
    return [value for (value,) in report.result("sink")]


@both
@everywhere
def test_ticks_of_the_whole_topology(workers: Workers, base: ModuleType) -> None:
    report = workers.run(chain(base.Timed, base.Ticked), **ROWS, topology__tick__tuple__freq__secs=1)
    assert seen(report) == BETWEEN


@both
@everywhere
def test_ticks_of_one_component(workers: Workers, base: ModuleType) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", base.Timed)
    builder.set_bolt("ticked", base.Ticked, config=EVERY_SECOND).shuffle_grouping("source")
    builder.set_bolt("other", base.Ticked).shuffle_grouping("ticked")
    builder.set_bolt("sink", CollectingSink).global_grouping("other")
    report = workers.run(builder, **ROWS)
    assert seen(report) == BETWEEN
    assert (report.components["ticked"].ticks, report.components["other"].ticks) == (4, 0)


# -- subscribed to by name


def subscribed(base: ModuleType, *, par: int = 1, grouping: Grouping = Grouping.ALL) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", base.Timed)
    both_inputs = builder.set_bolt("both", base.Ticked, config=EVERY_SECOND).shuffle_grouping("source")
    both_inputs.all_grouping("__system", stream="__tick")
    alone = builder.set_bolt("alone", base.Ticked, par, config=EVERY_SECOND)
    alone.grouping("__system", grouping, stream="__tick")
    builder.set_bolt("sink", CollectingSink).global_grouping("both")
    builder.set_bolt("told", CollectingSink).global_grouping("alone")
    return builder


@both
@everywhere
def test_who_subscribes_gets_each_tick_once(workers: Workers, base: ModuleType) -> None:
    report = workers.run(subscribed(base), **ROWS)
    assert seen(report) == BETWEEN
    # Event time begins for a bolt of ticks alone with the first word of how far the spouts are.
    told = report.result("told")
    assert told == [("tick",)] * len(told)
    assert 1 <= len(told) <= 4


@pytest.mark.parametrize("grouping", [Grouping.ALL, Grouping.SHUFFLE, Grouping.GLOBAL], ids=str)
def test_every_task_gets_every_tick_however_they_are_grouped(grouping: Grouping) -> None:
    report = run_built(subscribed(ours, par=3, grouping=grouping), **ROWS)
    assert report.result("told") == [("tick",)] * 4 * 3


class WithFramework(Topology):
    source = ours.Timed.spec()
    ticked = ours.Ticked.spec(
        inputs={source: Grouping.SHUFFLE, GlobalStreamId("__system", "__tick"): Grouping.ALL},
        config=EVERY_SECOND,
    )


YAML = """
name: ticked
spouts:
  - {id: source, className: tests.framework.hosting.ported.Timed}
bolts:
  - id: ticked
    className: tests.framework.hosting.ported.Ticked
    config: {topology.tick.tuple.freq.secs: 1}
streams:
  - {from: source, to: ticked, grouping: {type: SHUFFLE}}
  - {from: "__system", to: ticked, grouping: {type: ALL, streamId: "__tick"}}
"""
PORTED = """
from streamparse.thrift import GlobalStreamId
from tests.framework.hosting.ported import Ticked, Timed

TICKS = GlobalStreamId(componentId="__system", streamId="__tick")
"""
MIXED = """
from framework import Topology

class Mixed(Topology):
    source = Timed.spec()
    ticked = Ticked.spec(inputs=[GlobalStreamId("source", "default"), TICKS],
                         config={"topology.tick.tuple.freq.secs": 1})
"""
STREAMPARSES = """
from streamparse import Topology

class Streamparses(Topology):
    source = Timed.spec()
    ticked = Ticked.spec(inputs=[source, TICKS])
"""


def of_framework(folder: Path) -> Loaded:
    return topology_of(WithFramework)


def of_builder(folder: Path) -> Loaded:
    builder = TopologyBuilder()
    builder.set_spout("source", ported.Timed)
    ticked = builder.set_bolt("ticked", ported.Ticked, config=EVERY_SECOND).shuffle_grouping("source")
    ticked.all_grouping("__system", stream="__tick")
    return Loaded(builder.build("ticked"), ())


def of_yaml(folder: Path) -> Loaded:
    (folder / "ticked.yaml").write_text(YAML)
    return load_flux(folder / "ticked.yaml")


def of_mixed_bases(folder: Path) -> Loaded:
    (folder / "mixed.py").write_text(PORTED + MIXED)
    return load(str(folder / "mixed.py"))


@pytest.mark.few(3)
@pytest.mark.parametrize("form", [of_framework, of_builder, of_yaml, of_mixed_bases])
def test_every_form_loads_validates_draws_plans_and_runs(form: Any, tmp_path: Path) -> None:
    loaded = form(tmp_path)
    assert loaded.problems == ()
    topology = loaded.topology
    subscribed = topology.component("ticked").inputs[1]
    assert (subscribed.source, subscribed.stream) == ("__system", "__tick")
    assert validate(topology) == []
    assert all("__system" in draw(rendered(topology)) for draw in (to_dot, to_mermaid))
    for workers in KINDS:
        conf = {key.replace("__", "."): said for key, said in workers.options.items()}
        assert make_plan(topology, resolve(topology, options=conf)[0]).subscriptions[0].source == "source"
        ticked = run_topology(topology, conf={**conf, **ROWS}).emitted("ticked")
        assert [value for (value,) in ticked] == BETWEEN, str(workers)


def test_without_an_interval_there_are_none_and_that_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ticked.yaml").write_text(YAML.replace("{topology.tick.tuple.freq.secs: 1}", "{}"))
    topology = load_flux(tmp_path / "ticked.yaml").topology
    assert topology is not None
    (problem,) = validate(topology)
    assert str(problem).endswith(
        "ticked.yaml:11: bolt 'ticked', input from '__system': there are no ticks: "
        "set topology.tick.tuple.freq.secs, in the bolt's config or in the topology's"
    )
    with pytest.raises(TopologyError, match="there are no ticks"):
        run_topology(topology, conf=ROWS)
    settings, _ = resolve(topology, options=EVERY_SECOND)
    assert validate(topology, settings) == []


@both
def test_a_bolt_that_batches_by_ticks_is_warned_of_where_there_are_none(base: ModuleType) -> None:
    for cls, warned in ((base.Batches, True), (base.BatchesOfTimer, False), (base.Ticked, False)):
        topology = chain(base.Timed, cls).build("batching")
        messages = [problem.message for problem in validate(topology) if problem.warning]
        said = "bolt 'b1' gathers batches, but has no ticks at which to process them before the end: set"
        assert any(message.startswith(said) for message in messages) is warned
        settings, _ = resolve(topology, options=EVERY_SECOND)
        assert not any("has no ticks" in problem.message for problem in validate(topology, settings))


def test_streamparses_own_class_refuses_them_and_the_problem_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "streamparses.py").write_text(PORTED + STREAMPARSES)
    (problem,) = load(str(tmp_path / "streamparses.py")).problems
    said = (
        "streamparses.py:11: Streamparses.ticked: bolt 'ticked', input from '__system': streamparse refuses"
    )
    assert said in str(problem)
    assert "derive the class from viperstorm.Topology" in str(problem)


def test_a_stream_of_the_system_that_is_none_is_refused() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", ours.Timed)
    builder.set_bolt("ticked", ours.Ticked).all_grouping("__system", stream="__tock")
    with pytest.raises(TopologyError, match="unknown stream '__tock': expected '__tick'; did you mean"):
        builder.build("ticked")


@both
def test_ticks_by_the_wall_clock_reach_who_subscribes(base: ModuleType) -> None:
    """The spout ends at the third tick, which has to come although there is no other input."""
    report = run(*_plan_of_wall_clock(base), max_tuples=None)
    assert report.components["alone"].ticks >= 3


def _plan_of_wall_clock(base: ModuleType) -> Any:
    from tests.framework.runtime.pieces import plan_of, spout

    ticks: list[Any] = []

    def process_tick(self: Any, tup: Any) -> None:
        ticks.append(tup)

    def until_three(self: Any) -> Any:
        while len(ticks) < 3:
            yield None

    builder = TopologyBuilder()
    builder.set_spout("source", spout(until_three))
    alone = type("Alone", (base.Ticked,), {"process_tick": process_tick})
    config = {"topology.tick.tuple.freq.secs": 0.01}
    builder.set_bolt("alone", alone, config=config).all_grouping("__system", stream="__tick")
    return plan_of(builder, viper__poll__pause__max__ms=1)
