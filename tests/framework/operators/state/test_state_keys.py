"""The key of a state: of which fields, under which groupings, and what is refused before the start."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Grouping, TopologyBuilder, ValueState
from framework.model.config import resolve
from framework.model.errors import TopologyError
from framework.operators.sinks import CollectingSink
from framework.planning import make_plan
from framework.planning.validation import validate
from tests.framework.operators.state.remembering import Counts, Owns, PerTask, Terms, Words
from tests.framework.runtime.pieces import plan_of


def one(bolt: type[Bolt], grouping: Grouping, par: int = 2, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("words", Words)
    builder.set_bolt("bolt", bolt, par, config=config).grouping("words", grouping)
    return builder


def problems_of(builder: TopologyBuilder, **options: Any) -> list[str]:
    topology = builder.build("tested")
    settings, _ = resolve(topology, options={k.replace("__", "."): v for k, v in options.items()})
    found = [problem for problem in validate(topology, settings) if not problem.warning]
    try:
        make_plan(topology, settings)
    except TopologyError as error:
        assert sorted(map(str, error.problems)) == sorted(map(str, found))  # both say the same
    else:
        assert found == []
    return [str(problem) for problem in found]


KEYLESS = [Grouping.SHUFFLE, Grouping.NONE, Grouping.LOCAL_OR_SHUFFLE, Grouping.GLOBAL]


class TestKeys:
    def test_the_fields_of_the_grouping_are_the_key(self) -> None:
        plan, _ = plan_of(one(Counts, Grouping.fields("number", "word")))
        (subscription,) = plan.subscriptions
        assert subscription.key == (1, 0)

    def test_a_bolt_without_state_has_none(self) -> None:
        plan, _ = plan_of(one(CollectingSink, Grouping.fields("word"), 1))
        assert [s.key for s in plan.subscriptions] == [None]

    def test_state_of_tasks_has_none(self) -> None:
        plan, _ = plan_of(one(PerTask, Grouping.SHUFFLE, 1))
        assert [s.key for s in plan.subscriptions] == [None]

    @pytest.mark.parametrize("grouping", [*KEYLESS, Grouping.ALL], ids=str)
    def test_the_class_or_its_configuration_names_it(self, grouping: Grouping) -> None:
        plan, _ = plan_of(one(Owns, grouping, 1))
        assert [s.key for s in plan.subscriptions] == [(0,)]
        plan, _ = plan_of(one(Owns, grouping, 1, **{"viper.state.key": ["number", "word"]}))
        assert [s.key for s in plan.subscriptions] == [(1, 0)]

    def test_a_partial_key_is_one_where_there_is_one_task(self) -> None:
        plan, _ = plan_of(one(Counts, Grouping.partial_key("word"), 1))
        assert [s.key for s in plan.subscriptions] == [(0,)]

    def test_inputs_name_it_each_in_its_way(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("words", Words)
        builder.set_spout("terms", Terms)
        declarer = builder.set_bolt("bolt", Counts, 2)
        declarer.fields_grouping("words", ["word"]).fields_grouping("terms", ["term"], stream="terms")
        plan, _ = plan_of(builder)
        assert [s.key for s in plan.subscriptions] == [(0,), (1,)]


class TestRefusals:
    @pytest.mark.parametrize("grouping", [*KEYLESS, Grouping.partial_key("word")], ids=str)
    def test_groupings_that_leave_a_key_to_several_tasks(self, grouping: Grouping) -> None:
        (found,) = problems_of(one(Owns, grouping))
        assert "grouping over 2 tasks brings the tuples of a key to several of them" in found
        assert "expected a fields grouping, parallelism 1" in found

    @pytest.mark.parametrize("grouping", [*KEYLESS, Grouping.ALL], ids=str)
    def test_no_key(self, grouping: Grouping) -> None:
        (found,) = problems_of(one(Counts, grouping, 1))
        assert "grouping names no key, and the bolt declares state by key" in found
        assert __file__.rpartition("/")[2] in found  # the line

    def test_a_key_of_fields_that_the_stream_does_not_have(self) -> None:
        (found,) = problems_of(one(Owns, Grouping.ALL, 2, **{"viper.state.key": "wrod"}))
        assert "unknown field 'wrod'" in found and "did you mean 'word'?" in found

    def test_a_key_beside_that_of_the_grouping(self) -> None:
        (found,) = problems_of(one(Owns, Grouping.fields("number")))
        assert "has the state key (word), but its groupings name the key already, (number)" in found
        assert problems_of(one(Owns, Grouping.fields("word"))) == []

    def test_inputs_that_do_not_agree(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("words", Words)
        builder.set_spout("others", Words)
        declarer = builder.set_bolt("bolt", Counts, 2)
        declarer.fields_grouping("words", ["word"]).fields_grouping("others", ["word", "number"])
        (found,) = problems_of(builder)
        assert "words.default by (word), others.default by (word, number)" in found

    def test_the_hash_of_storm(self) -> None:
        (found,) = problems_of(one(Counts, Grouping.fields("word")), viper__grouping__hash="storm")
        assert "viper.grouping.hash is storm: expected stable" in found

    def test_stateless_components_with_state(self) -> None:
        (found,) = problems_of(one(Counts, Grouping.fields("word"), 2, **{"viper.stateless": True}))
        assert "bolt 'bolt' declares state (seen), and viper.stateless is true" in found

    def test_spouts(self) -> None:
        class Remembering(Words):
            place = ValueState("int64")

        builder = TopologyBuilder()
        builder.set_spout("words", Remembering)
        builder.set_bolt("bolt", CollectingSink).global_grouping("words")
        (found,) = problems_of(builder)
        assert "spout 'words' declares state (place), which bolts can" in found

    def test_components_of_streamparse(self, streamparse: Any) -> None:
        class Ported(streamparse.Bolt):  # type: ignore[misc, name-defined]
            outputs = ["word"]
            seen = ValueState("int64")

            def process(self, tup: Any) -> None: ...

        (found,) = problems_of(one(Ported, Grouping.fields("word")))
        assert "which streamparse's components cannot: derive it from viperstorm.Bolt" in found

    def test_more_tasks_than_groups(self) -> None:
        class Plain(Bolt):
            def process(self, tup: Any) -> None: ...

        (found,) = problems_of(one(Plain, Grouping.fields("word"), 5), viper__key__groups=4)
        assert "has 5 tasks and a fields grouping, which divides 4 key groups among them" in found
        assert problems_of(one(Plain, Grouping.fields("word"), 4), viper__key__groups=4) == []
        assert problems_of(one(Plain, Grouping.SHUFFLE, 5), viper__key__groups=4) == []
        storm = {"viper__key__groups": 4, "viper__grouping__hash": "storm"}
        assert problems_of(one(Plain, Grouping.fields("word"), 5), **storm) == []

    def test_state_of_tasks_goes_with_any_grouping(self) -> None:
        for grouping in (*KEYLESS, Grouping.ALL, Grouping.fields("word")):
            assert problems_of(one(PerTask, grouping)) == []

