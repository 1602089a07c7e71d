"""The example files, which show every part of the format, say what they mean."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from framework.frontends.flux import load_flux, read_properties
from framework.model.instantiate import Beans
from framework.model.topology import (
    ComponentSpec,
    Grouping,
    GroupingKind,
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Ref,
    RefList,
    ShellImplementation,
    Stream,
    Topology,
)
from framework.operators.standins import STAND_INS


def valid(name: str, substitutions: Mapping[str, str] | None = None) -> Topology:
    loaded = load_flux(name, substitutions=substitutions or {}, environ={"FLUX_TEST": "here"})
    assert loaded.problems == ()
    assert loaded.topology is not None
    return loaded.topology


def definition(component: ComponentSpec) -> ObjectDef:
    assert isinstance(component.implementation, PythonImplementation | JavaImplementation)
    return component.implementation.definition


def test_beans_are_defined_by_arguments_factories_properties_and_methods() -> None:
    topology = valid("config_methods.yaml")
    assert topology.config == {"topology.workers": 1, "my.list": [1, 2.5, "text", True, None]}
    beans = Beans(topology.beans)
    lookup = beans.make(definition(topology.component("lookup")))
    assert type(lookup) is definition(topology.component("lookup")).cls
    assert (lookup.table.rows, lookup.table.limit, lookup.table.depth) == (["a", "b"], 5, 3)
    assert lookup.table.level.name == "HIGH"
    assert lookup.table.notes == ["LOW: first", "HIGH: second"]
    assert [table.rows for table in lookup.others] == [(), ("x", "y")]
    assert lookup.level.name == "HIGH"


def test_a_mapping_of_constructor_arguments_is_keyword_arguments() -> None:
    topology = valid("config_methods.yaml")
    keywords = topology.component("keywords")
    assert definition(keywords).kwargs == {"table": Ref("made"), "level": "LOW"}
    assert definition(topology.component("lookup")).args[1] == RefList(("plain", "made"))
    assert (keywords.parallelism, keywords.tasks) == (2, 2)
    assert keywords.resources == {"onHeapMemoryLoad": 128.0, "cpuLoad": 10}
    assert topology.component("lookup").tasks is None


def test_what_the_class_says_holds_unless_the_file_says_otherwise() -> None:
    topology = valid("diamond.yaml")
    left, right = topology.component("left"), topology.component("right")
    assert (left.parallelism, left.config) == (3, {"topology.tick.tuple.freq.secs": 5})
    assert (right.parallelism, right.config) == (1, {"topology.debug": True})
    outputs = (Stream(["word"]), Stream(["line"], "rejects"), Stream(["word"], "to_one", direct=True))
    assert left.outputs == right.outputs == outputs


def test_several_streams_of_one_bolt_keep_the_order_of_the_file() -> None:
    custom = Grouping(GroupingKind.CUSTOM, definition=ObjectDef("flux_parts.FirstTask", (1,)))
    assert valid("diamond.yaml").component("log").inputs == (
        Input("left", Grouping.partial_key("word")),
        Input("right", Grouping.GLOBAL),
        Input("right", Grouping.DIRECT, "to_one"),
        Input("left", Grouping.LOCAL_OR_SHUFFLE, "rejects"),
        Input("__system", Grouping.ALL, "__tick"),
        Input("right", custom, "rejects"),
    )


def test_every_part_knows_its_line() -> None:
    sources = valid("diamond.yaml").sources
    assert str(sources.at()) == "diamond.yaml:3"
    assert str(sources.at("name")) == "diamond.yaml:3"
    assert str(sources.at("components", "right")) == "diamond.yaml:8"
    assert str(sources.at("components", "right", "parallelism")) == "diamond.yaml:10"
    assert str(sources.at("components", "right", "config", "topology.debug")) == "diamond.yaml:11"
    assert str(sources.at("components", "log", "inputs", 5)) == "diamond.yaml:21"
    assert str(sources.at("components", "log", "inputs", 5, "grouping")) == "diamond.yaml:23"
    places = valid("config_methods.yaml").sources
    assert str(places.at("config", "my.list")) == "config_methods.yaml:6"
    assert str(places.at("beans", "filled")) == "config_methods.yaml:11"


def test_a_programs_streams_and_config_come_from_its_wrapper() -> None:
    topology = valid("shell.yaml")
    sentences, split = topology.component("sentences"), topology.component("split")
    assert sentences.implementation == ShellImplementation(("node", "sentences.js"))
    assert sentences.outputs == (Stream(["sentence"]),)
    assert sentences.config == {"rabbitmq.configfile": "etc/rabbit.yml", "publisher.data_paths": ["actions"]}
    assert split.outputs == (Stream(["word"]), Stream(["line", "reason"], "errors"))


@pytest.mark.parametrize(("component_id", "outputs"), [("hosted", ()), ("script", (Stream(["piece"]),))])
def test_a_program_that_is_a_python_component_is_hosted(
    component_id: str, outputs: tuple[Stream, ...]
) -> None:
    component = valid("shell.yaml").component(component_id)
    assert definition(component) == ObjectDef("splitter.SplitterBolt")
    assert definition(component).cls is not None
    assert component.outputs == outputs


def test_a_script_that_runs_when_it_is_imported_stays_a_program() -> None:
    talker = valid("shell.yaml").component("talker")
    assert talker.implementation == ShellImplementation(("python3", "talker.py"))


def test_java_classes_are_kept_and_stand_ins_are_found() -> None:
    topology = valid("kafka.yaml")
    kafka, count, declared = (topology.component(name) for name in ("kafka", "count", "declared"))
    assert isinstance(kafka.implementation, JavaImplementation)
    assert kafka.outputs is None
    assert [bean.id for bean in topology.beans] == ["translator", "builder", "spoutConfig"]
    assert definition(count).class_name == "org.apache.storm.testing.TestWordCounter"
    assert definition(count).cls is STAND_INS["org.apache.storm.testing.TestWordCounter"]
    assert declared.outputs == (Stream(["key", "value"]), Stream(["key"], "direct", direct=True))
    grouping = declared.inputs[0].grouping.definition
    assert grouping is not None
    assert grouping.cls is STAND_INS["org.apache.storm.testing.NGrouping"]
    assert [hook.definition for hook in topology.worker_hooks] == [ObjectDef("org.example.Hook", ("text",))]


def test_every_expression_is_replaced_and_keeps_its_type() -> None:
    topology = valid("substitution.yaml", read_properties("substitution.properties"))
    assert topology.name == "substituted"
    assert topology.config == {
        "test.env.value": "here",
        "a.list": ["first", "second"],
        "an.item": "second",
        "several": "1st and a long value",
        "number": 3,
        "text": "3",
        "nested": ["1st", {"deep": "a long value"}],
        "fallback": 7,
        "literal": "${kept}",
    }
    assert topology.component("words").parallelism == 3


def test_included_files_add_to_the_file_and_override_where_they_say_so() -> None:
    topology = valid("include.yaml")
    assert topology.name == "with-includes"
    assert topology.config == {"kept": "own", "added": "shared", "tuned": "tuned", "from.resource": True}
    assert topology.component("words").parallelism == 4
    assert definition(topology.component("sink")).class_name == "flux_parts.Sink"
    assert [bean.id for bean in topology.beans] == ["table"]
    assert topology.component("sink").inputs == (Input("lookup", Grouping.SHUFFLE),)
    assert str(topology.sources.at("beans", "table")) == "config/beans.yaml:2"
    assert str(topology.sources.at("components", "words")) == "config/tuned.yaml:4"


def test_a_topology_that_python_code_makes_gets_the_files_name_and_config() -> None:
    topology = valid("existing.yaml")
    assert topology.name == "existing"
    assert topology.config == {"topology.workers": 2, "from.code": True, "spouts": 3}
    assert topology.component("lines").parallelism == 3
    assert [component.id for component in topology.components] == ["lines", "sink"]
    assert str(topology.sources.at("config", "spouts")) == "existing.yaml:4"
    assert str(topology.sources.at("components", "sink")).startswith("src/flux_parts.py:")
