"""Topology classes of ours: what may be said in one, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from framework import (
    Bolt,
    GlobalStreamId,
    Grouping,
    JavaBolt,
    JavaSpout,
    ShellBolt,
    ShellSpout,
    Spout,
    Stream,
    Topology,
    Tuple,
)
from framework.frontends.dsl import topology_of
from framework.model.errors import TopologyError
from framework.model.specs import Spec
from framework.model.topology import Input, Role


class Words(Spout):
    outputs = ["word"]

    def next_tuple(self) -> None:
        self.emit(["dog"])


class Count(Bolt):
    outputs = ["word", Stream(["total"], "totals")]
    par = {"beta": 1, "prod": 4}
    config = {"limit": 10}

    def process(self, tup: Tuple) -> None: ...


class Direct(Spout):
    outputs = [Stream(["word"], direct=True)]

    def next_tuple(self) -> None: ...


class Silent(Spout):
    def next_tuple(self) -> None: ...


def of(*specs: Spec, **body: Any) -> Any:
    """A topology class with these specs."""
    named = {spec.name or f"spec_{index}": spec for index, spec in enumerate(specs)}
    return type(Topology)("Example", (Topology,), {"__module__": __name__, **named, **body})


def test_specs_are_kept_in_order_and_named_after_their_attributes() -> None:
    class Example(Topology):
        words = Words.spec()
        counted = Count.spec(name="count", inputs=[words])

    assert [(spec.name, spec.role) for spec in Example.specs] == [("words", Role.SPOUT), ("count", Role.BOLT)]
    assert Example.config == {}


def test_specs_are_not_inherited() -> None:
    class Base(Topology):
        config = {"a": 1}
        words = Words.spec()

    class Derived(Base):
        other = Words.spec()

    assert [spec.name for spec in Derived.specs] == ["other"]
    assert Derived.config == {}


def test_class_attributes_are_the_defaults_of_a_spec() -> None:
    words = Words.spec()
    by_class, by_spec = Count.spec(inputs=[words]), Count.spec(inputs=[words], par=2, config={})
    assert (by_class.par, by_class.config) == ({"beta": 1, "prod": 4}, {"limit": 10})
    assert (by_spec.par, by_spec.config) == (2, {})
    assert by_class.outputs == (Stream(["word"]), Stream(["total"], "totals"))


def test_a_topology_is_not_changed_by_what_happens_to_its_configuration_afterwards() -> None:
    class Example(Topology):
        config = {"names": ["a"]}
        words = Words.spec(config={"names": ["a"]})

    topology = topology_of(Example).topology
    assert topology is not None
    Example.config["names"].append("b")
    Example.specs[0].config["names"].append("b")
    assert topology.config == topology.component("words").config == {"names": ["a"]}


def test_inputs_keep_the_order_in_which_they_were_written() -> None:
    words, count = Words.spec(), Count.spec(name="count", inputs=[GlobalStreamId("words")])
    sink = Count.spec(
        name="sink",
        inputs={
            count["totals"]: Grouping.partial_key("total"),
            GlobalStreamId("words"): Grouping.NONE,
            count: Grouping.GLOBAL,
        },
    )
    words.name = "words"
    topology = topology_of(of(words, count, sink), environment="beta").topology
    assert topology is not None
    assert topology.component("sink").inputs == (
        Input("count", Grouping.partial_key("total"), "totals"),
        Input("words", Grouping.NONE),
        Input("count", Grouping.GLOBAL),
    )


def test_a_direct_stream_is_grouped_directly_unless_it_is_only_named() -> None:
    direct = Direct.spec()
    assert Count.spec(inputs=direct).inputs[0][1] == Grouping.DIRECT
    assert Count.spec(inputs=[direct["default"]]).inputs[0][1] == Grouping.SHUFFLE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": 5}, "5 is no input: expected a spec or a GlobalStreamId"),
        ({"inputs": ["words"]}, "did you mean GlobalStreamId('words', 'default')?"),
        ({"inputs": [Words]}, "did you mean Words.spec(...)"),
        ({"inputs": {"words": Grouping.SHUFFLE}}, "'words' is no input"),
        ({"inputs": {GlobalStreamId("words"): "shuffle"}}, "'shuffle' is no grouping"),
        ({"par": "2"}, "par must be an int >= 1, or a dict of environment name to int, found '2'"),
        ({"par": 1.5}, "found 1.5"),
        ({"par": {"prod": "2"}}, "found {'prod': '2'}"),
        ({"par": {}}, "found {}"),
        ({"config": [1]}, "config must be a dict with str keys, or None, found [1]"),
        ({"config": {1: 2}}, "found {1: 2}"),
        ({"name": 3}, "name must be a str, found 3"),
    ],
)
def test_an_argument_of_the_wrong_type_is_a_type_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        Count.spec(**arguments)
    assert message in str(raised.value)


def test_a_stream_that_a_spec_does_not_declare_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="unknown stream of Count 'total': expected 'default' or 'totals'"):
        Count.spec()["total"]
    with pytest.raises(KeyError, match="unknown stream of Silent 'default'"):
        Count.spec(inputs=[Silent.spec()])


def test_a_stream_id_needs_a_component_and_a_stream() -> None:
    with pytest.raises(TypeError, match="componentId must be a component's name or spec, found None"):
        GlobalStreamId(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="streamId must be a str, found None"):
        GlobalStreamId("words", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([], "the topology has no spout"),
        ([Silent.spec()], "declares no outputs"),
        ([Words.spec(), Count.spec()], "has no inputs"),
        ([Words.spec(par=0)], "parallelism that is 0"),
        ([Words.spec(par={"beta": 1, "prod": -1})], "parallelism that is -1"),
        ([Words.spec(), Count.spec(inputs=[GlobalStreamId("spec_9")])], "unknown component 'spec_9'"),
        ([Words.spec(), Count.spec(inputs=[GlobalStreamId("spec_0", "x")])], "unknown stream 'x'"),
        (
            [Words.spec(), Count.spec(inputs={GlobalStreamId("spec_0"): Grouping.fields("wrod")})],
            "unknown field 'wrod'",
        ),
        ([Words.spec(), Count.spec(inputs=[Words.spec()])], "unknown component '<unnamed spec of Words>'"),
    ],
)
def test_a_malformed_class_is_a_value_error_with_its_problems(specs: list[Spec], message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        of(*specs)
    assert isinstance(raised.value, TopologyError)


def test_two_components_of_one_name_are_refused() -> None:
    with pytest.raises(TopologyError, match="2 components have the id 'same'"):

        class Example(Topology):
            first = Words.spec(name="same")
            second = Words.spec(name="same")


def test_a_component_in_place_of_a_spec_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"'words' is a Words, expected a spec: .* words = Words.spec\(...\)"):

        class Example(Topology):
            words = Words()


def test_a_class_in_place_of_a_spec_is_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"'count' is the class Count, expected a spec: .* Count.spec\(...\)"):

        class Example(Topology):
            words = Words.spec()
            count = Count


def test_a_class_that_specs_are_made_of_may_stand_in_the_body() -> None:
    class Example(Topology):
        words = Words.spec()

        class Own(Bolt):
            def process(self, tup: Tuple) -> None: ...

        for cls in (Direct, Count):
            locals()[cls.__name__.lower()] = cls.spec() if cls is Direct else cls.spec(inputs=[words])

    assert [spec.name for spec in Example.specs] == ["words", "direct", "count"]


def test_a_private_attribute_is_told_as_it_was_written() -> None:
    with pytest.raises(TypeError, match=r"'__count' is the class Count, .* mean __count = Count.spec"):

        class Example(Topology):
            words = Words.spec()
            __count = Count

    with pytest.raises(TopologyError, match=r": _Private\.__words: spout '_Private__words' has a par"):

        class _Private(Topology):
            __words = Words.spec(par=0)


def test_a_configuration_that_is_no_dict_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="config must be a dict"):
        of(Words.spec(), config=[("a", 1)])


@pytest.mark.parametrize("kind", [ShellBolt, ShellSpout])
def test_a_shell_component_needs_a_command_and_a_script(kind: Any) -> None:
    with pytest.raises(ValueError, match="command is required"):
        kind.spec(script="x")
    with pytest.raises(TypeError, match="script is required"):
        kind.spec(command="ruby")


@pytest.mark.parametrize("kind", [JavaBolt, JavaSpout])
def test_a_java_component_needs_a_class_and_plain_arguments(kind: Any) -> None:
    with pytest.raises(ValueError, match="full_class_name is required"):
        kind.spec(args_list=[])
    with pytest.raises(TypeError, match="args_list is required"):
        kind.spec(full_class_name="org.example.X")
    with pytest.raises(TypeError, match=r"a Java argument must be .* found \[1\]"):
        kind.spec(full_class_name="org.example.X", args_list=[[1]])
    with pytest.raises(TypeError, match="must be bytes, found 'text'"):
        kind.spec(serialized_java="text")


def test_a_spec_says_what_it_is() -> None:
    assert repr(Count.spec(name="count")) == "<bolt spec count of Count>"
    assert repr(Words.spec()) == "<spout spec (not named yet) of Words>"
