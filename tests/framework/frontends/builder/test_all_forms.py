"""One topology, said in every form of Python, is one value."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import framework
from framework.frontends.builder import TopologyBuilder, java, shell
from framework.frontends.dsl import topology_of
from framework.frontends.streamparse import from_streamparse
from framework.model.specs import bolt_spec, spout_spec
from framework.model.topology import Loaded, Topology

CONFIG = {"topology.debug": True}


@pytest.fixture(scope="module")
def components(streamparse: Any) -> SimpleNamespace:
    class Words(streamparse.Spout):
        outputs = ["word", streamparse.Stream(["line"], name="lines", direct=True)]

        def next_tuple(self) -> None: ...

    class Count(streamparse.Bolt):
        outputs = ["word", "count"]
        par = 2
        config = {"limit": 10}

        def process(self, tup: Any) -> None: ...

    return SimpleNamespace(Words=Words, Count=Count)


def by_builder(components: Any) -> Topology:
    builder = TopologyBuilder()
    builder.set_config("topology.debug", True)
    builder.set_spout("words", components.Words, 3)
    count = builder.set_bolt("count", components.Count)
    count.fields_grouping("again", "word").fields_grouping("words", "word")
    builder.set_bolt("again", components.Count, config={}).direct_grouping("words", "lines")
    ruby = builder.set_bolt("ruby", shell("ruby", "top.rb", outputs=["top"]))
    ruby.global_grouping("count")
    store = builder.set_bolt("store", java("org.example.Store", "file", outputs=[]), 4)
    store.custom_grouping("ruby", "org.example.Spread", 7)
    return builder.build("example")


def by_class(components: Any) -> Loaded:
    class Example(framework.Topology):
        config = CONFIG
        words = spout_spec(components.Words, par=3)
        count = bolt_spec(
            components.Count,
            inputs={
                framework.GlobalStreamId("again"): framework.Grouping.fields("word"),
                words: framework.Grouping.fields("word"),
            },
        )
        again = bolt_spec(components.Count, inputs={words["lines"]: framework.Grouping.DIRECT}, config={})
        ruby = framework.ShellBolt.spec(
            command="ruby", script="top.rb", inputs={count: framework.Grouping.GLOBAL}, outputs=["top"]
        )
        store = framework.JavaBolt.spec(
            full_class_name="org.example.Store",
            args_list=["file"],
            inputs={ruby: framework.Grouping.custom_object("org.example.Spread", [7])},
            par=4,
        )

    return topology_of(Example, name="example")


def by_streamparse(components: Any, streamparse: Any) -> Loaded:
    from streamparse.thrift import GlobalStreamId

    class Example(streamparse.Topology):
        config = CONFIG
        words = components.Words.spec(par=3)
        count = components.Count.spec(
            inputs={
                GlobalStreamId(componentId="again", streamId="default"): streamparse.Grouping.fields("word"),
                words: streamparse.Grouping.fields("word"),
            },
        )
        again = components.Count.spec(inputs={words["lines"]: streamparse.Grouping.DIRECT}, config={})
        ruby = streamparse.ShellBolt.spec(
            command="ruby", script="top.rb", inputs={count: streamparse.Grouping.GLOBAL}, outputs=["top"]
        )
        store = streamparse.JavaBolt.spec(
            full_class_name="org.example.Store",
            args_list=["file"],
            inputs={ruby: streamparse.Grouping.custom_object("org.example.Spread", [7])},
            par=4,
        )

    return from_streamparse(Example, name="example")


def test_builder_class_and_streamparse_class_say_the_same(components: Any, streamparse: Any) -> None:
    built = by_builder(components)
    assert [component.id for component in built.components] == ["words", "count", "again", "ruby", "store"]
    assert by_class(components) == Loaded(built, ())
    assert by_streamparse(components, streamparse) == Loaded(built, ())
