"""A process ends with the one that it works for, by each of the means alone."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.common import lifeline
from framework.common.lifeline import ORPHANED

REPOSITORY = Path(__file__).parents[3]
TIMEOUT_S = 20.0
"""Seconds that the end of a process may take on a busy machine."""
STARTER = """
    import multiprocessing, os, signal, sys
    from framework.common import lifeline

    def live(received, means):
        if means == "signal":
            lifeline.ReceivedLifeline._watch = lambda self: signal.pause()
        else:
            lifeline._prctl = None
        received.end_with_it()
        print(os.getpid(), flush=True)
        signal.pause()

    if __name__ == "__main__":
        (means,) = sys.argv[1:]
        if means == "pipe":
            del os.pidfd_open
        process = multiprocessing.get_context("spawn").Process(target=live, args=(lifeline.Lifeline(), means))
        process.start()
        process.join()
"""
"""A process that starts another and waits for it; the other one prints its pid, and waits for ever."""
MEANS = [
    pytest.param("pidfd", marks=pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="has no pidfds")),
    "pipe",
    pytest.param("signal", marks=pytest.mark.skipif(lifeline._prctl is None, reason="has no such signal")),
]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def starter(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "starter.py"
    script.write_text(textwrap.dedent(STARTER))
    with subprocess.Popen(
        [sys.executable, str(script), request.param], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as started:
        yield started
        started.kill()


@pytest.mark.few(1)
@pytest.mark.parametrize("starter", MEANS, indirect=True)
def test_the_end_of_the_other_process_ends_this_one(starter: subprocess.Popen[str]) -> None:
    assert starter.stdout is not None
    pid = int(starter.stdout.readline())
    starter.kill()
    try:
        # Its end of the pipe is closed when it has ended, and nobody else has one but the resource tracker,
        # which ends with the starter.
        assert select.select([starter.stdout], [], [], TIMEOUT_S)[0]
        assert starter.stdout.read() == ""
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        raise


def test_one_that_has_ended_before_ends_this_one_at_once() -> None:
    code = """
        import os, subprocess, sys
        from framework.common.lifeline import ReceivedLifeline

        other = subprocess.Popen([sys.executable, "-c", ""])
        watched = os.pidfd_open(other.pid)
        other.wait()
        ReceivedLifeline(watched).end_with_it()
        print("still here")
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    assert (ran.returncode, ran.stdout) == (ORPHANED, "")
