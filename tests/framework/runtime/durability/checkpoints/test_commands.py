"""``viper run --checkpoints``, ``viper stop`` and ``viper run --from``, as processes and in this one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import framework
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.model.errors import RunNotFoundError, SuspendError
from framework.runtime.coordination.commands import SOCKET, answering, ask
from framework.runtime.durability.checkpoints.lock import locked

REPOSITORY = Path(__file__).parents[5]
TARGET = """
import os
from array import array

from framework import Block, Grouping, PartitionedSpout, Topology
from framework.operators.sinks import ConsoleSink


class Numbers(PartitionedSpout):
    outputs = ["number"]
    partitions = 1
    identity = "numbers"

    def blocks(self, partition, start_us):
        for number in range(start_us or 0, 10):
            yield Block(array("q", [number]), [(number,)])
            while number == 4 and not os.path.exists("go"):
                yield None


class Counting(Topology):
    numbers = Numbers.spec()
    console = ConsoleSink.spec(inputs={numbers: Grouping.GLOBAL})
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.joinpath("counting.py").write_text(TARGET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def viper(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="viper")


@pytest.fixture
def started(project: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that has brought the numbers up to 4, and waits for others."""
    command = [sys.executable, "-m", "framework.cli", "run", "counting.py", "--checkpoints", "kept"]
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    assert running.stdout is not None
    with running:
        for number in range(5):
            assert running.stdout.readline() == f"{number}\n"
        yield running
        running.kill()


def test_stopped_with_a_checkpoint_and_gone_on(project: Path, started: subprocess.Popen[str]) -> None:
    assert started.stderr is not None
    stopped = viper("stop", "kept", "--checkpoint")
    assert stopped.exit_code == ExitCode.OK, stopped.output
    assert stopped.stdout == "kept/checkpoint-000001\n"
    assert started.wait() == ExitCode.OK
    told = started.stderr.read()
    assert "counting: suspended after" in told and "go on with --from kept/checkpoint-000001" in told
    project.joinpath("go").touch()
    again = viper("run", "counting.py", "--from", "kept", "--report", "report.json")
    assert again.exit_code == ExitCode.OK, again.output
    assert again.stdout == "5\n6\n7\n8\n9\n"
    assert json.loads(project.joinpath("report.json").read_text())["checkpoint"] is None


def test_found_by_its_id(project: Path, started: subprocess.Popen[str]) -> None:
    assert viper("checkpoint", str(started.pid)).stdout == "kept/checkpoint-000001\n"
    stopped = viper("stop", str(started.pid), "--checkpoint")
    assert stopped.stdout == "kept/checkpoint-000002\n", stopped.output
    assert started.wait() == ExitCode.OK


def test_stopped_without_one(project: Path, started: subprocess.Popen[str]) -> None:
    stopped = viper("stop", "kept")
    assert (stopped.exit_code, stopped.stderr) == (ExitCode.OK, "draining\n")
    assert started.wait() == ExitCode.OK
    nothing = viper("run", "counting.py", "--from", "kept")
    assert nothing.exit_code == ExitCode.INVALID
    assert nothing.stderr == "error: there is no checkpoint in kept\n"


def test_a_run_that_was_killed_leaves_nothing_in_the_way(
    project: Path, started: subprocess.Popen[str]
) -> None:
    started.kill()
    started.wait()
    assert project.joinpath("kept", SOCKET).exists()
    stopped = viper("stop", "kept", "--checkpoint")
    assert stopped.exit_code == ExitCode.FAILED
    told = "error: no run is going on that is found by kept: the last one there, of counting, failed or "
    assert stopped.stderr.startswith(f"{told}was killed before its first checkpoint: viper run TARGET")
    project.joinpath("go").touch()
    assert viper("run", "counting.py", "--checkpoints", "kept").exit_code == ExitCode.OK
    assert sorted(os.listdir("kept")) == ["lock", "run.json"]


def test_from_a_program(project: Path) -> None:
    paths: list[Path] = []

    def suspend() -> None:
        while not paths:
            with suppress(SuspendError):  # it has not begun
                paths.append(framework.suspend("kept"))

    thread = threading.Thread(target=suspend)
    thread.start()
    report = framework.run("counting.py", checkpoints="kept")
    thread.join()
    assert report.reason == "suspended" and paths == [Path("kept/checkpoint-000001")]
    project.joinpath("go").touch()
    assert framework.run("counting.py", start="kept").emitted == 10 - report.emitted


# -- the socket


def test_a_folder_whose_path_is_long(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    with locked(folder), answering(folder, {"work": lambda: {"done": 1}}):
        assert ask(folder, "work") == {"done": 1}
        assert folder.joinpath(SOCKET).stat().st_mode & 0o777 == 0o600
        with pytest.raises(SuspendError, match="the run does not know what to do for"):
            ask(folder, "play")
    assert not folder.joinpath(SOCKET).exists()


def test_whoever_finds_the_socket_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Watched(socket.socket):
        def listen(self, *backlog: int) -> None:
            assert not tmp_path.joinpath(SOCKET).exists()
            super().listen(*backlog)
            begun.append(True)

    begun: list[bool] = []
    monkeypatch.setattr(socket, "socket", Watched)
    with locked(tmp_path):
        for _ in range(2):  # the second time in a place that a killed run has left
            with answering(tmp_path, {"work": lambda: {"done": 1}}):
                assert ask(tmp_path, "work") == {"done": 1}
            for name in (SOCKET, "control.coming"):
                tmp_path.joinpath(name).touch()
    assert begun == [True, True]


def test_a_run_that_does_not_answer(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(RunNotFoundError, match=r"gives no answer: .*No such file"):
        ask(tmp_path, "work")


def test_a_checkpoint_of_a_run_that_goes_on(project: Path, started: subprocess.Popen[str]) -> None:
    made = viper("checkpoint", "kept")
    assert (made.exit_code, made.stdout) == (ExitCode.OK, "kept/checkpoint-000001\n"), made.output
    assert "no task stood still for more than" in made.stderr
    assert viper("checkpoint", "kept").stdout == "kept/checkpoint-000002\n"
    assert started.poll() is None
    started.kill()
    started.wait()
    project.joinpath("go").touch()
    again = viper("run", "counting.py", "--from", "kept")
    assert again.exit_code == ExitCode.OK, again.output
    assert again.stdout == "5\n6\n7\n8\n9\n"
    nobody = viper("checkpoint", "kept")
    assert nobody.exit_code == ExitCode.FAILED
