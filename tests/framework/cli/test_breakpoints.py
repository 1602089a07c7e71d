"""``breakpoint()`` in a component, on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.framework.cli.test_live_progress import OnTerminal

Inspected = Callable[[str], OnTerminal]
PROGRESS = re.compile(r"\d s  .*emitted")


@pytest.fixture
def inspected(project: Path) -> Iterator[Callable[[str], OnTerminal]]:
    """A run of three tuples whose bolt stops at each, by the kind of its worker."""
    started: list[OnTerminal] = []

    def start(kind: str) -> OnTerminal:
        started.append(OnTerminal("inspected", "--worker", kind, "-o", "numbers=3"))
        return started[-1]

    yield start
    for running in started:
        running.kill()


@pytest.mark.parametrize("kind", ["inline", "thread"])
def test_the_debugger_asks_and_answers_on_the_terminal(kind: str, inspected: Inspected) -> None:
    running = inspected(kind)
    running.read_until("(Pdb) ")
    begun = len(running.written)
    running.type("p 'number', tup.values.number * 7 + 1000")
    running.read_until("('number', 1000)")
    running.type("import time; time.sleep(0.5)")  # for which progress would be shown five times
    running.type("print('said', 'aloud')")
    running.read_until("said aloud")
    assert PROGRESS.search(running.written[begun:]) is None
    if sys.version_info >= (3, 13):  # from then on the debugger stops at breakpoint() itself
        running.type("step")
        running.read_until("super().process")
    running.type("step")
    running.read_until("Call")
    running.type("continue")
    for number in (1007, 1014):
        running.read_until("(Pdb) ")
        running.type("p 'number', tup.values.number * 7 + 1000")
        running.read_until(f"('number', {number})")
        running.type("continue")
    assert running.ended() == ExitCode.OK
    assert running.written.count("(Pdb) ") >= 3


def test_a_second_line_is_edited_as_on_any_terminal(inspected: Inspected) -> None:
    running = inspected("inline")
    running.read_until("(Pdb) ")
    running.type("p 'first', 41 + 1")
    running.read_until("('first', 42)")
    running.type("\x1b[A")  # the line before once more
    running.written = ""
    running.read_until("('first', 42)")


def test_a_worker_process_says_that_it_has_no_terminal(inspected: Inspected) -> None:
    running = inspected("process")
    assert running.ended() == ExitCode.FAILED
    assert "breakpoint() in a worker process, which has no terminal: run with" in running.written


def test_who_quits_ends_the_run(inspected: Inspected) -> None:
    running = inspected("inline")
    running.read_until("(Pdb) ")
    running.type("quit")
    assert running.ended() == ExitCode.FAILED
    assert "BdbQuit" in running.written
