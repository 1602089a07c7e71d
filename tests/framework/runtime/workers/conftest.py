"""The rules for every test of workers: it ends in time, and leaves nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests import shared_memory
from tests.framework.runtime.workers.running import Workers
from tests.framework.runtime.workers.watching import bounded

Gate = Callable[[str], str]
Viper = Callable[..., "subprocess.Popen[str]"]
REPOSITORY = Path(__file__).parents[4]
TARGETS = "tests.framework.runtime.workers.targets"
SLOW_TEST_S = 300.0
"""Seconds that a test that is marked as slow may take."""


@pytest.fixture(autouse=True)
def _ends_and_leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    threads, segments = set(threading.enumerate()), shared_memory.names()
    with bounded(SLOW_TEST_S) if request.node.get_closest_marker("slow") else bounded():
        yield
    assert multiprocessing.active_children() == []
    assert shared_memory.left_since(segments) == set()
    left = set(threading.enumerate()) - threads
    assert [thread.name for thread in left if not thread.daemon] == []


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """Makes named pipes for `wait_at` and `open_gate`; returns their paths."""
    made: list[str] = []

    def make(name: str) -> str:
        made.append(str(tmp_path / name))
        os.mkfifo(made[-1])
        return made[-1]

    yield make
    for path in made:  # let go who still waits there
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A folder for `marked`."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def viper() -> Iterator[Viper]:
    """Start ``viper run`` on a target of `targets`, in a process group of its own, with pipes around it."""
    started: list[subprocess.Popen[str]] = []

    def start(target: str, *arguments: str, workers: Workers, **options: Any) -> subprocess.Popen[str]:
        said = [f"-o{key.replace('__', '.')}={value}" for key, value in (workers.options | options).items()]
        command = [sys.executable, "-m", "framework.cli", "run", f"{TARGETS}:{target}", *arguments, *said]
        running = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=REPOSITORY,
            start_new_session=True,
        )
        started.append(running)
        return running

    yield start
    for running in started:
        with running, suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
