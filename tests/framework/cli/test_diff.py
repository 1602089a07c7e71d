"""``viper diff``: what it prints, what it exits with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framework import Bolt
from framework.cli.diff import DIFFERENT, diff
from framework.cli.exit_codes import ExitCode
from tests.framework.recording.pieces import (
    HandRun,
    Row,
    emission,
    plan_of,
    position,
    positions_of,
    recorded_run,
)

REPOSITORY = Path(__file__).parents[3]
Record = Callable[..., Path]


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Record the word count by hand, to a file in the current folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, *par: int, **options: Any) -> Path:
        return recorded_run(Path(name), plan_of(*par), **options)

    return make


def run(*arguments: str) -> Result:
    return CliRunner().invoke(diff, arguments, prog_name="viper diff")


def other_count(component: str, row: Row) -> Row:
    return ("b", 7) if row == ("b", 2) else row


def test_no_difference(record: Record) -> None:
    record("a.viper", 2, 1, 1)
    record("b.viper", 2, 2, 3)
    result = run("a.viper", "b.viper")
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.splitlines() == [
        "A: a.viper, wordcount, logical time, 4 tasks, exhausted",
        "B: b.viper, wordcount, logical time, 7 tasks, exhausted",
        "",
        "component  stream   in both  only in A  only in B  other values",
        "split      default       10          0          0             0",
        "split      lengths        6          0          0             0",
        "count      default       10          0          0             0",
        "",
        "no difference",
    ]


def test_the_first_difference_with_its_ancestry(record: Record) -> None:
    record("a.viper", 2)
    record("b.viper", 2, 2, 2, change=other_count)
    result = run("a.viper", "b.viper")
    assert (result.exit_code, result.stderr) == (DIFFERENT, "")
    assert result.stdout.splitlines()[6:] == [
        "count      default       10          0          0             1",
        "",
        "first difference, in count/default: other values",
        "  A: ('b', 2) on default of task 1 at 1, path 00100000100000001000000010000000",
        "  B: ('b', 7) on default of task 1 at 1, path 00100000100000001000000010000000",
        "what is at 1, path 00100000100000001000000010000000 descends from",
        "  lines, partition 1, tuple 1 of its time, the same in both",
        "    ('b',) on default of task 3 at 1, path 00100000100000000000000000000000",
        "  split, output 1 of its input, the same in both",
        "    ('b',) on default of task 4 at 1, path 00100000100000001000000000000000",
    ]


def test_ancestors_that_differ_too(record: Record) -> None:
    record("a.viper", change=lambda id, row: None if row == ("a b a",) else row)
    record("b.viper", change=lambda id, row: ("X",) if row == ("a",) else row)
    result = run("a.viper", "b.viper", "--component", "split")
    assert result.stdout.splitlines()[-4:] == [
        "what is at 1, path 00000000100000001000000000000000 descends from",
        "  lines, partition 0, tuple 1 of its time",
        "    A: not recorded: there was none, or it went to nobody",
        "    B: ('a b a',) on default of task 2 at 1, path 00000000100000000000000000000000",
    ]


def test_a_difference_of_what_a_tick_emitted(record: Record) -> None:
    for name, value in (("a.viper", 1), ("b.viper", 2)):
        hand = HandRun(Path(name), plan_of())
        hand.bolt("split", 0, position(1 << 62), 0, (value,))
        hand.finish()
    result = run("a.viper", "b.viper")
    assert result.stdout.splitlines()[-4:] == [
        "  A: (1,) on default of task 3 at the end + 0, path 00000000000000001000000000000000",
        "  B: (2,) on default of task 3 at the end + 0, path 00000000000000001000000000000000",
        "what is at the end + 0, path 00000000000000001000000000000000 descends from",
        "  no tuple of a spout: a tick, a timer, `initialize`, or what came back through a cycle",
    ]


def test_the_input_is_compared_only_when_asked_for(record: Record) -> None:
    record("a.viper")
    record("b.viper", change=lambda id, row: ("other",) if row == ("c a",) else row)
    assert run("a.viper", "b.viper").exit_code == ExitCode.OK
    for options in (["--input"], ["--component", "lines"]):
        result = run("a.viper", "b.viper", *options)
        assert result.exit_code == DIFFERENT
        first, a, b = result.stdout.splitlines()[-3:]
        assert first == "first difference, in lines/default: other values"
        assert a.startswith("  A: ('c a',)") and b.startswith("  B: ('other',)")


def test_components_and_streams_can_be_chosen(record: Record) -> None:
    record("a.viper")
    record("b.viper", change=other_count)

    def compared(*options: str) -> list[tuple[str, str]]:
        said = json.loads(run("a.viper", "b.viper", "--json", *options).stdout)
        return [(stream["component"], stream["stream"]) for stream in said["streams"]]

    assert compared() == [("split", "default"), ("split", "lengths"), ("count", "default")]
    assert compared("--stream", "default") == [("split", "default"), ("count", "default")]
    assert compared("--component", "split") == [("split", "default"), ("split", "lengths")]
    assert compared("--component", "split", "--stream", "lengths") == [("split", "lengths")]
    assert run("a.viper", "b.viper", "--component", "split").exit_code == ExitCode.OK


def test_json(record: Record) -> None:
    record("a.viper", 2)
    record("b.viper", 2, change=other_count)
    result = run("a.viper", "b.viper", "--json")
    said = json.loads(result.stdout)
    assert (result.exit_code, said["same"]) == (DIFFERENT, False)
    assert said["a"] == {
        "path": "a.viper",
        "topology": "wordcount",
        "time": "logical",
        "tasks": 4,
        "complete": True,
        "reason": "exhausted",
    }
    assert said["streams"][2] == {
        "component": "count",
        "stream": "default",
        "both": 10,
        "only_a": 0,
        "only_b": 0,
        "other_values": 1,
    }
    first = said["first"]
    assert (first["component"], first["stream"], first["kind"]) == ("count", "default", "other values")
    assert (first["a"]["values"], first["b"]["values"]) == (["'b'", "2"], ["'b'", "7"])
    assert (first["a"]["ts"], first["a"]["path"]) == (1, "00100000100000001000000010000000")
    assert [hop["component"] for hop in first["ancestry"]] == ["lines", "split"]
    same = json.loads(run("a.viper", "a.viper", "--json").stdout)
    assert (same["same"], same["first"]) == (True, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.viper", "none"], "cannot read none: No such file or directory"),
        (["a.viper", "text"], "text is no recording, or a damaged one"),
        (["a.viper", "a.viper", "--component", "cuont"], "unknown component 'cuont'"),
        (["a.viper", "a.viper", "--stream", "words"], "unknown stream 'words'"),
        (["a.viper", "a.viper", "--component", "count", "--stream", "lengths"], "there is no such stream in"),
        (["a.viper", "other.viper"], "of topologies of different shape"),
        (["a.viper"], "Missing argument 'B'"),
    ],
)
def test_what_cannot_be_compared(record: Record, arguments: list[str], message: str) -> None:
    class Other(Bolt):
        pass

    record("a.viper")
    recorded_run(Path("other.viper"), plan_of(another=Other))
    Path("text").write_text("hello")
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert message in result.stderr


def test_a_run_that_failed_is_compared_with_a_remark(record: Record) -> None:
    record("a.viper")
    HandRun(Path("b.viper"), plan_of()).run(["a b a"]).finish("count raised", complete=False)
    result = run("a.viper", "b.viper")
    assert result.exit_code == DIFFERENT
    assert result.stderr == "B is not complete: count raised\n"
    assert "\n  B: no more tuples\n" in result.stdout


def test_classes_are_imported_from_where_the_run_imported_them(tmp_path: Path) -> None:
    (tmp_path / "points.py").write_text("class Point:\n    def __init__(self, x):\n        self.x = x\n")
    script = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from tests.framework.recording.pieces import *\n"
        "sys.path.insert(0, sys.argv[1]); from points import Point\n"
        "plan = plan_of()\n"
        "plan = replace(plan, topology=replace(plan.topology, import_paths=(sys.argv[1],)))\n"
        "for name, x in (('a', 1), ('b', 1), ('c', 2)):\n"
        "    run = HandRun(Path(sys.argv[1]) / name, plan)\n"
        "    run.recorders[1].record(emission([(Point(x),)], None, positions_of(position(1))))\n"
        "    run.finish()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=REPOSITORY, check=True, timeout=60)
    assert run(str(tmp_path / "a"), str(tmp_path / "b")).exit_code == ExitCode.OK
    assert run(str(tmp_path / "a"), str(tmp_path / "c")).exit_code == DIFFERENT
    del sys.modules["points"]


def test_long_values_are_cut(record: Record) -> None:
    for name in ("a.viper", "b.viper"):
        hand = HandRun(Path(name), plan_of())
        hand.recorders[1].record(emission([(name, "x" * 10_000)], None, positions_of(position(1))))
        hand.finish()
    assert max(map(len, run("a.viper", "b.viper").stdout.splitlines())) < 1200
