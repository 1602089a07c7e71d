"""Signals before a command has taken them for itself, and after it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode

REPOSITORY = Path(__file__).parents[3]
SIGNALS = [signal.SIGINT, signal.SIGTERM]

SLOW_TO_LOAD = """
import os
os.kill(os.getpid(), {number})
"""

ENDING = """
import atexit, os
from framework.cli.program import as_a_program

class Last:
    def __del__(self, kill=os.kill, pid=os.getpid()):  # when Python takes its modules apart
        kill(pid, {number})
        print("last", flush=True)

def at_exit():
    os.kill(os.getpid(), {number})
    print("at exit", flush=True)

with as_a_program():
    atexit.register(at_exit)
    last = Last()
    raise SystemExit(3)
"""


def ran(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("number", SIGNALS)
def test_while_a_topology_is_loaded_they_stop_the_command(number: int, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_TO_LOAD.format(number=int(number)))
    done = ran("-m", "framework.cli", "run", "slow.py", cwd=tmp_path)
    assert done.returncode == ExitCode.STOPPED
    assert done.stderr.startswith("error: stopped") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", SIGNALS)
def test_at_the_end_they_change_nothing(number: int, tmp_path: Path) -> None:
    done = ran("-c", ENDING.format(number=int(number)), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "at exit\nlast\n", "")


HELD = """
import os, signal
from framework.cli import program
program.PATIENCE_S = -1.0
try:
    with program.as_a_program():
        {ends}
finally:
    os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("ends", "code"), [("pass", 0), ("raise SystemExit", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1)]
)
def test_what_holds_it_at_the_end_is_left_with_its_exit_code(ends: str, code: int, tmp_path: Path) -> None:
    assert ran("-c", HELD.format(ends=ends), cwd=tmp_path).returncode == code
