"""Code finds its modules, its folder and its environment, and may use any attribute."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from framework.testing import run_topology
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.running import Workers

PROJECT = {
    "src/late.py": "FOUND = 'imported late'\n",
    "src/spouts/__init__.py": "",
    "src/spouts/one.py": """
from {base} import Spout

class One(Spout):
    outputs = ["value"]

    def next_tuple(self):
        self.emit([1])
""",
    "src/bolts/__init__.py": "import helpers\n",
    "src/bolts/looks.py": """
import os
from {base} import Bolt

class Looks(Bolt):
    outputs = ["cwd", "environment", "late", "own"]

    def process(self, tup):
        import late
        from src.late import FOUND
        self.emit([os.getcwd(), os.environ.get("HOSTED"), late.FOUND, FOUND])
""",
    "topologies/helpers.py": "",
    "topologies/looking.py": """
from {base} import Topology
from bolts.looks import Looks
from spouts.one import One

class Looking(Topology):
    one = One.spec()
    looks = Looks.spec(inputs=[one])
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is not the one in which earlier workers were started."""
    return tmp_path / "project"


def written(folder: Path, base: str) -> None:
    for name, text in PROJECT.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{base}", base))


@pytest.mark.parametrize("base", ["streamparse", "framework"])
@everywhere
def test_a_project_finds_its_modules_folder_and_environment(
    workers: Workers, base: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(project, base)
    monkeypatch.chdir(project)
    before = list(sys.path)
    for value in ("first", "second"):  # the server of worker processes is there from the first time on
        monkeypatch.setenv("HOSTED", value)
        conf = {key.replace("__", "."): said for key, said in workers.options.items()}
        run = run_topology("topologies/looking.py", conf=conf, max_tuples=1)
        # A process of streamparse's components runs where their sources are, as on Storm.
        in_sources = base == "streamparse" and workers.kind == "process"
        folder = os.path.join(os.getcwd(), "src") if in_sources else os.getcwd()
        assert run.emitted("looks") == [(folder, value, "imported late", "imported late")]
    assert sys.path == before


@both
@everywhere
def test_attributes_may_have_any_name_and_properties_may_raise(workers: Workers, base: ModuleType) -> None:
    arrived = workers.run(chain(base.Lists, base.Touchy), rows=[["read "]]).result("sink")
    assert arrived == [("read mine",)]
