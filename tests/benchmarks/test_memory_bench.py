"""The resources of a tree of processes are measured from outside, shared memory once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number

Load = Callable[[str], ModuleType]
MB = 1_000_000

HOLDS_MEMORY = f"""
import mmap, os, sys
shared = mmap.mmap(-1, {40 * MB})
shared.write(bytes({40 * MB}))
if os.fork() == 0:
    shared.seek(0)
    shared.read()
    own = bytearray(b"x") * {30 * MB}
    print("held", flush=True)
sys.stdin.read()
"""

USES_CPU = """
import sys, time
while time.process_time() < 0.4:
    pass
print("used", flush=True)
sys.stdin.read()
"""


@contextmanager
def said(program: str) -> Iterator[int]:
    """A process that has done what it does and waits; its pid."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stdout.readline()
        yield process.pid
        process.stdin.close()


def test_memory_counts_descendants_and_what_they_share_once(load_module: Load) -> None:
    with said(HOLDS_MEMORY) as pid:
        found = load_module("processes").memory(pid)

    assert 40 * MB <= found.shared_bytes < 41 * MB
    assert 70 * MB <= found.total_bytes < 110 * MB


def test_cpu_is_that_of_the_whole_life(load_module: Load) -> None:
    with said(USES_CPU) as pid:
        found = load_module("processes").cpu_seconds(pid)

    assert 0.4 <= found < 1.4


def test_a_process_that_has_ended_takes_nothing(load_module: Load) -> None:
    with said("print('gone', flush=True)") as pid:
        pass
    processes = load_module("processes")

    assert processes.memory(pid).total_bytes == 0 and processes.cpu_seconds(pid) == 0


@pytest.mark.slow
def test_every_place_sink_and_length_has_its_line(run_script: Run) -> None:
    rows = run_script("memory.py", "--tuples", "1000", "300000")

    assert [row[:3] for row in rows] == [
        [place, sink, tuples]
        for place in ("inline", "2 processes")
        for sink in ("fast", "slow")
        for tuples in ("1,000", "300,000")
    ]
    for row in rows:
        peak, shared, late, looks = map(number, row[3:])
        assert shared < late <= peak and looks >= 1
        if row[2] == "300,000":  # the others are over before the first look
            assert shared == 0 if row[0] == "inline" else shared > 0
