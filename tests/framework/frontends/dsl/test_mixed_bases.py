"""Components of streamparse's in a topology class of ours, for a project that is moved step by step."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Bolt, Grouping, Topology, Tuple
from framework.frontends.dsl import topology_of
from framework.frontends.streamparse import from_streamparse
from framework.model.topology import Input


@pytest.fixture(scope="module")
def words(streamparse: Any) -> Any:
    class Words(streamparse.Spout):
        outputs = ["word"]
        par = 2

        def next_tuple(self) -> None: ...

    return Words


class Count(Bolt):
    def process(self, tup: Tuple) -> None: ...


def test_a_ported_spout_feeds_a_bolt_of_ours(words: Any) -> None:
    class Mixed(Topology):
        source = words.spec()
        by_key = Count.spec(inputs={source: Grouping.fields("word")})
        by_stream = Count.spec(inputs=[source["default"]])

    loaded = topology_of(Mixed)
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.component("source").implementation.definition.cls is words
    assert loaded.topology.component("source").parallelism == 2
    assert loaded.topology.component("by_key").inputs == (Input("source", Grouping.fields("word")),)
    assert loaded.topology.component("by_stream").inputs == (Input("source", Grouping.SHUFFLE),)


def test_streamparses_grouping_is_refused_in_favour_of_ours(streamparse: Any, words: Any) -> None:
    with pytest.raises(TypeError, match="is no grouping: expected one of framework's Grouping"):
        Count.spec(inputs={words.spec(): streamparse.Grouping.SHUFFLE})


def test_a_ported_component_in_place_of_a_spec_is_a_type_error(words: Any) -> None:
    with pytest.raises(TypeError, match=r"did you mean source = Words.spec\(...\)"):

        class Mixed(Topology):
            source = words()


def test_a_bolt_of_ours_is_taken_in_a_class_of_streamparses(streamparse: Any, words: Any) -> None:
    class Mixed(streamparse.Topology):
        source = words.spec()
        count = Count.spec(inputs=[source])

    loaded = from_streamparse(Mixed)
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.component("count").inputs == (Input("source", Grouping.SHUFFLE),)
