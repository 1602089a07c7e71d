"""``viper init``: the project that it writes runs, and so does its test."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from framework.cli.init import TEMPLATES

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
    assert viper("init", "--template", "streamparse", "ported").exit_code == ExitCode.OK
    ended = in_project(project / "ported", "framework.cli", "run", "--max-tuples", "1000")
    assert "1,000 tuples processed" in ended.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_projects_own_test_passes(template: str, viper: Viper, project: Path) -> None:
    viper("init", "fresh", "--template", template)
    assert " passed" in in_project(project / "fresh", "pytest", "-p", "no:cacheprovider").stdout


def test_the_windows_of_a_file_are_in_a_table(viper: Viper, project: Path) -> None:
    viper("init", "cafe", "--template", "csv-window")
    assert in_project(project / "cafe", "framework.cli", "validate", "takings").stdout == ""
    in_project(project / "cafe", "framework.cli", "run", "--quiet")
    assert takings(project / "cafe") == summed(project / "cafe" / "data" / "orders.csv")


@pytest.mark.slow
@pytest.mark.spark
def test_a_dataset_of_spark_gives_the_same_table(viper: Viper, project: Path) -> None:
    said = viper("init", "cafe", "--template", "spark").stderr
    prepare, run = said.partition("cd cafe && ")[2].split(" && ")
    assert run == "viper run\n"
    in_project(project / "cafe", "framework.cli", *shlex.split(prepare)[1:])
    in_project(project / "cafe", "framework.cli", "run", "--quiet")
    assert takings(project / "cafe") == summed(project / "cafe" / "data" / "orders.csv")


def takings(folder: Path) -> dict[tuple[str, int], tuple[int, int]]:
    """Read the table of a project: the cents and the orders of each item and quarter of an hour."""
    with closing(sqlite3.connect(folder / "takings.db")) as database:
        rows = database.execute("SELECT item, start, cents, orders FROM takings").fetchall()
    return {(item, start): (cents, orders) for item, start, cents, orders in rows}


def summed(orders: Path) -> dict[tuple[str, int], tuple[int, int]]:
    """The same, added up from the file itself."""
    sums: dict[tuple[str, int], tuple[int, int]] = {}
    for line in orders.read_text().splitlines()[1:]:
        at, item, quantity, price = line.split(",")
        second = int(datetime.fromisoformat(at).timestamp())
        start = (second - second % 900) * 1_000_000
        cents, number = sums.get((item, start), (0, 0))
        sums[item, start] = cents + int(quantity) * round(float(price) * 100), number + 1
    return sums


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
