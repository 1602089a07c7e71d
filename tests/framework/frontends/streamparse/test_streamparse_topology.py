"""Every feature of streamparse's topology classes, as streamparse itself makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.frontends.loading import load
from framework.model.topology import (
    Grouping,
    GroupingKind,
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Role,
    ShellImplementation,
    Stream,
    Topology,
)

TOPOLOGIES = Path(__file__).parents[3] / "fixtures" / "dsl" / "topologies"
SERIALIZED = ObjectDef("java.io.ObjectInputStream", factory="readObject", factory_args=(b"\xac\xed\x00\x05",))


def topology(name: str, environment: str | None = None) -> Topology:
    loaded = load(str(TOPOLOGIES / f"{name}.py"), environment=environment)
    assert loaded.problems == ()
    assert loaded.topology is not None
    return loaded.topology


def test_streams_are_named_and_direct() -> None:
    assert topology("streams").component("numbers").outputs == (
        Stream(["number"], "numbers"),
        Stream(["task"], "chosen", direct=True),
    )
    assert topology("streams").component("directed").outputs == (Stream(["number"], direct=True),)


@pytest.mark.parametrize(
    ("bolt", "inputs"),
    [
        ("by_list", [Input("numbers", Grouping.SHUFFLE, "numbers"), Input("directed", Grouping.DIRECT)]),
        ("by_tuple", [Input("the words", Grouping.SHUFFLE)]),
        ("by_one", [Input("directed", Grouping.DIRECT)]),
        (
            "by_dict",
            [
                Input("numbers", Grouping.fields("number"), "numbers"),
                Input("numbers", Grouping.DIRECT, "chosen"),
                Input("directed", Grouping.DIRECT),
            ],
        ),
        ("all_at_once", [Input("the words", Grouping.GLOBAL)]),
        ("everything", [Input("the words", Grouping.ALL)]),
        ("whatever", [Input("the words", Grouping.NONE)]),
        ("near", [Input("the words", Grouping.LOCAL_OR_SHUFFLE)]),
        ("evenly", [Input("the words", Grouping.SHUFFLE)]),
    ],
)
def test_every_form_of_inputs_is_read(bolt: str, inputs: list[Input]) -> None:
    assert topology("streams").component(bolt).inputs == tuple(inputs)


def test_a_cycle_is_closed_by_a_components_name() -> None:
    cycle = topology("cycle")
    assert cycle.component("first").inputs == (
        Input("second", Grouping.fields("word")),
        Input("words", Grouping.fields("word")),
    )
    assert cycle.component("second").inputs == (Input("first", Grouping.SHUFFLE),)


@pytest.mark.parametrize(("environment", "expected"), [("beta", [2, 4, 3]), ("prod", [8, 4, 3])])
def test_par_is_that_of_the_environment_and_else_of_the_class(environment: str, expected: list[int]) -> None:
    assert [c.parallelism for c in topology("environments", environment).components] == expected


def test_without_an_environment_only_a_par_that_differs_is_a_problem() -> None:
    loaded = load(str(TOPOLOGIES / "environments.py"))
    assert loaded.topology is not None
    assert loaded.topology.component("count").parallelism == 4
    (problem,) = loaded.problems
    assert problem.place.attribute == "Environments.words"
    assert "'beta': 2, 'prod': 8" in problem.message


def test_configuration_is_the_specs_or_the_classes() -> None:
    configured = topology("configured")
    assert configured.config == {"topology.debug": True, "names": ["a", "b"], "deep": {"limit": 1}}
    assert {component.id: component.config for component in configured.components} == {
        "words": {"topology.max.spout.pending": 5},
        "by_class": {"counter.limit": 10},
        "by_spec": {"counter.limit": 20},
        "by_nobody": {},
    }


def test_specs_that_a_loop_put_into_the_class_are_components() -> None:
    assert [(c.id, c.parallelism) for c in topology("dynamic").bolts] == [
        ("count_0", 1),
        ("count_1", 2),
        ("count_2", 3),
    ]


def test_programs_in_other_languages_keep_command_and_argument() -> None:
    foreign = topology("foreign")
    assert foreign.component("ruby").implementation == ShellImplementation(("ruby", "lines.rb"))
    assert foreign.component("ruby").role is Role.SPOUT
    assert foreign.component("bare").implementation == ShellImplementation(("./split",))
    assert foreign.component("bare").inputs == (Input("ruby", Grouping.SHUFFLE, "lines"),)


def test_java_components_keep_class_and_arguments() -> None:
    foreign = topology("foreign")
    made = ObjectDef("org.example.RandomSpout", ("seed", 42, 0.5, True, b"\x00"))
    assert foreign.component("random").implementation == JavaImplementation(made)
    assert foreign.component("stored").implementation == JavaImplementation(SERIALIZED)
    assert foreign.component("stored").parallelism == 2
    assert foreign.component("filtered").config == {"topology.debug": True}


def test_custom_groupings_keep_class_and_arguments() -> None:
    of_class, serialized = topology("foreign").component("filtered").inputs
    assert of_class.grouping == Grouping.custom("org.example.Modulo", 7, "number")
    assert serialized.grouping == Grouping(GroupingKind.CUSTOM, definition=SERIALIZED)


def test_python_components_are_held_as_classes() -> None:
    implementation = topology("streams").component("by_one").implementation
    assert isinstance(implementation, PythonImplementation)
    assert implementation.definition.class_name == "components.Sink"
    assert implementation.definition.cls is not None
