"""``viper scale`` and ``viper run --control``, as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framework import scale
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.model.errors import ScaleError, SuspendError
from framework.runtime.coordination.commands import SOCKET, ask

REPOSITORY = Path(__file__).parents[3]
TARGET = """
import os
import time

from framework import Bolt, Grouping, Spout, Topology
from framework.operators.sinks import ConsoleSink


class Numbers(Spout):
    outputs = ["number"]

    def tuples(self):
        yield from ([number] for number in range(5))
        while not os.path.exists("go"):
            time.sleep(0.001)
        yield from ([number] for number in range(5, 10))


class Negated(Bolt):
    outputs = ["number"]
    config = {"viper.stateless": True, "viper.parallelism.max": 3}

    def process(self, tup):
        self.emit([-tup.values[0]])


class Scaled(Topology):
    numbers = Numbers.spec()
    negated = Negated.spec(inputs={numbers: Grouping.SHUFFLE})
    console = ConsoleSink.spec(inputs={negated: Grouping.GLOBAL})
"""

KEYED = """
import os

from framework import Bolt, Grouping, Spout, Topology
from framework.operators.sinks import ConsoleSink
from framework.operators.state import ValueState


class Numbers(Spout):
    outputs = ["number"]
    number = 0

    def next_tuple(self):
        if self.number == 10:
            raise StopIteration
        if self.number != 5 or os.path.exists("go"):
            self.emit([self.number % 3])
            self.number += 1


class Counted(Bolt):
    outputs = ["number", "count"]
    config = {"viper.parallelism.max": 3}
    seen = ValueState("int64", default=0)

    def process(self, tup):
        self.seen.value += 1
        self.emit([tup.values[0], self.seen.value])


class Keyed(Topology):
    numbers = Numbers.spec()
    counted = Counted.spec(inputs={numbers: Grouping.fields("number")})
    console = ConsoleSink.spec(inputs={counted: Grouping.GLOBAL})
"""


def viper(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="viper")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[str]]:
    """A run that waits for the file ``go``."""
    monkeypatch.chdir(tmp_path)
    with _running(TARGET, {"negated": 1}) as running:
        yield running


@contextmanager
def _running(text: str, tasks: Mapping[str, int]) -> Iterator[subprocess.Popen[str]]:
    Path("scaled.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "framework.cli", "run", "scaled.py", "--control", "here"]
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    assert running.stderr is not None
    with running:
        while not _answers(tasks):
            assert running.poll() is None, running.stderr.read()
        yield running
        running.kill()


def _answers(tasks: Mapping[str, int]) -> bool:
    if not Path("here", SOCKET).exists():  # who asks holds the lock for a moment, which the run wants
        return False
    try:
        return scale("here", {}) == tasks
    except SuspendError:
        return False


def test_scaled_by_a_command(started: subprocess.Popen[str]) -> None:
    scaled = viper("scale", "here", "negated=3")
    assert scaled.exit_code == ExitCode.OK and scaled.stdout == "negated=3\n"
    chosen = viper("scale", "here", "negated=@2")
    assert chosen.exit_code == ExitCode.OK and chosen.stdout == "negated=@2\n"
    for wrong, told in [
        ("negated=4", "negated=4: expected 1 to 3 tasks"),
        ("negated=@0,3", "negated=@0,3: expected some of the tasks from 0 to 2"),
        ("none=1", "'none'"),
    ]:
        refused = viper("scale", "here", wrong)
        assert refused.exit_code == ExitCode.INVALID and told in refused.stderr
    Path("go").touch()
    out, err = started.communicate()
    assert out.split() == [str(-number) for number in range(10)]
    assert "negated goes on with 3 tasks instead of 1 (viper scale)" in err
    assert "negated goes on with task 2 instead of 3 (viper scale)" in err
    assert "\n  tasks of negated: 1, 3 from " in err and ", 1 (@2) from " in err


def test_keys_are_handed_over_by_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with _running(KEYED, {"counted": 1}) as running:
        scaled = viper("scale", "here", "counted=3")
        assert scaled.exit_code == ExitCode.OK and scaled.stdout == "counted=3\n"
        while ask(Path("here"), "scale", tasks={})["now"] != {"counted": 3}:
            assert running.poll() is None
        Path("go").touch()
        out, err = running.communicate()
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows == [[str(number % 3), str(1 + number // 3)] for number in range(10)]
    assert "counted goes on with 3 tasks instead of 1" in err


def test_drained_by_the_same_folder(started: subprocess.Popen[str]) -> None:
    assert viper("stop", "here").exit_code == ExitCode.OK
    Path("go").touch()
    started.communicate()
    assert started.returncode == ExitCode.OK


def test_the_plan_tells_which_tasks_stand_by(started: subprocess.Popen[str]) -> None:
    told = viper("plan", "scaled.py").stdout.splitlines()
    assert told[1] == "negated: 1 of 3 tasks get tuples at first (viper.parallelism.max)"
    assert json.loads(viper("plan", "scaled.py", "--json").stdout)["scalable"] == {"negated": 1}
    with pytest.raises(ScaleError, match="negated=4"):
        scale("here", {"negated": 4})


def test_there_must_be_such_a_run(tmp_path: Path) -> None:
    refused = viper("scale", str(tmp_path), "negated=3")
    assert refused.exit_code == ExitCode.FAILED and "no run is going on" in refused.stderr


@pytest.mark.parametrize(
    "wrong", ["negated", "=3", "negated=", "negated=x", "negated=-1", "negated=@", "negated=@0,"]
)
def test_what_is_no_number_of_tasks(wrong: str, tmp_path: Path) -> None:
    refused = viper("scale", str(tmp_path), "--", wrong)
    assert refused.exit_code == ExitCode.USAGE and "expected COMPONENT=TASKS" in refused.stderr


def test_two_numbers_for_one_component(tmp_path: Path) -> None:
    refused = viper("scale", str(tmp_path), "negated=1", "negated=2")
    assert refused.exit_code == ExitCode.USAGE and "scaled twice" in refused.stderr
