"""streamparse's quickstart project, as its tool writes it and moved over by import lines."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from framework.frontends.loading import load
from framework.model.topology import Grouping, Input, Place, PythonImplementation, Role, Stream, Topology

FIXTURES = Path(__file__).parents[3] / "fixtures"
MODULES = ["topologies/wordcount.py", "src/bolts/wordcount.py", "src/spouts/words.py"]


def topology(project: str) -> Topology:
    loaded = load(str(FIXTURES / project / "topologies" / "wordcount.py"))
    assert loaded.problems == ()
    assert loaded.topology is not None
    return loaded.topology


@pytest.mark.parametrize("module", MODULES)
def test_the_fixture_is_what_streamparse_writes(module: str) -> None:
    package = importlib.util.find_spec("streamparse")
    assert package is not None
    assert package.origin is not None
    original = Path(package.origin).parent / "bootstrap" / "project" / module
    assert (FIXTURES / "quickstart" / module).read_bytes() == original.read_bytes()


def test_the_ported_project_differs_in_import_lines_alone() -> None:
    original, ported = FIXTURES / "quickstart", FIXTURES / "quickstart_framework"
    files = [path for path in original.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) == 11
    for file in files:
        text = file.read_text()
        if file.suffix == ".py":
            text = text.replace("from streamparse import", "from framework import")
        assert (ported / file.relative_to(original)).read_text() == text


@pytest.mark.parametrize("project", ["quickstart", "quickstart_framework"])
def test_the_quickstart_project_is_the_word_count_topology(project: str) -> None:
    wordcount = topology(project)
    spout, bolt = wordcount.components
    assert (wordcount.name, wordcount.config) == ("wordcount", {})
    assert (spout.id, spout.role, spout.parallelism) == ("word_spout", Role.SPOUT, 1)
    assert (bolt.id, bolt.role, bolt.parallelism) == ("count_bolt", Role.BOLT, 2)
    assert spout.outputs == (Stream(["word"]),)
    assert bolt.outputs == (Stream(["word", "count"]),)
    assert bolt.inputs == (Input("word_spout", Grouping.fields("word")),)
    assert isinstance(bolt.implementation, PythonImplementation)
    assert bolt.implementation.definition.class_name == "bolts.wordcount.WordCountBolt"


def test_both_projects_give_equal_topologies_of_different_classes() -> None:
    original, ported = topology("quickstart"), topology("quickstart_framework")
    assert original == ported
    for before, after in zip(original.components, ported.components, strict=True):
        assert before.implementation.definition.cls is not after.implementation.definition.cls


def test_places_are_class_and_attribute_with_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES)
    for project in ("quickstart", "quickstart_framework"):
        places = topology(project).sources
        file = f"{project}/topologies/wordcount.py"
        assert places.at("components", "count_bolt", "parallelism") == Place(file, 13, "WordCount.count_bolt")
        assert places.at("components", "word_spout", "config") == Place(file, 12, "WordCount.word_spout")
        assert places.at("config", "any.key") == Place(file, 11, "WordCount.config")
        assert places.at("name") == Place(file, 11, "WordCount")
