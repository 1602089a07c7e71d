"""Every example of the README and of docs/ is run by a test: by the one that ELSEWHERE names, or by these.

A page with ``console`` blocks is played, each section in a folder of its own: its files, and those before the
first section, are written, its commands are run, and what they print is compared. On any other page the
Python blocks are run one after the other in one namespace, after what GIVEN has of the page. Blocks that
begin as FRAGMENTS says cannot be run by themselves, and are compiled. YAML is read, and what it names must
exist.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework import Spout, TopologyBuilder
from framework.frontends.flux import keys
from framework.model.config import KEYS
from framework.operators.components import Component
from tests.docs.console import REPOSITORY, Shell, differences

PAGES = {path.name: path for path in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))}

ELSEWHERE = {
    "README.md": "tests/test_readme.py",
    "aggregates.md": "tests/framework/frontends/streams/test_aggregates_doc.py",
    "connectors.md": "tests/framework/operators/sinks/test_connectors_doc.py",
    "joins.md": "tests/framework/operators/windows/joins/test_docs_of_joins.py",
    "porting.md": "tests/framework/frontends/streamparse/test_porting_docs.py",
    "testing.md": "tests/viperstorm/test_testing_doc.py",
    "tutorial.md": "tests/docs/test_tutorial.py",
}
"""The pages whose Python another test runs, as it knows what must come of it."""

FRAGMENTS = {
    "batches.md": [
        "raise RowError(index, cause)",
        "from viperstorm.columns import counted, exchanged",
        "from viperstorm.columns import split_words",
    ],
    "kafka.md": ["from viperstorm import Bolt, TopologyBuilder, ValueState, run"],
    "spark.md": [
        "from viperstorm.spark import Source, prepare",
        "from viperstorm.spark import SparkSpout",
        "SparkSpout(query=",
        "from viperstorm.spark import backfill",
    ],
}
"""The beginnings of blocks that show a part of something, or need Java."""

_LINES = """
from viperstorm import Bolt, Spout, StreamBuilder, Topology, Grouping, run
from viperstorm.sinks import CollectingSink
class LineSpout(Spout):
    outputs = ["line"]
    def tuples(self):
        yield from (["the cow"], ["the moon"])
"""

GIVEN = {
    "api.md": f"""{_LINES}
class WordCount(Topology):
    lines = LineSpout.spec()
    counted = CollectingSink.spec(inputs={{lines: Grouping.GLOBAL}})
""",
    "batches.md": _LINES,
    "configuration.md": f"""{_LINES}
import os
from pathlib import Path
builder = StreamBuilder()
builder.new_stream(LineSpout)
topology = builder.build("lines")
""",
    "recording.md": f"""{_LINES}
class CountBolt(Bolt):
    outputs = ["word"]
    def process(self, tup):
        self.emit(tup.values)
builder = StreamBuilder()
builder.new_stream(LineSpout, name="lines").key_by("line").count_by_key(name="count").to(CollectingSink)
run(builder, record="before.viper")
""",
}
"""The code that the examples of a page take for granted."""

_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    text = PAGES[page].read_text(encoding="utf-8")
    return [block for found, block in _FENCE.findall(text) if found == language]


def sections() -> Iterator[tuple[str, str]]:
    """Page and title of each section that is played."""
    for page in PAGES:
        if page not in ELSEWHERE and blocks(page, "console"):
            for section in _sections(page):
                if "```console" in section:
                    yield page, section.partition("\n")[0]


def _sections(page: str) -> list[str]:
    return re.split(r"^## ", PAGES[page].read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "reader").mkdir()
    shell = Shell(tmp_path / "reader")
    yield shell
    shell.close()


@pytest.mark.few(5)
@pytest.mark.parametrize(("page", "title"), list(sections()))
def test_what_is_played_prints_what_it_shows(page: str, title: str, shell: Shell) -> None:
    first, *others = _sections(page)
    (section,) = (section for section in others if section.startswith(f"{title}\n"))
    assert list(differences(first + section, shell)) == []


RUN_HERE = [
    page for page in PAGES if page not in ELSEWHERE and blocks(page, "python") and not blocks(page, "console")
]


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_all(page, blocks(page, "python"))
    classes = [found for found in names.values() if isinstance(found, type) and found.__module__ == page]
    declare([cls for cls in classes if issubclass(cls, Component)])


def run_all(page: str, examples: list[str]) -> dict[str, Any]:
    """The names that the examples of a page have defined."""
    names: dict[str, Any] = {"__name__": page}
    exec(GIVEN.get(page, ""), names)
    for example in examples:
        code = compile(example, page, "exec")
        if not example.startswith(tuple(FRAGMENTS.get(page, ()))):
            exec(code, names)
    return names


def declare(classes: list[type[Component]]) -> None:
    """Have a topology take each of them, which looks at its streams and its configuration."""
    builder = TopologyBuilder()
    for cls in classes:
        (builder.set_spout if issubclass(cls, Spout) else builder.set_bolt)(cls.__name__, cls)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")])
def test_the_yaml_of_a_page_names_what_exists(page: str) -> None:
    for text in blocks(page, "yaml"):
        assert list(unknown(yaml.safe_load(text))) == []


def unknown(topology: dict[str, Any]) -> Iterator[str]:
    """Yield the keys of a topology in YAML, or of a part of one, that do not exist."""
    yield from topology.keys() - keys.TOPOLOGY
    for component in [*topology.get("spouts", ()), *topology.get("bolts", ())]:
        yield from component.keys() - keys.VERTEX
        yield from (
            key for key in component.get("config", {}) if key.startswith("viper.") and key not in KEYS
        )
        module, _, name = component["className"].rpartition(".")
        if module.startswith("viperstorm") and not hasattr(importlib.import_module(module), name):
            yield component["className"]


class TestWhatThisTestGoesBy:
    """The lists above are right, and a mistake would be found."""

    def test_the_other_tests_read_these_pages(self) -> None:
        for page, test in ELSEWHERE.items():
            assert page in (REPOSITORY / test).read_text(encoding="utf-8")

    def test_every_fragment_is_there(self) -> None:
        for page, beginnings in FRAGMENTS.items():
            for beginning in beginnings:
                assert [block for block in blocks(page, "python") if block.startswith(beginning)], beginning

    def test_every_python_block_of_a_page_that_is_played_is_a_file_of_it(self) -> None:
        for page in {page for page, _ in sections()}:
            for block in blocks(page, "python"):
                assert re.match(r"# \w+\.py\n", block), block
            for section in _sections(page)[1:]:
                assert "```console" in section or "```python" not in section, section

    def test_examples_are_found(self) -> None:
        assert {"state.md", "windows.md"} <= set(RUN_HERE)
        assert len([page for page, _ in sections() if page == "cookbook.md"]) >= 12

    def test_a_name_that_is_not_exported_is_found(self) -> None:
        with pytest.raises(ImportError):
            run_all("state.md", ["from viperstorm import NoSuchState"])

    def test_a_component_with_a_mistake_is_found(self) -> None:
        names = run_all("batches.md", ["class Wrong(Bolt):\n    outputs = [7]\n"])
        with pytest.raises(TypeError):
            declare([names["Wrong"]])

    def test_a_key_that_is_none_is_found(self) -> None:
        spout = {"id": "s", "className": "viperstorm.sources.NoSource", "config": {"viper.sise": 1}}
        assert list(unknown({"spout": [], "spouts": [spout]})) == ["spout", "viper.sise", spout["className"]]
