"""A project to run commands in, and the two ways to run them: in this process and in one of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framework.cli import main

REPOSITORY = Path(__file__).parents[3]

COMPONENTS = """
from framework import Bolt, SeekableSpout, Spout, ValueState


class Numbers(Spout):
    outputs = ["number"]

    def tuples(self):
        for number in range(self.storm_conf.get("numbers", 10)):
            yield [number]


class Counted(SeekableSpout):
    outputs = ["number"]
    next = 0
    config = {"viper.spout.bounded": True}

    def next_tuple(self):
        if self.next == 10:
            raise StopIteration
        self.next += 1
        self.emit([self.next], tup_id=self.next)

    def offset(self):
        return self.next

    def seek(self, offset):
        self.next = offset


class Endless(Spout):
    outputs = ["number"]

    def next_tuple(self):
        self.emit([1])


class Double(Bolt):
    outputs = ["number"]

    def process(self, tup):
        self.emit([2 * tup.values.number])


class Seen(Bolt):
    outputs = ["number"]
    seen = ValueState("int64", default=0)

    def process(self, tup):
        self.emit([self.seen.add(2 * tup.values.number)])


class Broken(Bolt):
    outputs = ["number"]

    def process(self, tup):
        raise ZeroDivisionError("no such number")


class Talkative(Double):
    def process(self, tup):
        print("printed", tup.values.number)
        self.logger.debug("debugged %d", tup.values.number)
        super().process(tup)


class Inspected(Double):
    def process(self, tup):
        breakpoint()
        super().process(tup)


class Stuck(Bolt):
    def process(self, tup):
        import os, time

        os.write(1, b"stuck\\n")
        time.sleep(600)
"""

TOPOLOGY = """
from framework import Grouping, Topology
from framework.operators.sinks import ConsoleSink
import parts


class Numbers(Topology):
    numbers = parts.{spout}.spec()
    double = parts.{bolt}.spec(inputs={{numbers: Grouping.SHUFFLE}}, config={{"viper.stateless": True}})
"""

SINK = "    console = ConsoleSink.spec(inputs={double: Grouping.GLOBAL})\n"

WRONG = """
from framework import Grouping, Topology
import parts


class Wrong(Topology):
    config = {"viper.jumbo.sise": 2}
    numbers = parts.Numbers.spec()
    double = parts.Double.spec(inputs={numbers: Grouping.fields("nubmer")})
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with topologies, which is the current one; modules imported from it are forgotten."""
    (tmp_path / "src").mkdir()
    (tmp_path / "topologies").mkdir()
    (tmp_path / "src" / "parts.py").write_text(COMPONENTS)
    for name, spout, bolt in (
        ("doubling", "Numbers", "Double"),
        ("endless", "Endless", "Double"),
        ("broken", "Numbers", "Broken"),
        ("talkative", "Numbers", "Talkative"),
        ("inspected", "Numbers", "Inspected"),
    ):
        text = TOPOLOGY.format(spout=spout, bolt=bolt) + SINK
        (tmp_path / "topologies" / f"{name}.py").write_text(text)
    (tmp_path / "topologies" / "stuck.py").write_text(TOPOLOGY.format(spout="Endless", bolt="Stuck"))
    (tmp_path / "topologies" / "wrong.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def viper(project: Path) -> Callable[..., Result]:
    """Run a command in this process."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="viper")

    return invoke


@pytest.fixture
def process(project: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command in a process of its own, with pipes around it."""
    started: list[subprocess.Popen[str]] = []

    def start(
        *arguments: str, start_new_session: bool = False, **environ: str
    ) -> subprocess.Popen[str]:
        running = subprocess.Popen(
            [sys.executable, "-m", "framework.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=start_new_session,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environ},
        )
        started.append(running)
        return running

    yield start
    for running in started:
        running.kill()
        for pipe in (running.stdin, running.stdout, running.stderr):
            if pipe is not None:
                pipe.close()
        running.wait()
