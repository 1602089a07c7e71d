"""Prints of a topology file while it is loaded go to stderr: stdout is for data, in every command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.portions import at_every_change

Viper = Callable[..., Result]
Process = Callable[..., "subprocess.Popen[str]"]

LOUD = """
import ctypes, os, subprocess, sys

def shout(word):
    if os.environ.get("SILENT"):
        return
    print("printed", word)
    print("kept stdout", word, file=KEPT)
    os.write(1, f"written {word}\\n".encode())
    subprocess.run(["echo", "echoed", word], check=True)
    ctypes.CDLL(None).puts(f"put {word}".encode())  # stays in C's buffer until somebody flushes it

KEPT = sys.stdout
shout("by the module")
"""
NOISE = ("printed", "kept stdout", "written", "echoed", "put")


@pytest.fixture
def loud(project: Path) -> Path:
    """A topology whose module, and that of its components, print in every way that there is."""
    (project / "src" / "parts.py").write_text(LOUD + (project / "src" / "parts.py").read_text())
    path = project / "topologies" / "doubling.py"
    path.write_text(path.read_text() + "\n\nparts.shout('by the topology')\n")
    return project


def run_apart(process: Process, *arguments: str, **environ: str) -> tuple[str, str]:
    running = process(*arguments, **environ)
    stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    return stdout, stderr


COMMANDS = [
    ("graph", "doubling"),
    ("graph", "doubling", "--format", "json"),
    ("flux", "doubling"),
    ("plan", "doubling"),
    ("plan", "doubling", "--json"),
    ("validate", "doubling", "--json"),
    ("config", "show", "doubling", "--json"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("command", at_every_change([(command,) for command in COMMANDS], 3), ids=" ".join)
def test_data_is_the_same_as_without_prints(command: tuple[str, ...], process: Process, loud: Path) -> None:
    noisy, stderr = run_apart(process, *command)
    silent, _ = run_apart(process, *command, SILENT="yes")
    assert noisy == silent != ""
    assert [word for word in NOISE if f"{word} by the module" not in stderr] == []
    assert "printed by the topology" in stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["inline", "thread", "process"])
def test_the_report_of_a_run_stands_alone(kind: str, process: Process, loud: Path) -> None:
    stdout, stderr = run_apart(process, "run", "doubling", "--json", "--worker", kind)
    doubled, _, report = stdout.partition("{")
    assert doubled == "".join(f"{2 * number}\n" for number in range(10))
    assert json.loads("{" + report)["components"]["numbers"]["emitted"] == 10
    assert [word for word in NOISE if f"{word} by the module" not in stderr] == []


def test_recorded_values_that_print_when_they_are_read_do_not_show_in_a_comparison(
    process: Process, loud: Path
) -> None:
    path = loud / "src" / "parts.py"
    own_class = "\n\nclass Doubled(int):\n    pass\n"
    path.write_text(path.read_text().replace("2 * tup.values.number", "Doubled(1)") + own_class)
    for name in ("a", "b"):
        run_apart(process, "run", "doubling", "--record", name)
    stdout, stderr = run_apart(process, "diff", "a", "b", "--json")
    assert json.loads(stdout)
    assert "printed by the module" in stderr


def test_in_a_process_whose_stdout_is_an_object(viper: Viper, loud: Path) -> None:
    result = viper("plan", "doubling", "--json")
    assert json.loads(result.stdout)
    assert "printed by the module" in result.stderr


def test_what_a_module_does_to_stdout_works_as_ever(process: Process, loud: Path) -> None:
    """A wrapper of stdout's buffer closes it when it dies, and `reconfigure` is no method of every stream."""
    path = loud / "topologies" / "doubling.py"
    path.write_text(
        "import io, sys\nsys.stdout.reconfigure(encoding='utf-8')\n"
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('wrapped')\n"
        + path.read_text()
    )
    stdout, stderr = run_apart(process, "plan", "doubling", "--json")
    assert json.loads(stdout)
    assert "wrapped" in stderr
