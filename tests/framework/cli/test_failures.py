"""The cause that ends a command is reported once, by its own name, with the exit code for its kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode
from tests.framework.cli.conftest import REPOSITORY
from tests.portions import at_every_change

Viper = Callable[..., Result]
Process = Callable[..., "subprocess.Popen[str]"]
Ended = subprocess.CompletedProcess[str]
TWO_PROCESSES = ("-w", "2", "--worker", "process")


@pytest.fixture
def redirected(project: Path) -> Callable[..., Ended]:
    """Run a command with stdout redirected, as a shell does it."""

    def start(redirection: str, *arguments: str) -> Ended:
        command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "framework.cli"]
        environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.run([*command, *arguments], stderr=subprocess.PIPE, text=True, env=environ)

    return start


def test_an_error_of_a_worker_process_has_its_own_name(viper: Viper) -> None:
    result = viper("run", "broken", "--log-format", "json", *TWO_PROCESSES)
    line = json.loads(result.stderr.splitlines()[-1])
    assert (line["error"], line["component"], line["task"]) == ("ZeroDivisionError", "double", 2)
    assert "parts.py" in line["traceback"]


def test_a_reader_that_leaves_a_worker_process_alone_is_no_error(process: Process) -> None:
    running = process("run", "endless", "-q", *TWO_PROCESSES)
    assert running.stdout is not None and running.stderr is not None
    assert running.stdout.readline() == "2\n"
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait() == ExitCode.BROKEN_PIPE


def test_a_closed_stdout_is_an_error_of_the_sink_alone(redirected: Callable[..., Ended]) -> None:
    ended = redirected(">&-", "run", "doubling", "-q", *TWO_PROCESSES)
    assert ended.returncode == ExitCode.FAILED
    assert "error: component 'console', task 1, in consume: OSError: stdout is closed" in ended.stderr
    assert ended.stderr.count("Traceback") == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("worker", ["inline", "process"])
def test_a_closed_stderr_is_no_error(redirected: Callable[..., Ended], worker: str) -> None:
    assert redirected("2>&-", "run", "doubling", "--worker", worker).returncode == ExitCode.OK


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_no_bug(redirected: Callable[..., Ended]) -> None:
    ended = redirected(">/dev/full", "graph", "doubling")
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == "error: cannot write: [Errno 28] No space left on device\n"


def test_the_report_of_a_run_that_fails_says_why(viper: Viper, project: Path) -> None:
    result = viper("run", "broken", "--report", "report.json")
    assert result.exit_code == ExitCode.FAILED
    error = json.loads((project / "report.json").read_text())["error"]
    assert error.startswith("component 'double', task 2, in process: ZeroDivisionError")


@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_lost_tuples_are_in_the_exit_code_whatever_lost_them(viper: Viper, choice: str) -> None:
    result = viper("run", "broken", "-o", f"viper.on.error={choice}", "-o", "numbers=2")
    assert "TUPLES ARE LOST: 2" in result.stderr
    assert result.exit_code == ExitCode.FAILED


LIMITED = """
import multiprocessing, resource

if (multiprocessing.parent_process() is None) is {leader}:
    resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""
"""The code by which a project keeps files short in the process that leads the run, or in others."""


@pytest.mark.parametrize("size", at_every_change([20_000, 100]), ids=["in the middle", "from the first"])
@pytest.mark.parametrize("worker", ["inline", "thread", "process"])
def test_a_recording_without_room_is_neither_a_bug_nor_a_wrong_topology(
    process: Process, project: Path, worker: str, size: int
) -> None:
    """A limit of the length of files stands in for a full disk."""
    with (project / "src" / "parts.py").open("a") as parts:
        parts.write(LIMITED.format(leader=worker != "process", size=size))
    options = ("-q", "--record", "out.viper", "--worker", worker, "-w", "2", "-o", "numbers=40000")
    running = process("run", "doubling", *options)
    _, err = running.communicate()
    assert running.returncode == ExitCode.FAILED, err
    assert "cannot record to" in err
    assert "File too large" in err
