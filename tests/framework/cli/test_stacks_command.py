"""``viper stacks``, beside runs that are processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from framework.api import stacks
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.runtime.coordination.commands import SOCKET
from framework.runtime.execution.executor import Executor
from tests.framework.runtime.workers.running import Workers, every_kind

REPOSITORY = Path(__file__).parents[3]
TARGET = """
import os
import time
from framework import Bolt, Spout, Topology


class Numbers(Spout):
    outputs = ["number"]

    def tuples(self):
        yield [1]


class Stuck(Bolt):
    def process(self, tup):
        open("stuck", "w").close()
        self.wait_for_go()

    def wait_for_go(self):
        while not os.path.exists("go"):
            time.sleep(0.001)


class Waiting(Topology):
    numbers = Numbers.spec()
    stuck = Stuck.spec(inputs=[numbers])
"""


@contextmanager
def stuck_run(folder: Path, *arguments: str) -> Iterator[Path]:
    """A run whose bolt is in `process` until the block ends; yields the folder by which it is found."""
    (folder / "waiting.py").write_text(TARGET)
    command = [sys.executable, "-m", "framework.cli", "run", "waiting.py", "-q", "--control", "found"]
    command += arguments
    environment = {"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            while not (folder / "stuck").exists() or not (folder / "found" / SOCKET).exists():
                assert process.poll() is None, process.communicate()[1]
            yield folder / "found"
        finally:
            (folder / "go").touch()
            assert process.wait(30) == ExitCode.OK, process.communicate()[1]


@pytest.mark.few(1)
@every_kind
def test_the_users_frames_of_a_stuck_task_are_shown(workers: Workers, tmp_path: Path) -> None:
    with stuck_run(tmp_path, "--worker", workers.kind, "--workers", str(workers.number)) as folder:
        shown = CliRunner().invoke(main, ["stacks", str(folder)])
        (found,) = stacks(folder)["tasks"]
        as_json = CliRunner().invoke(main, ["stacks", str(folder), "--json"])
    assert shown.exit_code == ExitCode.OK
    first, *frames, other = shown.stdout.splitlines()
    assert first.startswith("stuck:")
    assert first.endswith("in process")
    assert "waiting.py" in frames[0]
    assert frames[0].endswith("in process")
    assert "in wait_for_go" in "".join(frames)
    assert (found["callback"], found["stack"].splitlines()[0]) == ("process", frames[0])
    assert json.loads(as_json.stdout)["tasks"][0]["task"] == found["task"]
    (outside,) = json.loads(as_json.stdout)["others"]
    assert outside["task"].startswith("numbers:")
    assert outside["doing"] == "has ended" or "waits for" in outside["doing"]
    assert other.startswith(f"{outside['task']}, process {outside['process']}, in no callback: it ")


class Seen:
    """A task of which only that is known which another thread reads."""

    name = "other:2"

    def __init__(self, **known: Any) -> None:
        self.is_finished = known.get("is_finished", False)
        self.is_source = known.get("is_source", False)
        self.in_flight = known.get("in_flight", 0)
        self.emitter = SimpleNamespace(blocked=known.get("blocked", False))
        self.slot = SimpleNamespace(restart_at_s=known.get("restart_at_s"))


@pytest.mark.parametrize(
    ("known", "current", "told"),
    [
        ({"is_finished": True}, None, "has ended"),
        ({"blocked": True}, None, "waits for room for its output"),
        ({"restart_at_s": 1.0}, None, "made again, as it has raised"),
        ({}, Seen(), "waits for its turn, or for input: its thread is in other:2"),
        ({}, None, "waits for input"),
        ({"is_source": True}, None, "has nothing to bring now"),
        ({"in_flight": 3}, None, "awaits its coroutines for 3 tuples"),
    ],
)
def test_a_task_in_no_callback_says_what_it_waits_for(
    known: dict[str, Any], current: Any, told: str
) -> None:
    executor: Any = SimpleNamespace(current=current, _in_callbacks=[], _active=True)
    assert told in Executor.instead_of_a_callback(executor, cast(Any, Seen(**known)))


def test_inactive_spouts_and_callbacks_below_others() -> None:
    task: Any = Seen(is_source=True)
    executor: Any = SimpleNamespace(current=None, _in_callbacks=[], _active=False)
    assert Executor.instead_of_a_callback(executor, task) == "waits until the spouts are activated"
    executor = SimpleNamespace(current=Seen(), _in_callbacks=[task], _active=True)
    assert Executor.instead_of_a_callback(executor, task).startswith("is in a callback that has no room")


def test_without_a_run_there_is_nothing_to_show(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["stacks", str(tmp_path)])
    assert done.exit_code == ExitCode.FAILED
    assert "no run is going on" in done.stderr
