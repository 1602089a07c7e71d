"""A spout that waits for input when the run is to end is no failure: nothing that it has brought is lost.

Each test takes the second that a callback has to come to its end.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.portions import at_every_change

Process = Callable[..., "subprocess.Popen[str]"]

WAITING = """
import queue, sys

from streamparse import Spout, Topology

from framework import Grouping
from framework import Spout as OurSpout
from framework import Topology as OurTopology
from framework.operators.sinks import ConsoleSink


def messages():
    yield "first"
    yield "last"
    sys.stderr.write("waits\\n")
    queue.Queue().get()  # as the iterator of a consumer does while nothing comes


class Consumer(Spout):
    outputs = ["message"]

    def initialize(self, conf, context):
        self.messages = messages()

    def next_tuple(self):
        self.emit([next(self.messages)])


class Tracked(Consumer):
    def next_tuple(self):
        message = next(self.messages)
        self.emit([message], tup_id=message)


class Loop(Consumer):
    def next_tuple(self):
        for message in self.messages:
            self.emit([message])


class Drawn(OurSpout):
    outputs = ["message"]

    def tuples(self):
        for message in messages():
            yield [message]


class Ported(Topology):
    source = {cls}.spec()
    console = ConsoleSink.spec(inputs=[source])


class Ours(OurTopology):
    source = Drawn.spec()
    console = ConsoleSink.spec(inputs={{source: Grouping.GLOBAL}})
"""
MANNERS = {
    "inline": ("--worker", "inline"),
    "inline, a thread of its own": ("--worker", "inline", "-o", "viper.blocking=true"),
    "thread": ("--worker", "thread", "-o", "viper.blocking=true"),
    "process": ("--worker", "process"),
    "process of several": ("--worker", "process", "-o", "viper.isolated=false", "-o", "viper.blocking=true"),
}


BY_CTRL_C = [
    ("Consumer", "inline"),
    ("Loop", "process"),
    ("Tracked", "thread"),
    ("Drawn", "process of several"),
    # The first of each run at every change; and the others:
    *(("Consumer", manner) for manner in MANNERS if manner != "inline"),
    *(("Loop", manner) for manner in ("inline", "thread")),
    *(("Tracked", manner) for manner in ("inline", "process")),
    *(("Drawn", manner) for manner in ("inline", "thread")),
]


@pytest.fixture
def start(process: Process, project: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(cls: str, manner: str, *options: str) -> subprocess.Popen[str]:
        (project / "waiting.py").write_text(WAITING.format(cls="Consumer" if cls == "Drawn" else cls))
        target = f"waiting.py:{'Ours' if cls == 'Drawn' else 'Ported'}"
        return process("run", target, *MANNERS[manner], "-o", "viper.drain.timeout.secs=600", *options)

    return start


@pytest.mark.few(1)
@pytest.mark.parametrize(("cls", "manner"), at_every_change(BY_CTRL_C, 4))
def test_ctrl_c_ends_the_run_and_what_was_brought_is_processed(
    cls: str, manner: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    running = start(cls, manner)
    assert running.stdout is not None and running.stderr is not None
    before = list(iter(running.stderr.readline, "waits\n"))
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.stdout.read(), running.stderr.read()
    assert (running.wait(), stdout) == (ExitCode.OK, "first\nlast\n"), (before, stderr)
    assert "interrupted after" in stderr
    assert "not drained" not in stderr


@pytest.mark.parametrize("manner", at_every_change(["process", "inline", "thread"]))
def test_so_does_the_end_of_its_time(manner: str, start: Callable[..., subprocess.Popen[str]]) -> None:
    stdout, stderr = start("Consumer", manner, "-t", "0.5").communicate(timeout=60)
    assert "first\nlast\n".startswith(stdout)
    assert "time is up after" in stderr
    assert "not drained" not in stderr
