"""Components alone: they get what they got in the whole run, and emit what they emitted."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from framework import BatchBolt, Bolt, Spout, Stream, TopologyBuilder, run
from framework.frontends.loading import load_any
from framework.model.config import resolve
from framework.model.topology import (
    ComponentSpec,
    GroupingKind,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
)
from framework.optimizer.costs import (
    ComponentCost,
    Deployment,
    Flow,
    Node,
    Profile,
    Shape,
    Spread,
    StreamCost,
)
from framework.optimizer.profiling import Profiler, RunFailed
from framework.optimizer.profiling.alone import (
    OF_PARTS,
    Alone,
    AsColumns,
    Nothing,
    Recorded,
    _written,
    alone,
    plans_around,
    together,
)
from framework.planning import Plan, TimeMode, make_plan
from framework.recording import Recording
from framework.recording.replay import RecordedSpout

TYPED = Stream(name="typed", schema={"number": "int64 not null"})


class Numbers(Spout):
    outputs = ["number", "time"]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, step: int = 1) -> None:
        super().__init__()
        self.step = step

    def tuples(self) -> Iterator[list[int]]:
        for number in range(0, 600, self.step):
            yield [number, number // 4]


class Both(Bolt):
    """A bolt whose output depends on the order of all its input, and on who has brought it."""

    outputs = [Stream(["count", "sum"]), TYPED]
    par = 2

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.counts: Counter[str] = Counter()
        self.sum = 0

    def process(self, tup: Any) -> None:
        self.counts[tup.component] += 1
        self.sum = (7 * self.sum + tup.values.number + len(tup.component)) % 1_000_003
        self.emit([dict(self.counts), self.sum])
        self.emit([self.sum], stream="typed")


class Columns(BatchBolt):
    """Emits what it got as columns, and how it looked."""

    outputs = [TYPED, Stream(["is_columns", "number"])]

    def process_rows(self, rows: Any) -> None:
        self.emit_rows(rows.batch(), stream="typed")
        is_made = rows._payload.columns is not None
        self.emit_rows([(is_made, number) for (number,) in rows])


class Last(Bolt):
    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[-1]])


@pytest.fixture(scope="module")
def whole() -> Topology:
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_config("viper.placement", {"last": 1})
    builder.set_spout("ones", Numbers)
    builder.set_spout("threes", Numbers, args=[3])
    both = builder.set_bolt("both", Both)
    both.global_grouping("ones").global_grouping("threes")
    builder.set_bolt("columns", Columns).shuffle_grouping("both", "typed")
    last = builder.set_bolt("last", Last, 2).fields_grouping("both", ["sum"])
    last.fields_grouping("columns", ["number"], stream="typed").all_grouping("columns")
    return builder.build("whole")


@pytest.fixture(scope="module")
def recorded(whole: Topology, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    path = tmp_path_factory.mktemp("whole") / "run.viper"
    run(whole, worker="inline", record=path)
    return Recorded(path, TimeMode.EVENT, tracked=False)


def emitted(path: Path, component: str) -> list[tuple[int, Any]]:
    with Recording(path) as recording:
        return [(found.tag, found.values) for found in recording.tuples(component)]


@pytest.mark.parametrize("name", ["ones", "threes", "both", "columns"])
def test_it_emits_what_it_emitted(name: str, whole: Topology, recorded: Recorded, tmp_path: Path) -> None:
    part = alone(whole, name, recorded)
    run(part, worker="inline", record=tmp_path / "part.viper")
    found, expected = emitted(tmp_path / "part.viper", name), emitted(recorded.path, name)
    if name == "columns":
        # How a batch looked is no output that must be the same: alone, all of them come as columns.
        assert {values[0] for tag, values in found if tag == 1} == {True}
        found, expected = ([row for row in rows if row[0] == 0] for rows in (found, expected))
    assert found == expected and len(found) >= 200


def test_several_tasks_have_one_that_gets_all(whole: Topology, recorded: Recorded, tmp_path: Path) -> None:
    run(alone(whole, "last", recorded), worker="inline", record=tmp_path / "part.viper")
    found = Counter(values for _, values in emitted(tmp_path / "part.viper", "last"))
    once = Counter((values[-1],) for tag, values in emitted(recorded.path, "both") if tag == 0)
    again = Counter((values[-1],) for _, values in emitted(recorded.path, "columns"))
    assert found == once + again


def test_what_is_around_it(whole: Topology, recorded: Recorded) -> None:
    part = alone(whole, "columns", recorded)
    found = {c.id: (c.role, class_of(c.implementation)) for c in part.components}
    assert found == {
        "both, recorded": (Role.SPOUT, RecordedSpout),
        "both": (Role.BOLT, AsColumns),
        "columns": (Role.BOLT, Columns),
        "last": (Role.BOLT, Nothing),
    }
    kinds = [(given.source, given.stream, given.grouping.kind) for given in part.component("last").inputs]
    assert kinds == [
        ("columns", "typed", GroupingKind.FIELDS),
        ("columns", "default", GroupingKind.ALL),
    ]
    assert part.config["viper.placement"] == "round-robin" and part.config["viper.tasks"] == {}
    assert all(component.parallelism == 1 for component in part.components)


def class_of(implementation: Any) -> type:
    from framework.model.importing import import_class

    assert isinstance(implementation, PythonImplementation)
    return implementation.definition.cls or import_class(implementation.definition.class_name)


@pytest.mark.parametrize(
    ("name", "time", "ticks", "expected"),
    [
        ("both", TimeMode.EVENT, None, "event"),
        ("both", TimeMode.INGEST, 1, "event"),
        ("both", TimeMode.LOGICAL, None, "event"),
        ("both", TimeMode.LOGICAL, 1, "logical"),
        ("columns", TimeMode.LOGICAL, None, "logical"),
    ],
)
def test_ticks_by_the_wall_clock_stay_what_they_are(
    whole: Topology, recorded: Recorded, name: str, time: TimeMode, ticks: int | None, expected: str
) -> None:
    config = {} if ticks is None else {"topology.tick.tuple.freq.secs": ticks}
    ticking = tuple(
        replace(component, config={**component.config, **config}) if component.id == name else component
        for component in whole.components
    )
    part = alone(replace(whole, components=ticking), name, replace(recorded, time=time))
    assert part.config["viper.time"] == expected


def test_a_file_stands_for_it(whole: Topology, recorded: Recorded, tmp_path: Path) -> None:
    part = replace(alone(whole, "both", recorded), import_paths=("/no/such/folder",))
    loaded = load_any(_written(part, tmp_path))
    assert not loaded.problems and loaded.topology == part
    assert "/no/such/folder" in loaded.topology.import_paths
    assert loaded.topology.sources == part.sources  # beside which the files of a project lie


def shape(*names: str) -> Shape:
    nodes = tuple(Node(name, number == 0, 1) for number, name in enumerate(names))
    flows = tuple(Flow(one, "default", other, Spread.ONE) for one, other in pairwise(names))
    return Shape(nodes, flows)


@pytest.mark.parametrize(
    ("names", "at", "cuts"),
    [
        (("spout", "sink"), "spout", {(0, 1)}),
        (("spout", "bolt", "sink"), "bolt", {(0, 1, 1), (0, 0, 1)}),
        (("spout", "bolt"), "bolt", {(0, 1)}),
        (("spout",), "spout", set()),
    ],
)
def test_plans_tell_input_and_output_apart(names: Sequence[str], at: str, cuts: set[Sequence[int]]) -> None:
    def places(plan: Deployment) -> Sequence[int]:
        return tuple(place for name in names for place in plan.tasks[name])

    first, *others = map(places, plans_around(shape(*names), at, 2))
    assert set(first) == {0} and set(others) == cuts and len(others) == len(cuts)
    assert list(map(places, plans_around(shape(*names), at, 1))) == [first]


def test_profiles_are_put_together() -> None:
    def part(own: float, other: float) -> Profile:
        return Profile({"a": ComponentCost(own), "b": ComponentCost(other)})

    found = together({"a": part(100, 1), "b": part(2, 200)})
    assert {name: cost.ns for name, cost in found.components.items()} == {"a": 100, "b": 200}
    assert together({}) == Profile({})


def test_what_hardly_crosses_is_taken_to_cost_what_the_others_do() -> None:
    def part(**streams: StreamCost) -> ComponentCost:
        return ComponentCost(100, streams)

    often, free = StreamCost(1.0, 8, encode_ns=30, decode_ns=10), StreamCost(2.0, encode_ns=50)
    rare = StreamCost(0.001, 9, encode_ns=2e6, decode_ns=4e5)
    parts = {"a": part(often=often), "b": part(free=free, rare=rare)}
    found = together({name: Profile({name: cost, "other": cost}) for name, cost in parts.items()})
    assert found.components["a"] == parts["a"]
    b = found.components["b"].streams
    assert b["free"] == replace(free, decode_ns=10)
    assert b["rare"] == replace(rare, encode_ns=40, decode_ns=10)
    assert together({"b": Profile({"b": part(rare=rare)})}).components["b"].streams["rare"].encode_ns == 0


class Told(Profiler):
    """Runs nothing: it reports some figures of the right form."""

    def report(self, plan: Deployment) -> Mapping[str, Any]:
        if "--record" in self.command:
            return self._recorded()
        topology = load_any(self.command[1]).topology
        assert topology is not None and self.seconds == 1.0 and self.patience_s is not None
        recorded = [c for c in topology.spouts if class_of(c.implementation) is RecordedSpout]
        assert all(c.implementation.definition.kwargs["tracked"] is True for c in recorded)  # type: ignore[union-attr]
        if class_of(topology.components[-1].implementation) is Last:
            raise RunFailed("the last one wants what it does not have")
        tasks = [self._task(component) for component in topology.components]
        return {"statistics": {"tasks": tasks}, "elapsed_s": 1.0}

    def _recorded(self) -> Mapping[str, Any]:
        _, target, _, path = self.command
        if target == "unreadable":
            raise RunFailed("it cannot be recorded")
        shutil.copy(target, path)
        return {"components": {"ones": {"tracked": 1}, "both": {"tracked": 0}}}

    def _task(self, component: ComponentSpec) -> Mapping[str, Any]:
        tuples = 0 if component.id == "columns" else 1000
        inputs = [
            {"task": f"{given.source}:1", "tuples": tuples, "runs": 1, "jumbos": 1, "decoded": 0}
            for given in component.inputs
        ]
        return {
            "component": component.id,
            "task": 1,
            "worker": 1,
            "cpu_s": 1e-3 if component.id == "both" else 5e-3,
            "emitted": {"default": 1000},
            "inputs": inputs,
            "outputs": [],
        }


def planned(topology: Topology) -> Plan:
    settings, problems = resolve(topology, options=OF_PARTS)
    assert not problems, json.dumps(list(map(str, problems)))
    return make_plan(topology, settings)


def test_what_cannot_be_measured_is_told_and_left_out(whole: Topology, recorded: Recorded) -> None:
    told: list[str] = []
    inline = Deployment({component.id: (0,) for component in whole.components})
    measured = Alone(whole, Told(["run", str(recorded.path)], 5.0, 1), [], planned)
    guess = measured.guess(inline, told.append)
    assert set(guess.components) == {"ones", "threes", "both"}, told
    assert guess.components["both"].ns == pytest.approx(500, rel=0.01)  # a millisecond for 2,000 tuples
    assert "last is not measured alone: the last one wants what it does not have" in told
    assert "columns is not measured alone: there were no tuples for it in the run that was recorded" in told


def test_what_cannot_be_recorded_is_told(whole: Topology) -> None:
    told: list[str] = []
    measured = Alone(whole, Told(["run", "unreadable"], 5.0, 1), [], planned)
    assert measured.guess(Deployment({}), told.append) == Profile({})
    assert told[-1] == "no component is measured alone: it cannot be recorded"


def test_a_class_that_no_other_process_can_import(whole: Topology, recorded: Recorded) -> None:
    class Local(Last):
        """Of this function."""

    made = PythonImplementation(ObjectDef("Local", cls=Local))
    components = tuple(
        replace(component, implementation=made) if component.id == "last" else component
        for component in whole.components
    )
    told: list[str] = []
    profiler = Told(["run", str(recorded.path)], 5.0, 1)
    Alone(replace(whole, components=components), profiler, [], planned).guess(Deployment({}), told.append)
    assert any(line.startswith("last is not measured alone: Can't pickle") for line in told), told
