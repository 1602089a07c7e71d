"""Of several subscriptions of a bolt to one stream the last one holds, whatever declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework import Bolt, GlobalStreamId, Spout, Stream, TopologyBuilder
from framework.frontends.flux import load_flux
from framework.frontends.loading import load_any
from framework.model.errors import TopologyError
from framework.model.topology import Grouping, Input, Loaded
from framework.model.topology import Topology as Value


class Words(Spout):
    outputs = ["word", Stream(["n"], "numbers")]


class Count(Bolt):
    outputs = ["word"]


NUMBERS = Input("words", Grouping.GLOBAL, "numbers")
BY_WORD = Input("words", Grouping.fields("word"))


def inputs(loaded: Loaded) -> tuple[Input, ...]:
    assert isinstance(loaded.topology, Value)
    assert all(found.warning for found in loaded.problems)
    return loaded.topology.component("count").inputs


def test_in_a_file(tmp_path: Path) -> None:
    """Storm's `TopologyBuilder` keeps inputs in a map: ``putToInputs(new GlobalStreamId(...), grouping)``."""
    file = tmp_path / "t.yaml"
    file.write_text(
        f"""\
name: t
spouts: [{{id: words, className: {__name__}.Words}}]
bolts: [{{id: count, className: {__name__}.Count}}]
streams:
  - {{from: words, to: count, grouping: {{type: SHUFFLE}}}}
  - {{from: words, to: count, grouping: {{type: GLOBAL, streamId: numbers}}}}
  - {{from: words, to: count, grouping: {{type: ALL}}}}
  - {{from: words, to: count, grouping: {{type: FIELDS, args: [word]}}}}
"""
    )
    loaded = load_flux(file)
    assert inputs(loaded) == (BY_WORD, NUMBERS)
    assert [str(found) for found in loaded.problems] == [
        f"{file}:8: warning: bolt 'count', input from 'words': the stream 'default' is subscribed to again, "
        f"and the last subscription holds, as on Storm: fields(['word']) in place of {grouping}"
        for grouping in ("ALL", "SHUFFLE")
    ]
    topology = loaded.topology
    assert topology is not None
    lines = [topology.sources.at("components", "count", "inputs", index).line for index in range(2)]
    assert lines == [8, 6]


def test_of_a_builder() -> None:
    builder = TopologyBuilder()
    builder.set_spout("words", Words)
    count = builder.set_bolt("count", Count).shuffle_grouping("words")
    count.grouping("words", Grouping.GLOBAL, "numbers").fields_grouping("words", "word")
    loaded = load_any(builder)
    assert inputs(loaded) == (BY_WORD, NUMBERS)
    [warning] = loaded.problems
    assert "fields(['word']) in place of SHUFFLE" in warning.message
    assert inputs(load_any(builder.build("t"))) == (BY_WORD, NUMBERS)


def test_in_a_class() -> None:
    """As in streamparse, where inputs become a dict."""
    from framework import Topology

    class Listed(Topology):
        words = Words.spec()
        count = Count.spec(inputs=[words, words["numbers"], words])

    class Mapped(Topology):
        words = Words.spec()
        count = Count.spec(inputs={words: Grouping.SHUFFLE, GlobalStreamId("words"): Grouping.fields("word")})

    listed, mapped = load_any(Listed), load_any(Mapped)
    assert inputs(listed) == (Input("words", Grouping.SHUFFLE), Input("words", Grouping.SHUFFLE, "numbers"))
    assert inputs(mapped) == (BY_WORD,)
    assert listed.problems[0].message.endswith("and the last subscription holds, as on Storm")


def test_streams_of_two_names_and_sources_are_left_alone() -> None:
    builder = TopologyBuilder()
    builder.set_spout("words", Words)
    builder.set_bolt("count", Count).shuffle_grouping("words").shuffle_grouping("words", "numbers")
    loaded = load_any(builder)
    assert loaded.problems == ()
    assert len(inputs(loaded)) == 2


def test_two_components_of_one_id_are_refused_as_before() -> None:
    builder = TopologyBuilder()
    builder.set_spout("words", Words)
    for _ in range(2):
        builder.set_bolt("count", Count).shuffle_grouping("words").all_grouping("words")
    with pytest.raises(TopologyError, match="'count'"):
        builder.build("t")
