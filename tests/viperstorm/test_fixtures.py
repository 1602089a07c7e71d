"""The fixtures that pytest finds where ViperStorm is installed."""

from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TESTS = """
import pytest
from viperstorm import Bolt, Spout, Topology

class Ticked(Bolt):
    outputs = ["what"]
    config = {"topology.tick.tuple.freq.secs": 10}

    def process(self, tup):
        self.emit([tup.values.n + 1])

    def process_tick(self, tup):
        self.emit(["tick"])

    def close(self):
        print("closed after", self.__class__.__name__)

class Numbers(Spout):
    outputs = ["n"]

    def tuples(self):
        yield from ([n] for n in range(3))

class Both(Topology):
    numbers = Numbers.spec()
    ticked = Ticked.spec(inputs=[numbers])

def test_bolt(bolt_harness, virtual_clock):
    bolt = bolt_harness(Ticked, fields=["n"])
    bolt.send([1])
    bolt.advance(10)
    assert bolt.take() == [(2,), ("tick",)]
    assert bolt.clock is virtual_clock

def test_spout(spout_harness):
    assert spout_harness(Numbers).next(5) == [(0,), (1,), (2,)]

def test_topology(topology_harness, virtual_clock):
    both = topology_harness(Both)
    both.send("numbers", [1])
    assert both.take("ticked") == [(2,)]
    assert both.clock is virtual_clock

def test_failing(bolt_harness):
    bolt_harness(Ticked, fields=["n"]).send(["text"])
"""


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "viperstorm_pytest", "-q", "-rA", *arguments]
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "PATH": "/usr/bin:/bin",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_harnesses_are_made_and_closed(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    done = run_pytest(tmp_path)
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    assert "can only concatenate str" in done.stdout
    assert done.stdout.count("closed after Ticked") == 3


def test_who_uses_none_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(
        "import sys\n"
        "def test_none():\n"
        "    assert not {'framework', 'viperstorm', 'viper', 'cffi'} & set(sys.modules)\n"
    )
    done = run_pytest(tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_pytest_is_told_of_them() -> None:
    declared = configparser.ConfigParser()
    declared.read(REPOSITORY / "setup.cfg")
    assert declared["options.entry_points"]["pytest11"].split() == ["viperstorm", "=", "viperstorm_pytest"]


@pytest.mark.parametrize("fixture", ["virtual_clock", "bolt_harness", "spout_harness", "topology_harness"])
def test_each_is_described(fixture: str) -> None:
    import viperstorm_pytest

    assert f"`{fixture}`" in (viperstorm_pytest.__doc__ or "")
    assert getattr(viperstorm_pytest, fixture).__doc__
