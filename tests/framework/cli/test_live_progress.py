"""The progress of a run while a callback does not return, and the terminal after its end.

Each test takes a second or two, as callbacks are checked once a second.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.framework.cli.conftest import REPOSITORY
from tests.portions import at_every_change

Process = Callable[..., "subprocess.Popen[str]"]
KINDS = ["process", "inline", "thread"]
PATIENCE_S = 30.0

GATED = """
from framework import Grouping, Spout, Topology
import parts


class Gated(parts.Bolt):
    outputs = ["number"]

    def process(self, tup):
        with open("gate", "rb") as gate:  # which blocks until somebody opens the other end
            gate.read()
        raise ZeroDivisionError("behind the gate")


class Starting(Gated):
    def initialize(self, storm_conf, context):
        with open("gate", "rb") as gate:
            gate.read()


class Failing(Topology):
    numbers = parts.Numbers.spec()
    slow = Gated.spec(inputs={numbers: Grouping.SHUFFLE})


class Loading(Topology):
    numbers = parts.Numbers.spec()
    slow = Starting.spec(inputs={numbers: Grouping.SHUFFLE})
"""


@pytest.fixture
def gated(project: Path) -> Path:
    (project / "topologies" / "gated.py").write_text(GATED)
    os.mkfifo(project / "gate")
    return project


class OnTerminal:
    """A command on a terminal of its own, and what it has written there."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        self.running = subprocess.Popen(
            [sys.executable, "-m", "framework.cli", "run", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TERM": "xterm", "COLUMNS": "200"},
        )
        os.close(theirs)
        self.written = ""

    def read_until(self, text: str) -> None:
        """Read until a text has been written, wherever it stands now."""
        ends_at = time.monotonic() + PATIENCE_S
        while text not in self.written:
            assert time.monotonic() < ends_at, f"{text!r} was not written, but {self.written!r}"
            assert self._read(), f"ended without {text!r}: {self.written!r}"

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._ours, f"{line}\n".encode())

    def ended(self) -> int:
        """Read to the end; the exit code."""
        while self._read():
            pass
        return self.running.wait(PATIENCE_S)

    def screen(self) -> list[str]:
        """The lines that can be seen."""
        lines, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", self.written):
            line = lines[row]
            if part == "\r":
                column = 0
            elif part == "\n":
                row += 1
                lines += [""] * (row == len(lines))
            elif part.startswith("\x1b") and part.endswith("A"):
                row -= int(part[2:-1])
            elif part in ("\x1b[K", "\x1b[J"):
                lines[row] = line[:column]
                del lines[row + 1 if part.endswith("J") else len(lines) :]
            elif not part.startswith("\x1b"):
                lines[row] = line[:column] + part + line[column + len(part) :]
                column += len(part)
        return [line for line in lines if line]

    def kill(self) -> None:
        self.running.kill()
        self.running.wait()
        os.close(self._ours)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], PATIENCE_S)[0]:
            return False
        try:
            data = os.read(self._ours, 4096)
        except OSError:  # how a terminal tells that nobody has it open any more
            return False
        self.written += data.decode()
        return bool(data)


@pytest.fixture
def terminal(project: Path) -> Iterator[Callable[..., OnTerminal]]:
    started: list[OnTerminal] = []

    def start(*arguments: str) -> OnTerminal:
        started.append(OnTerminal(*arguments))
        return started[-1]

    yield start
    for running in started:
        running.kill()


Terminal = Callable[..., OnTerminal]

BEGUN = "   0.0 s  0 emitted  0 processed  0/s"
"""The progress of a run that has just begun."""


@pytest.mark.parametrize("kind", at_every_change(KINDS))
def test_who_is_waited_for_is_shown_and_so_is_a_drain(kind: str, terminal: Terminal) -> None:
    shown = terminal("stuck", "--worker", kind)
    shown.read_until("double:1 has been in process for 1 s")
    shown.running.send_signal(signal.SIGINT)
    shown.read_until("draining; Ctrl-C again stops at once")
    shown.read_until("s  draining  double:1 has been in process for")
    shown.running.send_signal(signal.SIGINT)
    assert shown.ended() == ExitCode.STOPPED
    assert shown.screen()[-1] == "error: stopped at once; what was in flight is lost"
    # What the bolt writes past Python to the terminal stands where the cursor was, and keeps that line.
    assert [line for line in shown.screen() if "emitted" in line and line != f"{BEGUN}stuck"] == []


@pytest.mark.parametrize("kind", at_every_change(KINDS))
def test_a_run_that_fails_leaves_no_progress_behind(kind: str, terminal: Terminal, gated: Path) -> None:
    shown = terminal("gated:Failing", "--worker", kind)
    shown.read_until("slow:2 has been in process for 1 s")
    (gated / "gate").write_bytes(b"go")
    assert shown.ended() == ExitCode.FAILED
    assert [line for line in shown.screen() if re.match(r" *[0-9.]+ s  ", line)] == []
    assert "behind the gate" in shown.screen()[-2] + shown.screen()[-1]


@pytest.mark.parametrize("kind", at_every_change(KINDS))
def test_a_component_that_is_slow_to_start_is_shown(kind: str, terminal: Terminal, gated: Path) -> None:
    shown = terminal("gated:Loading", "--worker", kind)
    shown.read_until("   0.0 s  starting  slow:2 has been in initialize for 1 s")
    (gated / "gate").write_bytes(b"go")
    shown.read_until("slow:2 has been in process for 1 s")


@pytest.mark.parametrize("kind", at_every_change(KINDS))
def test_without_a_terminal_there_are_lines(kind: str, process: Process) -> None:
    """It takes the five seconds between two such lines."""
    running = process("run", "stuck", "--worker", kind)
    assert running.stderr is not None
    lines = iter(running.stderr.readline, "")
    line = next(line for line in lines if re.match(r" *[0-9.]+ s  ", line))
    assert re.match(r" +5\.\d s  double:1 has been in process for [3-6] s  ", line)
    running.send_signal(signal.SIGINT)
    assert next(lines) == "draining; Ctrl-C again stops at once\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kind", "options"), [*((kind, ("-t", "1")) for kind in KINDS), ("inline", ("--max-tuples", "1"))]
)
def test_who_did_not_return_is_blamed_for_an_unfinished_drain(
    kind: str, options: tuple[str, ...], process: Process
) -> None:
    running = process("run", "stuck", "--worker", kind, *options, "-o", "viper.drain.timeout.secs=0.1")
    _, stderr = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == ExitCode.FAILED
    warnings = [line for line in stderr.splitlines() if " WARNING " in line]
    assert [line for line in warnings if "double:1 has not returned from" in line] != []
    # A logger's name before the message may be the spout's; the blame behind it is what counts.
    blamed = [line.partition("not drained within")[2] for line in warnings]
    assert not any("numbers:2" in blame for blame in blamed), warnings


def test_json_stays_json_in_whatever_thread_it_is_said(process: Process) -> None:
    running = process("run", "stuck", "--log-format", "json")
    assert running.stdout is not None and running.stderr is not None
    assert running.stdout.readline() == "stuck\n"
    running.send_signal(signal.SIGINT)
    line = running.stderr.readline()
    assert line.startswith("{") and "draining" in line


def test_a_table_is_shown_from_the_first_second_on(terminal: Terminal, gated: Path) -> None:
    shown = terminal("gated:Failing", "--worker", "thread")
    shown.read_until("capacity")
    head = next(line for line in shown.screen() if line.startswith("component"))
    assert head.split()[:2] == ["component", "/s"]
    (gated / "gate").write_bytes(b"go")
    assert shown.ended() == ExitCode.FAILED
    assert [line for line in shown.screen() if "capacity" in line] == []
