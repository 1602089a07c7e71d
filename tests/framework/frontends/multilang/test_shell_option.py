"""``viper run --shell``: the same output, and a word on what is no program."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framework.cli import main

PROJECT = Path(__file__).parents[3] / "fixtures" / "quickstart_framework"
OPTIONS = ("--max-tuples", "50", "--print", "count_bolt", "-o", "viper.worker=inline")


def viper(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["run", "topologies/wordcount.py", *OPTIONS, *arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.slow(daily=True)
def test_the_output_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT)
    hosted, served = viper("-q"), viper("--shell", "-q")
    assert served.stdout == hosted.stdout
    assert len(served.stdout.splitlines()) == 50


LOCAL = """
from framework import Bolt, Spout, TopologyBuilder

class Numbers(Spout):
    outputs = ["number"]

    def tuples(self):
        yield [1]

def local():
    class Double(Bolt):
        outputs = ["number"]

        def process(self, tup):
            self.emit([2 * tup.values.number])

    return Double

builder = TopologyBuilder()
builder.set_spout("numbers", Numbers)
builder.set_bolt("double", local()).shuffle_grouping("numbers")
"""


def test_what_stays_in_python_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "topologies").mkdir()
    (tmp_path / "topologies" / "local_classes.py").write_text(LOCAL)
    monkeypatch.chdir(tmp_path)
    arguments = ["run", "topologies/local_classes.py", "--shell", "-q", "--print", "double"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout) == (0, "2\n")
    assert "warning: bolt 'double' runs in Python and not as a program: its class cannot" in result.stderr
    assert "numbers" not in result.stderr
