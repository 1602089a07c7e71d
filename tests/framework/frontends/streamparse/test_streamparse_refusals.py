"""Classes that streamparse refuses: all mistakes at once, in words, with the line of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import framework
from framework.frontends.loading import load

HEAD = """\
from streamparse import Bolt, Grouping, Spout, Stream, Topology
from streamparse.thrift import GlobalStreamId

class Words(Spout):
    outputs = ["word"]
    def next_tuple(self): pass

class Mute(Spout):
    def next_tuple(self): pass

class Count(Bolt):
    outputs = [Stream(["word", "count"], name="counts")]
    def process(self, tup): pass

class Mistaken(Topology):
"""
FIRST = HEAD.count("\n") + 1
"""Line of the first attribute."""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def problems(*body: str) -> list[str]:
    Path("mistaken.py").write_text(HEAD + "".join(f"    {line}\n" for line in body))
    loaded = load("mistaken.py")
    assert loaded.topology is None
    return [str(problem) for problem in loaded.problems]


@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        (["pass"], -1, "Mistaken: the topology has no spout"),
        (["mute = Mute.spec()"], 0, "Mistaken.mute: spout 'mute' declares no outputs"),
        (["words = Words.spec()", "count = Count.spec()"], 1, "Mistaken.count: bolt 'count' has no inputs"),
        (
            ["words = Words.spec()", "count = Count.spec(inputs={words: Grouping.fields('wrod')})"],
            1,
            "unknown field 'wrod': expected 'word'; did you mean 'word'?",
        ),
        (
            ["words = Words.spec()", "count = Count.spec(inputs=[GlobalStreamId('wrods', 'default')])"],
            1,
            "unknown component 'wrods': expected 'count' or 'words'; did you mean 'words'?",
        ),
        (
            ["words = Words.spec()", "count = Count.spec(inputs=[GlobalStreamId('words', 'wrods')])"],
            1,
            "unknown stream 'wrods': expected 'default'",
        ),
        (
            ["words = Words.spec()", "count = Count.spec(inputs=[Words.spec()])"],
            1,
            "unknown component '<unnamed spec>'",
        ),
        (
            ["words = Words.spec()", "other = Words.spec(name='words')"],
            1,
            "Mistaken.other: 2 components have the id 'words'",
        ),
        (["words = Words.spec(par=0)"], 0, "Mistaken.words: ValueError: Parallelism hint must be"),
        (["words = Words.spec(par=1.5)"], 0, "Mistaken.words: TypeError: Parallelism hint must be"),
        (["words = Words.spec()", "x = words['nope']"], 1, "Mistaken.x: KeyError: Invalid stream"),
        (["words = Words.spec()", "config = 3"], -1, "TypeError: Topology config must be a dictionary"),
        (["words = Words()"], -1, "TypeError: Topology classes should have ComponentSpec"),
    ],
)
def test_each_mistake_is_told_at_its_line(body: list[str], line: int, expected: str) -> None:
    (problem,) = problems(*body)
    assert problem.startswith(f"mistaken.py:{FIRST + line}: ")
    assert expected in problem


def test_all_mistakes_come_at_once() -> None:
    found = problems(
        "config = {'viper.jumbo.sise': 1}",
        "mute = Mute.spec()",
        "words = Words.spec()",
        "count = Count.spec(inputs={words: Grouping.fields('wrod')})",
        "lost = Count.spec()",
        "late = Count.spec(inputs=[GlobalStreamId('cuont', 'counts')])",
    )
    mistaken = {0: "config", 1: "mute", 3: "count", 4: "lost", 5: "late"}
    assert [problem.split(": ")[:2] for problem in found] == [
        [f"mistaken.py:{FIRST + line}", f"Mistaken.{attribute}"] for line, attribute in mistaken.items()
    ]


def test_a_component_in_place_of_a_spec_does_not_cost_the_process_its_output() -> None:
    """The wrapper that a pystorm component puts around stdout would close it when it is collected."""
    Path("mistaken.py").write_text(HEAD + "    words = Words()\n")
    report = "import framework.frontends.loading as l\nfor p in l.load('mistaken.py').problems: print(p)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    assert "Did you forget to call the spec class method" in done.stdout


LOADED_TWICE = """\
import sys
from framework.frontends.loading import load

def load_it():
    for problem in load("mistaken.py").problems:
        print(problem)

load_it()
first = sys.modules["streamparse"]
sys.path[:] = [folder for folder in sys.path if "site-packages" not in folder]
load_it()
print(sys.modules["streamparse"] is first)
"""


def test_an_environment_that_is_a_link_is_no_part_of_the_project(tmp_path: Path) -> None:
    """Else its packages would be forgotten as those of another project, and imported again."""
    Path("mistaken.py").write_text(HEAD + "    words = Words.spec(par=0)\n")
    (tmp_path / "link").symlink_to(sys.prefix)
    python = tmp_path / "link" / Path(sys.executable).relative_to(sys.prefix)
    environment = {**os.environ, "PYTHONPATH": str(Path(framework.__file__).parents[1])}
    done = subprocess.run([python, "-c", LOADED_TWICE], capture_output=True, text=True, env=environment)
    refused, again, same = done.stdout.splitlines()
    assert refused == again
    assert refused.startswith(f"mistaken.py:{FIRST}: Mistaken.words: ValueError: Parallelism hint must be")
    assert same == "True"
