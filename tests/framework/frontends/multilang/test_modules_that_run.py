"""Modules that end with ``Upper().run()``, with our classes: programs when started, classes when imported."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder, run
from framework.model.errors import ProgramError
from framework.model.importing import import_class, importable
from framework.operators.sinks import CollectingSink
from tests.framework.frontends.multilang.pieces import behind, run_bolt
from tests.framework.runtime.pieces import listed, run_built
from tests.portions import at_every_change

UPPER = """
from {library} import Bolt

class Upper(Bolt):
    outputs = ["value"]

    def process(self, tup):
        self.emit([tup.values[0].upper()])

"""
GUARDED = """
if __name__ == "__main__":
    Upper().run()
"""
UNGUARDED = """
Upper().run()
"""
IN_FUNCTION = """
def main():
    Upper().run()

main()
"""
SPOUT = """
from viperstorm import Spout

class Words(Spout):
    outputs = ["value"]

    def tuples(self):
        print("stdout is for messages, and this goes to the log")
        yield ["dog"]
        yield ["cat"]

Words().run()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[4]}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("end", [GUARDED, UNGUARDED, IN_FUNCTION])
@pytest.mark.parametrize("library", ["viperstorm", "streamparse"])
@pytest.mark.parametrize("command", at_every_change(["-m upper", "upper.py"]))
def test_a_bolt_is_served(folder: Path, library: str, command: str, end: str) -> None:
    (folder / "upper.py").write_text(UPPER.format(library=library) + end, "utf-8")
    report = run_bolt([sys.executable, *command.split()], ["dog"], ["cat"])
    assert report.result("sink") == [("DOG",), ("CAT",)]


def test_streamparse_run_serves_a_bolt_of_ours(folder: Path) -> None:
    (folder / "upper.py").write_text(UPPER.format(library="viperstorm") + UNGUARDED, "utf-8")
    report = run_bolt([sys.executable, "-m", "streamparse.run", "upper.Upper"], ["dog"], ["cat"])
    assert report.result("sink") == [("DOG",), ("CAT",)]


def test_a_spout_is_served_and_ends(folder: Path) -> None:
    (folder / "words.py").write_text(SPOUT, "utf-8")
    report = run_built(behind([sys.executable, "-m", "words"]))
    assert report.result("sink") == [("dog",), ("cat",)]


@pytest.mark.parametrize("end", [UNGUARDED, IN_FUNCTION])
def test_a_module_that_is_imported_runs_nothing(
    folder: Path, end: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    name = f"imported_{len(end)}"
    (folder / f"{name}.py").write_text(UPPER.format(library="viperstorm") + end, "utf-8")
    with importable([str(folder)]):
        cls: Any = import_class(f"{name}.Upper")
    monkeypatch.delitem(sys.modules, name)
    assert f"{name}.py:" in caplog.text
    assert "Upper.run() does nothing, as its runtime hosts it" in caplog.text
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["dog"]))
    builder.set_bolt("bolt", cls).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    assert run(builder, worker="inline").result("sink") == [("DOG",)]


def test_a_sink_is_no_program() -> None:
    with pytest.raises(ProgramError, match=r"CollectingSink.run\(\): a sink belongs to the runtime"):
        as_main(CollectingSink())


@pytest.mark.parametrize("cls", [Bolt, Spout])
def test_an_interactive_session_is_no_program(
    cls: type[Bolt | Spout], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    with pytest.raises(ProgramError, match=r"interactive session: viperstorm\.run"):
        as_main(cls())


def test_a_program_that_nobody_has_started_says_so() -> None:
    code = "import viperstorm; viperstorm.Bolt().run()"
    ran = subprocess.run([sys.executable, "-c", code], input="", capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("Bolt.run(): stdin ended before a handshake came")


def as_main(component: Bolt | Spout) -> None:
    """Call `run` where a program does it: under the top level of the main module only."""
    from framework.frontends.multilang.serve import serve

    serve(component)
