"""The builder: every call, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, Stream, Tuple
from framework.frontends.builder import BoltDeclarer, TopologyBuilder, java, shell
from framework.model.errors import TopologyError
from framework.model.topology import (
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Role,
    ShellImplementation,
    Topology,
)


class Words(Spout):
    outputs = ["word"]

    def next_tuple(self) -> None: ...


class Count(Bolt):
    outputs = ["word", "count"]
    par = 3
    config = {"limit": 10}

    def process(self, tup: Tuple) -> None: ...


class Nearest:
    """A custom grouping."""

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None: ...

    def choose_tasks(self, values: Any) -> list[int]:
        return []


@pytest.fixture
def builder() -> TopologyBuilder:
    built = TopologyBuilder()
    built.set_spout("words", Words)
    return built


@pytest.fixture
def count(builder: TopologyBuilder) -> BoltDeclarer:
    return builder.set_bolt("count", Count)


def topology(builder: TopologyBuilder) -> Topology:
    loaded = builder.declaration("example").topology()
    assert loaded.problems == ()
    assert loaded.topology is not None
    return loaded.topology


def test_a_component_has_the_defaults_of_its_class(builder: TopologyBuilder, count: BoltDeclarer) -> None:
    component = topology(builder).component("count")
    assert component.role is Role.BOLT
    assert component.implementation == PythonImplementation(ObjectDef(f"{__name__}.Count"))
    assert (component.parallelism, component.tasks, component.config) == (3, None, {"limit": 10})
    assert component.outputs == (Stream(["word", "count"]),)
    assert topology(builder).component("words").role is Role.SPOUT


def test_what_is_said_in_the_call_comes_before_the_class(builder: TopologyBuilder) -> None:
    builder.set_bolt(
        "count",
        Count,
        2,
        args=["stop words"],
        kwargs={"language": "en"},
        config={"limit": 5},
        tasks=4,
        outputs=[Stream(["total"], "totals")],
    )
    component = topology(builder).component("count")
    assert component.implementation == PythonImplementation(
        ObjectDef(f"{__name__}.Count", ("stop words",), {"language": "en"})
    )
    assert (component.parallelism, component.tasks, component.config) == (2, 4, {"limit": 5})
    assert component.outputs == (Stream(["total"], "totals"),)


@pytest.mark.parametrize(
    ("method", "arguments", "grouping"),
    [
        ("shuffle_grouping", (), Grouping.SHUFFLE),
        ("fields_grouping", ("a", "b"), Grouping.fields("a", "b")),
        ("fields_grouping", (["a", "b"],), Grouping.fields("a", "b")),
        ("partial_key_grouping", ("a",), Grouping.partial_key("a")),
        ("all_grouping", (), Grouping.ALL),
        ("global_grouping", (), Grouping.GLOBAL),
        ("none_grouping", (), Grouping.NONE),
        ("direct_grouping", (), Grouping.DIRECT),
        ("local_or_shuffle_grouping", (), Grouping.LOCAL_OR_SHUFFLE),
        ("custom_grouping", (Nearest, 1), Grouping.custom(Nearest, 1)),
        ("grouping", (Grouping.ALL,), Grouping.ALL),
    ],
)
def test_every_grouping_has_its_method(
    builder: TopologyBuilder, count: BoltDeclarer, method: str, arguments: tuple[Any, ...], grouping: Grouping
) -> None:
    add = getattr(count, method)
    assert add("words", *arguments) is count
    add("words", *arguments, stream="other")
    assert topology(builder).component("count").inputs == (
        Input("words", grouping),
        Input("words", grouping, "other"),
    )


def test_a_grouping_by_key_needs_a_field(count: BoltDeclarer) -> None:
    with pytest.raises(ValueError, match="at least one field name"):
        count.fields_grouping("words")


def test_component_configuration_is_added_key_by_key(builder: TopologyBuilder, count: BoltDeclarer) -> None:
    count.add_configuration("a", 1).add_configurations({"b": 2, "limit": 5}).set_debug(True)
    count.set_max_task_parallelism(7).set_max_spout_pending(8).set_num_tasks(6)
    count.set_memory_load(128, 64).set_cpu_load(50)
    component = topology(builder).component("count")
    assert component.config == {
        "limit": 5,
        "a": 1,
        "b": 2,
        "topology.debug": True,
        "topology.max.task.parallelism": 7,
        "topology.max.spout.pending": 8,
    }
    assert component.tasks == 6
    assert component.resources == {"onHeapMemoryLoad": 128, "offHeapMemoryLoad": 64, "cpuLoad": 50}
    assert Count.config == {"limit": 10}


def test_topology_configuration_is_set_key_by_key(builder: TopologyBuilder) -> None:
    builder.set_config("topology.debug", True).set_config("a", 1)
    assert topology(builder).config == {"topology.debug": True, "a": 1}


def test_later_calls_do_not_change_what_was_built(builder: TopologyBuilder, count: BoltDeclarer) -> None:
    count.shuffle_grouping("words").add_configuration("deep", {"a": 1})
    before = builder.build("example")
    count.all_grouping("words", "more").add_configuration("b", 2).set_num_tasks(9).set_cpu_load(1)
    builder.set_config("a", 1).set_bolt("late", Count)
    component = before.component("count")
    assert [c.id for c in before.components] == ["words", "count"]
    assert (component.inputs, component.tasks) == ((Input("words", Grouping.SHUFFLE),), None)
    assert component.config == {"limit": 10, "deep": {"a": 1}}
    assert (before.config, component.resources) == ({}, {})


def test_programs_and_java_classes_are_components_too(builder: TopologyBuilder) -> None:
    builder.set_bolt("ruby", shell("ruby", "split.rb", outputs=["word"]), 2).shuffle_grouping("words")
    builder.set_bolt("java", java("org.example.Filter", 7, outputs=["word"])).shuffle_grouping("ruby")
    built = builder.build("example")
    assert built.component("ruby").implementation == ShellImplementation(("ruby", "split.rb"))
    assert built.component("ruby").outputs == (Stream(["word"]),)
    assert built.component("ruby").parallelism == 2
    assert built.component("java").implementation == JavaImplementation(ObjectDef("org.example.Filter", (7,)))


@pytest.mark.parametrize("command", [(), ("ruby", 3)])
def test_a_program_needs_its_command(command: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="shell\\(\\) needs the program and its arguments as str"):
        shell(*command)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("count", object()), "must be a class, found the instance .*: pass the class, object, and"),
        ((5, Count), "id must be a str, found 5"),
        (("count", Count, "2"), "par must be an int >= 1, .* found '2'"),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused_at_once(
    builder: TopologyBuilder, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        builder.set_bolt(*arguments)
    with pytest.raises(TypeError, match=message):
        builder.set_spout(*arguments)


class Limited(Spout):
    """Its outputs depend on its arguments."""

    def __init__(self, *names: str, most: int = 5) -> None:
        super().__init__()
        self._names = names

    @property
    def outputs(self) -> list[str]:  # type: ignore[override]
        if not self._names:
            raise ValueError("no names")
        return list(self._names)

    def next_tuple(self) -> None:
        raise StopIteration


def test_an_instance_stands_for_its_arguments(builder: TopologyBuilder) -> None:
    builder.set_spout("limited", Limited("a", "b", most=3))
    builder.set_spout("same", Limited, args=["a", "b"], kwargs={"most": 3})
    given, same = builder.declaration("x").topology().topology.components[-2:]  # type: ignore[union-attr]
    assert given.implementation == same.implementation
    assert given.implementation.definition.kwargs == {"most": 3}  # type: ignore[union-attr]
    assert given.outputs == same.outputs == (Stream(["a", "b"]),)
    with pytest.raises(TypeError, match="'limited' is an instance: its arguments are given"):
        builder.set_spout("limited", Limited("a"), args=["b"])
    with pytest.raises(ValueError, match="no names"):
        builder.set_spout("limited", Limited)


def test_an_instance_has_a_spec_of_its_own() -> None:
    spec = Limited("a", most=3).spec(name="limited", par=2)
    assert (spec.component_cls, spec.par, spec.outputs) == (Limited, 2, (Stream(["a"]),))
    assert spec.implementation.definition.args == ("a",)  # type: ignore[union-attr]


@pytest.mark.parametrize("source", [None, Words])
def test_a_source_is_named_by_its_id(count: BoltDeclarer, source: Any) -> None:
    with pytest.raises(TypeError, match="componentId must be a component's name"):
        count.shuffle_grouping(source)


def test_places_are_the_lines_of_the_calls(builder: TopologyBuilder) -> None:
    source = Path(__file__).read_text().splitlines()
    count = builder.set_bolt("count", Count)  # the bolt
    count.shuffle_grouping("words")  # the first input
    count.fields_grouping("words", "word", stream="other")  # the second input
    builder.set_config("topology.debug", True)  # the key
    places = topology(builder).sources

    def line(*path: str | int) -> str:
        place = places.at(*path)
        assert Path(place.file).resolve() == Path(__file__).resolve()
        return source[place.line - 1].rpartition("# ")[2]

    assert line("components", "count", "parallelism") == "the bolt"
    assert line("components", "count", "inputs", 0) == "the first input"
    assert line("components", "count", "inputs", 1, "grouping") == "the second input"
    assert line("config", "topology.debug") == "the key"


def test_building_refuses_all_mistakes_at_once() -> None:
    builder = TopologyBuilder()
    builder.set_spout("words", Words, 0)
    builder.set_bolt("count", Count).fields_grouping("words", "wrod")
    builder.set_bolt("twice", Count).shuffle_grouping("words")
    builder.set_bolt("twice", Count).shuffle_grouping("cuont")
    builder.set_bolt("lost", Count)
    with pytest.raises(TopologyError) as raised:
        builder.build("example")
    messages = [problem.message for problem in raised.value.problems]
    expected = ["parallelism that is 0", "'word'?", "have the id 'twice'", "'count'?", "no inputs"]
    for text in expected:
        assert sum(text in message for message in messages) == 1
    assert len(messages) == len(expected)


def test_a_par_per_environment_is_chosen_when_it_is_built(builder: TopologyBuilder) -> None:
    builder.set_bolt("count", Count, {"beta": 1, "prod": 4}).shuffle_grouping("words")
    assert builder.build("example", environment="prod").component("count").parallelism == 4
    with pytest.raises(TopologyError, match="'beta': 1, 'prod': 4"):
        builder.build("example")
