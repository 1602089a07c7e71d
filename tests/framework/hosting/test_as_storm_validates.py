"""Topologies that Storm refuses are refused, as in the scenarios of Storm's integration test of structure."""

from __future__ import annotations

from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import TopologyError
from framework.operators.standins.storm import TestWordCounter, TestWordSpout
from framework.planning.validation import validate


def words() -> TopologyBuilder:
    """Spout 1, and bolt 2 that counts its words."""
    builder = TopologyBuilder()
    builder.set_spout("1", TestWordSpout, 3)
    builder.set_bolt("2", TestWordCounter, 4).fields_grouping("1", "word")
    return builder


def valid(builder: TopologyBuilder) -> None:
    builder.set_bolt("3", TestWordCounter, 1).fields_grouping("1", "word")


def unknown_component(builder: TopologyBuilder) -> None:
    builder.set_bolt("3", TestWordCounter, 1).fields_grouping("5", "word")


def unknown_stream(builder: TopologyBuilder) -> None:
    builder.set_bolt("3", TestWordCounter, 1).fields_grouping("1", "word", stream="non-exists-stream")


def unknown_field(builder: TopologyBuilder) -> None:
    builder.set_bolt("3", TestWordCounter, 1).fields_grouping("1", "non-exists-field")


def repeated_id(builder: TopologyBuilder) -> None:
    builder.set_bolt("2", TestWordCounter, 1).fields_grouping("1", "word")


def id_of_the_system(builder: TopologyBuilder) -> None:
    builder.set_bolt("__3", TestWordCounter, 1).fields_grouping("1", "word")


def tasks_without_parallelism(builder: TopologyBuilder) -> None:
    builder.set_bolt("3", TestWordCounter, 0).fields_grouping("1", "word")


def test_what_is_right_is_taken() -> None:
    builder = words()
    valid(builder)
    assert len(builder.build("wc").bolts) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (unknown_component, "bolt '3', input from '5': unknown component '5': expected '1', '2' or '3'"),
        (unknown_stream, "unknown stream 'non-exists-stream': expected 'default'"),
        (unknown_field, "unknown field 'non-exists-field': expected 'word'"),
        (repeated_id, "2 components have the id '2': expected different ids"),
        (id_of_the_system, "component id '__3' begins with '__', which is kept for the system's own names"),
        (tasks_without_parallelism, "bolt '3' has a parallelism that is 0: expected an integer from 1"),
    ],
)
def test_what_is_wrong_is_refused_with_its_name(change: Any, said: str) -> None:
    builder = words()
    with pytest.raises((TopologyError, ValueError)) as caught:
        change(builder)
        builder.build("wc")
    assert said in str(caught.value)


def test_a_name_that_storm_does_not_take() -> None:
    for name in ("a/b", "a.b", "a:b", "a\\b", ""):
        (problem,) = validate(words().build(name))
        assert f"the topology's name is {name!r}" in problem.message


def test_inputs_of_a_spout_cannot_be_said() -> None:
    assert not hasattr(words().set_spout("again", TestWordSpout), "shuffle_grouping")
