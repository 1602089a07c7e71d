"""``viper init``: the project that it writes runs, and so does its test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode

REPOSITORY = Path(__file__).parents[3]

Viper = Callable[..., Result]


def in_project(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environ, capture_output=True, text=True, check=True
    )


def test_the_project_runs_and_its_counts_are_right(viper: Viper, project: Path) -> None:
    assert viper("init", "fresh").exit_code == ExitCode.OK
    out = in_project(project / "fresh", "framework.cli", "run").stdout
    last = {word: int(count) for word, count in (line.split("\t") for line in out.splitlines())}
    spout = (project / "fresh" / "src" / "spouts" / "sentences.py").read_text()
    sentences = re.findall(r'^    "(.+)",$', spout, flags=re.MULTILINE)
    assert last == Counter(word for sentence in sentences for word in sentence.split())


def test_the_project_is_valid_without_a_warning(viper: Viper, project: Path) -> None:
    viper("init", "fresh")
    assert in_project(project / "fresh", "framework.cli", "validate", "wordcount").stdout == ""


def test_the_streamparse_project_runs(viper: Viper, project: Path) -> None:
    assert viper("init", "--streamparse", "ported").exit_code == ExitCode.OK
    ended = in_project(project / "ported", "framework.cli", "run", "--max-tuples", "1000")
    assert "1,000 tuples processed" in ended.stderr


@pytest.mark.parametrize("options", [[], ["--streamparse"]])
def test_the_projects_own_test_passes(options: list[str], viper: Viper, project: Path) -> None:
    viper("init", "fresh", *options)
    assert " passed" in in_project(project / "fresh", "pytest", "-p", "no:cacheprovider").stdout


def test_nothing_is_overwritten(viper: Viper, project: Path) -> None:
    (project / "mine" / "src" / "bolts").mkdir(parents=True)
    own = project / "mine" / "src" / "bolts" / "words.py"
    own.write_text("mine\n")
    result = viper("init", "mine")
    assert result.exit_code == ExitCode.USAGE
    assert "mine/src/bolts/words.py exists already, and nothing is overwritten" in result.stderr
    assert own.read_text() == "mine\n"
    assert [path for path in (project / "mine").rglob("*") if path.is_file()] == [own]


@pytest.mark.parametrize(
    ("folder", "name"),
    [("plain", "plain"), ("my.project v2", "my-project-v2"), ("2024", "project-2024"), ("..x", "x")],
)
def test_the_current_folder_becomes_a_project(
    folder: str, name: str, viper: Viper, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / folder).mkdir()
    (project / folder / "notes.txt").write_text("mine\n")
    monkeypatch.chdir(project / folder)
    created = viper("init", ".")
    assert (created.exit_code, created.stderr) == (ExitCode.OK, f"created {name}; next: viper run\n")
    assert (project / folder / "README.md").read_text().startswith(f"# {name}\n")
    assert (project / folder / "notes.txt").read_text() == "mine\n"
    assert viper("validate").exit_code == ExitCode.OK


@pytest.mark.parametrize("name", ["3x", "a b", "-", "x.y"])
def test_a_name_that_is_none_is_refused(name: str, viper: Viper) -> None:
    result = viper("init", "--", name)
    assert result.exit_code == ExitCode.USAGE
    assert "is no name" in result.stderr
