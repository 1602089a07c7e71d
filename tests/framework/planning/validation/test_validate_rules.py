"""Each rule of validation, on a topology with one mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from framework.model.config import resolve
from framework.model.topology import Bean, Grouping, GroupingKind, Input, ObjectDef, Stream, Topology
from framework.planning.validation import validate
from tests.framework.planning.validation.examples import COUNT, SPLIT, bolt, spout, topology

SHUFFLE = Grouping.SHUFFLE
TICKS = Input("__system", Grouping.ALL, "__tick")


class Grouper:
    def prepare(self) -> None: ...

    def choose_tasks(self) -> None: ...


class HalfGrouper:
    def prepare(self) -> None: ...


def errors(found: Topology) -> list[str]:
    return [str(problem) for problem in validate(found) if not problem.warning]


def split(*inputs: Input, **more: Any) -> Any:
    return replace(SPLIT, inputs=inputs, **more) if inputs else replace(SPLIT, **more)


def test_a_valid_topology_has_no_problems() -> None:
    assert validate(topology(spout(), SPLIT, COUNT)) == []


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        # names
        (
            topology(spout(), SPLIT, name="a/b"),
            "wc.yaml:1: the topology's name is 'a/b': expected text without any of / . : \\ and not empty",
        ),
        (topology(spout(), SPLIT, name=""), "wc.yaml:1: the topology's name is ''"),
        (
            topology(spout(), SPLIT, SPLIT),
            "wc.yaml:30: 2 components have the id 'split': expected different ids",
        ),
        (topology(spout(), bolt("", Input("lines", SHUFFLE))), "wc.yaml:20: a component's id is empty"),
        (
            topology(spout(), bolt("__acker", Input("lines", SHUFFLE))),
            "wc.yaml:20: component id '__acker' begins with '__', which is kept for the system's own names",
        ),
        (
            topology(spout(outputs=(Stream(["line"]), Stream(["a"])))),
            "wc.yaml:10: spout 'lines' declares the stream 'default' more than once",
        ),
        (
            topology(spout(outputs=(Stream(["line"], "__mine"),))),
            "wc.yaml:10: spout 'lines' declares the stream '__mine', which begins with '__'",
        ),
        (
            topology(spout(outputs=(Stream(["a", "b", "a"]),))),
            "wc.yaml:10: spout 'lines' declares the field 'a' of stream 'default' more than once",
        ),
        (
            topology(spout(), beans=(Bean("x", ObjectDef("m.A")), Bean("x", ObjectDef("m.B")))),
            "wc.yaml:1: several beans have the id 'x': expected different ids",
        ),
        # structure
        (topology(), "wc.yaml:1: the topology has no spout: expected at least one"),
        (
            topology(spout(inputs=(Input("split", SHUFFLE),)), SPLIT),
            "wc.yaml:10: spout 'lines' has inputs: expected none, as only bolts receive tuples",
        ),
        (
            topology(spout(outputs=())),
            "wc.yaml:10: spout 'lines' declares no outputs: expected the fields that it emits",
        ),
        (
            topology(spout(), bolt("idle")),
            "wc.yaml:20: bolt 'idle' has no inputs: expected at least one stream that it receives",
        ),
        (
            topology(spout(), bolt("a", Input("a", SHUFFLE), outputs=(Stream(["x"]),))),
            "wc.yaml:20: bolt 'a' never gets a tuple: it is fed by 'a', and no spout leads there",
        ),
        # subscriptions
        (
            topology(spout(), split(Input("line", SHUFFLE))),
            "wc.yaml:21: bolt 'split', input from 'line': unknown component 'line': "
            "expected 'lines' or 'split'; did you mean 'lines'?",
        ),
        (
            topology(spout(), split(Input("lines", SHUFFLE), Input("__sistem", SHUFFLE, "__tick"))),
            "wc.yaml:22: bolt 'split', input from '__sistem': unknown component '__sistem': "
            "expected '__system'; did you mean '__system'?",
        ),
        (
            topology(spout(), split(Input("lines", SHUFFLE, "defualt"))),
            "wc.yaml:21: bolt 'split', input from 'lines': unknown stream 'defualt': "
            "expected 'default'; did you mean 'default'?",
        ),
        (
            topology(spout(), SPLIT, COUNT, bolt("top", Input("count", SHUFFLE))),
            "wc.yaml:41: bolt 'top', input from 'count': 'count' declares no outputs",
        ),
        (
            topology(spout(), split(Input("lines", SHUFFLE), Input("lines", Grouping.ALL))),
            "wc.yaml:22: bolt 'split', input from 'lines': the stream 'default' is subscribed to twice",
        ),
        (
            topology(spout(), bolt("clock", TICKS)),
            "wc.yaml:21: bolt 'clock', input from '__system': there are no ticks: "
            "set topology.tick.tuple.freq.secs, in the bolt's config or in the topology's",
        ),
        # groupings
        (
            topology(spout(), split(Input("lines", Grouping.fields("lime")))),
            "wc.yaml:21: bolt 'split', input from 'lines': unknown field 'lime': "
            "expected 'line'; did you mean 'line'?",
        ),
        (
            topology(spout(), split(Input("lines", Grouping.partial_key("word")))),
            "wc.yaml:21: bolt 'split', input from 'lines': unknown field 'word': expected 'line'",
        ),
        (
            topology(spout(), split(Input("lines", Grouping.fields("line", "line")))),
            "wc.yaml:21: bolt 'split', input from 'lines': the grouping names the field 'line' more",
        ),
        (
            topology(spout(), split(Input("lines", Grouping(GroupingKind.FIELDS)))),
            "wc.yaml:21: bolt 'split', input from 'lines': FIELDS grouping without fields: expected",
        ),
        (
            topology(spout(), split(Input("lines", Grouping.DIRECT))),
            "wc.yaml:21: bolt 'split', input from 'lines': stream 'default' is not direct: "
            "expected another grouping than DIRECT, or direct=True where it is declared",
        ),
        (
            topology(spout(outputs=(Stream(["line"], direct=True),)), SPLIT),
            "wc.yaml:21: bolt 'split', input from 'lines': stream 'default' is direct: "
            "expected a DIRECT grouping, found SHUFFLE",
        ),
        (
            topology(spout(), split(Input("lines", Grouping.custom(HalfGrouper)))),
            f"wc.yaml:21: bolt 'split', input from 'lines': {__name__}.HalfGrouper is no custom grouping: "
            "it has no choose_tasks",
        ),
        (
            topology(spout(), split(Input("lines", Grouping.custom("math.Gruoper")))),
            "wc.yaml:21: bolt 'split', input from 'lines': 'math.Gruoper': 'math' has no 'Gruoper'",
        ),
        (
            topology(spout(), split(Input("lines", Grouping(GroupingKind.CUSTOM)))),
            "wc.yaml:21: bolt 'split', input from 'lines': a custom grouping without a class",
        ),
        # parallelism
        *(
            (
                topology(spout(parallelism=value)),
                f"wc.yaml:10: spout 'lines' has a parallelism that is {value!r}: "
                "expected an integer from 1 to 1024",
            )
            for value in (0, -1, True, 1.0, "2", None, 1025)
        ),
        (
            topology(spout(tasks=0)),
            "wc.yaml:10: spout 'lines' has a number of tasks that is 0: expected an integer from 1 to 1024",
        ),
        # configuration
        (
            topology(spout(), config={"topology.workers": 0}),
            "wc.yaml:1: topology.workers is 0: expected an integer of at least 1, or 'auto'",
        ),
        (
            topology(spout(config={"viper.mutates": 0})),
            "wc.yaml:10: component 'lines': viper.mutates is 0: expected true or false",
        ),
        # time
        (
            topology(spout(config={"viper.timestamp.field": "line"}), spout("other")),
            "wc.yaml:20: spout 'other' declares no viper.timestamp.field, but others do",
        ),
        (
            topology(spout(), config={"viper.timestamp.field": "lien"}),
            "wc.yaml:10: spout 'lines' takes its timestamps from an unknown field 'lien': "
            "expected 'line'; did you mean 'line'?",
        ),
    ],
)
def test_one_mistake_gives_one_problem_at_its_place(wrong: Topology, expected: str) -> None:
    [found] = errors(wrong)
    assert found.startswith(expected)


def test_an_island_of_components_that_feed_each_other_is_reported_one_by_one() -> None:
    out = (Stream(["x"]),)
    island = topology(
        spout(),
        bolt("a", Input("b", SHUFFLE), outputs=out),
        bolt("b", Input("a", SHUFFLE), outputs=out),
        bolt("c", Input("b", SHUFFLE)),
    )
    assert [text.partition(": bolt ")[0] for text in errors(island)] == [
        "wc.yaml:20",
        "wc.yaml:30",
        "wc.yaml:40",
    ]


def test_what_lies_behind_a_mistake_is_not_reported_again() -> None:
    assert len(errors(topology(spout(), split(Input("nobody", SHUFFLE)), COUNT))) == 1
    assert len(errors(topology(spout(), split(inputs=()), COUNT))) == 1
    assert len(errors(topology(spout(outputs=()), SPLIT, COUNT))) == 1


@pytest.mark.parametrize(
    "right",
    [
        topology(spout(), bolt("clock", TICKS, config={"topology.tick.tuple.freq.secs": 1})),
        topology(
            spout(),
            bolt("clock", Input("__system", Grouping.fields("rate_secs"), "__tick")),
            config={"topology.tick.tuple.freq.secs": 1},
        ),
        topology(replace(spout(), outputs=None), SPLIT, COUNT),
        topology(replace(spout(), outputs=None), split(Input("lines", Grouping.fields("x"), "any"))),
        topology(spout(outputs=(Stream(["line"], direct=True),)), split(Input("lines", Grouping.DIRECT))),
        topology(spout(), split(Input("lines", Grouping.custom(Grouper)))),
        topology(spout(config={"viper.timestamp.field": "line"})),
        topology(replace(spout(), outputs=None), config={"viper.timestamp.field": "any"}),
        topology(spout(outputs=(Stream(), Stream(["a"], "b"))), split(Input("lines", Grouping.GLOBAL, "b"))),
        topology(spout("lines with spaces-and-hyphens"), spout("other"), name="Wörter"),
        topology(spout(), SPLIT, beans=(Bean("split", ObjectDef("m.A")),)),
    ],
)
def test_what_storm_allows_is_allowed(right: Topology) -> None:
    assert validate(right) == []


def test_several_mistakes_are_all_reported_in_the_order_of_the_file() -> None:
    wrong = topology(
        spout(parallelism=0),
        split(Input("liens", SHUFFLE), Input("lines", Grouping.fields("word"))),
        bolt("idle"),
        bolt("__x", Input("lines", SHUFFLE, "other")),
        name="a.b",
        config={"viper.seed": -1},
    )
    lines = [problem.place.line for problem in validate(wrong)]
    assert lines == [1, 1, 10, 21, 22, 30, 40, 41]


def test_configuration_that_was_resolved_before_is_not_reported_again() -> None:
    wrong = topology(spout(), config={"viper.seed": -1})
    settings, problems = resolve(wrong)
    assert len(problems) == 1
    assert validate(wrong, settings) == []
