"""``viper doctor``: what it finds on this machine, and on machines that lack something."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from framework.cli import examination, main
from framework.cli.examination import Finding, Health
from framework.cli.exit_codes import ExitCode
from viper import segments

REPOSITORY = Path(__file__).parents[3]


def test_this_machine_is_well_enough() -> None:
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == ExitCode.OK, done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")].count("ok") >= 6


def test_json_has_the_same() -> None:
    shown = {
        found["what"]: found for found in json.loads(CliRunner().invoke(main, ["doctor", "--json"]).stdout)
    }
    assert {"versions", "cores", "shared memory", "open files", "Java", "compiler"} <= set(shown)
    assert set(shown["cores"]) == {"what", "health", "found", "advice"}


def test_a_problem_is_an_exit_code_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        examination, "packages", lambda: Finding("packages", Health.PROBLEM, "missing: x", "get x")
    )
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == ExitCode.FAILED
    first, second = [line for line in done.stdout.splitlines() if line.endswith(("missing: x", "get x"))]
    assert first.startswith("problem  packages")
    assert second.index("get x") == first.index("missing: x")


def python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_a_compiled_module_that_cannot_be_loaded_is_told() -> None:
    done = python(
        "import sys\n"
        "from framework.cli import main\n"
        "sys.modules['viper._backend'] = None\n"
        "main(['doctor'], prog_name='viper')"
    )
    assert done.returncode == ExitCode.FAILED, done.stderr
    assert "problem  compiled modules" in done.stdout
    assert "viper._backend" in done.stdout
    assert "build them for this Python" in done.stdout


@pytest.mark.parametrize("name", ["viper._backend", "viper._rows"])
def test_a_compiled_module_for_another_python_is_told_at_the_first_import(name: str) -> None:
    done = python(
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda name: None if name == {name!r} else find(name)\n"
        "from viperstorm import Bolt"
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"ImportError: {name} is missing, or was compiled for another Python than this one"
    )
    assert "install ViperStorm again" in last


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The record of a segment whose maker has died."""
    monkeypatch.setattr(segments, "_records", lambda: tmp_path)
    record = tmp_path / f"vp-{2**30}-1-0"
    record.touch()
    return record


def test_what_dead_runs_left_is_told_and_removed(left: Path) -> None:
    found = examination.left_behind()
    assert (found.health, found.advice) == (Health.WARNING, "remove them: viper doctor --clean")
    assert left.name in found.found
    done = CliRunner().invoke(main, ["doctor", "--clean"])
    assert f"removed 1 segment of shared memory: {left.name}" in done.stdout
    assert not left.exists()
    assert examination.left_behind().found == "nothing"


def test_what_cannot_be_removed_is_named(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_remove", lambda record: False)
    found = examination.left_behind(clean=True)
    assert (found.health, found.found) == (Health.WARNING, f"could not remove {left.name}")


def limits(soft: int) -> Any:
    return lambda which: (soft, resource.RLIM_INFINITY)


@pytest.mark.parametrize(
    ("soft", "health", "found"),
    [
        (256, Health.WARNING, "256, at most unlimited"),
        (4096, Health.OK, "4,096, at most unlimited"),
        (resource.RLIM_INFINITY, Health.OK, "unlimited, at most unlimited"),
    ],
)
def test_few_open_files(soft: int, health: Health, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", limits(soft))
    assert (examination.open_files().health, examination.open_files().found) == (health, found)
    assert "none is needed" in examination.locked_memory().found


def test_one_core_and_a_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    for text, health, found in (
        ("max 100000", Health.OK, "4 of 8"),
        ("250000 100000", Health.OK, "4 of 8, of which a control group allows 2.5"),
        ("50000 100000", Health.WARNING, "4 of 8, of which a control group allows 0.5"),
    ):
        monkeypatch.setattr(examination, "_read", lambda path, text=text: text)
        assert (examination.cores().health, examination.cores().found) == (health, found)


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "_read", lambda path: "MemFree: 1 kB\nMemAvailable:   102400 kB\n")
    assert (examination.memory().health, examination.memory().found) == (Health.WARNING, "100 MiB available")
    monkeypatch.setattr(examination, "_read", lambda path: "")
    assert examination.memory().found == "not known on this system"


def test_no_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from viper import arena

    monkeypatch.setattr(examination, "TRIED_BYTES", 1 << 60)
    assert examination.shared_memory().health is Health.PROBLEM
    monkeypatch.setattr(examination, "TRIED_BYTES", 1 << 20)
    monkeypatch.setattr(segments, "ANONYMOUS", False)
    monkeypatch.setattr(examination, "_free_of", lambda folder: 1 << 20)
    assert arena is not None
    assert examination.shared_memory().found == "named segments; /dev/shm has 1 MiB free"


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"click": "8", "cffi": "1", "PyYAML": "6", "simplejson": "3", "streamparse": "5"}
    monkeypatch.setattr(examination, "_version", known.get)
    assert examination.packages().found.endswith("only needed where it is used: columns, spark, sql, ui")
    del known["cffi"]
    assert examination.packages() == Finding("packages", Health.PROBLEM, "missing: cffi", "pip install cffi")


def test_no_compiler_and_no_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert examination.compiler().health is Health.WARNING
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    assert examination.temporary_files().health is Health.WARNING

    def nowhere() -> str:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    assert examination.temporary_files().health is Health.PROBLEM


@pytest.mark.parametrize(
    ("told", "health"),
    [
        ('openjdk version "17.0.1"', Health.OK),
        ('java version "1.8.0_1"', Health.WARNING),
        ("", Health.WARNING),
    ],
)
def test_javas(told: str, health: Health, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat >&2 <<END\n{told}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(examination, "_version", lambda package: "4.0")
    assert examination.java().health is health


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(examination, "_version", lambda package: None)
    assert examination.java().health is Health.OK
    monkeypatch.setattr(examination, "_version", lambda package: "4.0")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert examination.java().found == f"none at {tmp_path}/bin/java"
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert examination.java().found == "none on the PATH"
