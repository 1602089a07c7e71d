"""A topology class that extends another: it inherits no specs, as in streamparse, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.frontends.loading import load

PARTS = """\
from {library} import Bolt, Grouping, Spout, Topology


class Words(Spout):
    outputs = ["word"]


class Count(Bolt):
    outputs = ["word"]


class Core(Topology):
    config = {{"limit": 3}}
    words = Words.spec()
    count = Count.spec(inputs=[words])


"""
NOT_INHERITED = (
    "a topology class has the specs and the config of its own body only, and inherits none, as in "
    "streamparse: to have those of {}, too, write in its body: {}"
)


@pytest.fixture(params=["viperstorm", "streamparse"])
def said(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    """Says what is wrong with the last class of a file, without places; and which components it has."""

    def saying(text: str) -> tuple[list[str], list[str]]:
        file = tmp_path / "extended.py"
        file.write_text(PARTS.format(library=request.param) + text)
        loaded = load(f"{file}:Full")
        named = [component.id for component in loaded.topology.components] if loaded.topology else []
        return [found.message for found in loaded.problems], named

    return saying


OF_CORE = NOT_INHERITED.format("Core", "config = Core.config; words = Core.words; count = Core.count")


def test_it_is_said_where_a_spec_is_missing(said: object) -> None:
    assert callable(said)
    problems, _ = said("class Full(Core):\n    last = Count.spec(inputs=[Core.count])\n")
    assert problems[0] == OF_CORE
    assert any("unknown component 'count'" in problem for problem in problems)


def test_it_is_said_of_a_class_without_a_body(said: object) -> None:
    assert callable(said)
    assert OF_CORE in said("class Full(Core):\n    pass\n")[0]


def test_it_is_a_warning_where_the_class_is_complete_without(said: object) -> None:
    assert callable(said)
    text = "class Full(Core):\n    words = Words.spec()\n    other = Count.spec(inputs=[words])\n"
    left_out = NOT_INHERITED.format("Core", "config = Core.config; count = Core.count")
    assert said(text) == ([left_out], ["words", "other"])


def test_a_class_that_is_no_topology_may_have_specs_too(said: object) -> None:
    assert callable(said)
    text = (
        "class Mixin:\n    more = Count.spec(inputs=[Core.words])\n\n\nclass Full(Mixin, Core):\n    pass\n"
    )
    lines = "more = Mixin.more; config = Core.config; words = Core.words; count = Core.count"
    assert NOT_INHERITED.format("Mixin and Core", lines) in said(text)[0]


def test_what_it_says_is_a_way(said: object) -> None:
    assert callable(said)
    text = (
        "class Full(Core):\n    config = Core.config; words = Core.words; count = Core.count\n"
        "    last = Count.spec(inputs=[count])\n"
    )
    assert said(text) == ([], ["words", "count", "last"])
