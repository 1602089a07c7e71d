"""Components of streamparse's run where their sources are, as on Storm, in a process of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framework import run
from framework.frontends.loading import load
from framework.model.config import resolve
from framework.model.errors import ComponentError
from framework.model.importing import source_folder
from framework.planning import make_plan
from framework.runtime.workers.main import folder_of_sources
from framework.testing import run_topology

COMPONENTS = """
import os
from {base} import Bolt, Spout

class Lines(Spout):
    outputs = ["line", "folder"]

    def initialize(self, conf, context):
        with open("data/lines.txt") as file:
            self.lines = iter(file.read().split())

    def next_tuple(self):
        self.emit([next(self.lines), os.getcwd()])

class Looks(Bolt):
    outputs = ["line", "before", "folder"]

    def process(self, tup):
        self.logger.info("looks at %s", tup.values[0])
        self.emit([*tup.values, os.getcwd()])
"""
TOPOLOGY = """
from {base} import Topology
from own.more import More
from parts import Lines, Looks

class T(Topology):
    lines = Lines.spec()
    looks = Looks.spec(inputs=[lines])
    more = More.spec(inputs=[looks])
"""
MORE = """
import os
from {base} import Bolt

class More(Bolt):
    outputs = ["line", "spout", "bolt", "folder"]

    def process(self, tup):
        self.emit([*tup.values, os.getcwd()])
"""
YAML = """
name: t
spouts: [{{id: lines, className: parts.Lines}}]
bolts: [{{id: looks, className: parts.Looks}}, {{id: more, className: own.more.More}}]
streams:
  - {{from: lines, to: looks, grouping: {{type: SHUFFLE}}}}
  - {{from: looks, to: more, grouping: {{type: SHUFFLE}}}}
"""


def project(folder: Path, base: str = "streamparse", more: str = "topologies") -> Path:
    files = {
        "src/parts.py": COMPONENTS,
        "src/data/lines.txt": "one\ntwo\n",
        "topologies/t.py": TOPOLOGY,
        "topologies/t.yaml": YAML,
        f"{more}/own/__init__.py": "",
        f"{more}/own/more.py": MORE,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.format(base=base))
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is none of the project's."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize("file", ["t.py", "t.yaml"])
def test_each_process_runs_in_the_folder_of_its_own_component(file: str, tmp_path: Path, here: Path) -> None:
    made = project(tmp_path / "project")
    found = run_topology(f"{made}/topologies/{file}", conf={"viper.worker": "process"})
    src, topologies = str(made / "src"), str(made / "topologies")
    assert found.emitted("more") == [("one", src, src, topologies), ("two", src, src, topologies)]
    assert os.getcwd() == str(here)


def test_what_is_named_for_the_run_stays_in_the_current_folder(tmp_path: Path, here: Path) -> None:
    made = project(tmp_path / "project")
    before = {path for path in made.rglob("*") if "__pycache__" not in path.parts}
    conf = {"pystorm.log.path": "logs", "pystorm.log.file": "{component_name}.log", "viper.worker": "process"}
    run(f"{made}/topologies/t.py", conf=conf, record="recorded")
    assert "looks at two" in (here / "logs" / "looks.log").read_text()
    assert (here / "recorded").exists()
    assert {path for path in made.rglob("*") if "__pycache__" not in path.parts} == before


@pytest.mark.parametrize(
    ("base", "conf"),
    [
        ("streamparse", {"viper.worker": "inline"}),
        ("streamparse", {"viper.worker": "thread"}),
        ("viperstorm", {"viper.worker": "process"}),
    ],
)
def test_components_that_share_a_process_run_in_the_current_folder(
    base: str, conf: dict[str, Any], tmp_path: Path, here: Path
) -> None:
    """So do those of ours, which are told where their file is."""
    made = project(tmp_path / "project", base)
    with pytest.raises(ComponentError) as raised:
        run(f"{made}/topologies/t.py", conf=conf)
    assert (
        f"there is one in {str(made / 'src')!r}, from where Lines was imported, and this process runs in "
        f"{str(here)!r}: name it by os.path.dirname(__file__)"
    ) in str(raised.value)
    (here / "data").mkdir()
    (here / "data" / "lines.txt").write_text("mine\n")
    assert run_topology(f"{made}/topologies/t.py", conf=conf).emitted("more") == [("mine", *[str(here)] * 3)]


def test_components_in_one_process_agree_or_run_in_the_current_folder(tmp_path: Path, here: Path) -> None:
    made = project(tmp_path / "project")
    conf = {"viper.worker": "process", "viper.isolated": False, "topology.workers": 1}
    (here / "data").mkdir()
    (here / "data" / "lines.txt").write_text("mine\n")
    found = run_topology(f"{made}/topologies/t.py", conf=conf).emitted("more")
    assert found == [("mine", *[str(here)] * 3)]  # src/ and topologies/
    for name, more, expected in (("third", "topologies", None), ("other", "src", tmp_path / "other" / "src")):
        file = project(tmp_path / name, more=more) / "topologies" / "t.py"
        topology = load(str(file)).topology
        assert topology is not None
        settings, _ = resolve(topology, options=conf)
        plan = make_plan(topology, settings)
        assert len(plan.placement.processes) == 1
        assert folder_of_sources(plan, 0) == (expected and str(expected))


def test_the_folder_of_a_class_is_the_one_that_it_was_imported_from() -> None:
    from tests.framework.hosting import ported

    tests = Path(__file__).parents[2]
    folder = str(tests.parent)
    assert source_folder(ported.Lists, ["/nowhere", folder]) == folder
    assert source_folder(ported.Lists, [str(tests), "/nowhere"]) is None
    assert source_folder(int, ["/"]) is None
