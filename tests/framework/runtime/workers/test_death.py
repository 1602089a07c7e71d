"""Processes that die at any moment, and are not restarted: the run ends with them, nothing stays behind."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import WorkerError
from framework.operators.sinks import CountingSink
from framework.runtime.workers import supervisor
from tests.framework.runtime.workers.background import Background
from tests.framework.runtime.workers.components import Endless, Forward, wait_at
from tests.framework.runtime.workers.conftest import REPOSITORY, Gate, Viper
from tests.framework.runtime.workers.running import PROCESSES
from tests.framework.runtime.workers.trouble import Deaf, Exits, Kills

MOMENTS = 20
LATEST_S = 0.4
"""Seconds after the first process was started within which one is killed."""
NO_RESTART = {"viper__worker__restart__tries": 0}
AT_ONCE_S = 3.0
"""Seconds within which a run has ended; less than a worker has that does not answer."""


def topology(middle: type[Bolt] = Forward) -> TopologyBuilder:
    """The source is on worker 1, the bolt between on worker 2, the sink on worker 3."""
    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("middle", middle).shuffle_grouping("source")
    builder.set_bolt("sink", CountingSink).global_grouping("middle")
    return builder


class Killer(Background):
    """Kills one of the worker processes after a while."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__()
        self.victim = draw.randrange(3)
        self.pid = 0
        self.at_s = 0.0
        self._after_s = draw.random() * LATEST_S

    def work(self) -> None:
        name = f"viper-worker-{self.victim + 1}"
        while not (found := [p.pid for p in multiprocessing.active_children() if p.name == name]):
            if self._over.wait(0.001):
                return
        self._over.wait(self._after_s)
        (self.pid,), self.at_s = found, time.monotonic()
        os.kill(self.pid, signal.SIGKILL)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(MOMENTS))
def test_a_worker_that_is_killed_at_any_moment_ends_the_run_at_once(seed: int) -> None:
    with Killer(random.Random(seed)) as killer, pytest.raises(WorkerError) as caught:
        PROCESSES.run(topology(), **NO_RESTART)
    assert time.monotonic() - killer.at_s < AT_ONCE_S
    task = ("source:3", "middle:1", "sink:2")[killer.victim]
    assert re.match(
        rf"worker process {killer.victim + 1} \(pid {killer.pid}: {task}\) was killed by SIGKILL("
        ": what was in flight and the state of its tasks are lost| before the run began"
        "| while its components were made and initialized)",
        str(caught.value),
    )


@pytest.mark.parametrize("at", [0, 1, 5000])
def test_a_worker_that_is_killed_in_a_callback(at: int) -> None:
    with pytest.raises(WorkerError, match=r"^worker process 2 \(pid \d+: middle:1\) was killed by SIGKILL"):
        PROCESSES.run(topology(Kills), kill__at=at, **NO_RESTART)


def test_a_worker_that_finds_no_memory_for_its_channels() -> None:
    """A process that touches a page of a memory file that cannot be had gets SIGBUS."""
    said = "was killed by SIGBUS: there is no memory left for the channels"
    with pytest.raises(WorkerError, match=said):
        PROCESSES.run(topology(Kills), kill__at=5, kill__by=int(signal.SIGBUS), **NO_RESTART)


@pytest.mark.parametrize("status", [0, 7])
def test_a_bolt_that_ends_its_process(status: int) -> None:
    with pytest.raises(WorkerError, match=rf"worker process 2 .*middle:1\) ended with status {status}: "):
        PROCESSES.run(topology(Exits), exit__at=100, exit__status=status, **NO_RESTART)


def test_a_worker_that_hears_nothing_any_more_is_killed(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LAST_CALL_S", 0.3)
    with pytest.raises(WorkerError, match=r"2 .*middle:1\) did not end in time, and was killed"):
        PROCESSES.run(
            topology(Deaf), {"max_tuples": 10}, gate__never=gate("never"), viper__drain__timeout__secs=0.1
        )


# -- what stays behind

SCRIPT = """
    from framework.model.errors import WorkerError
    from tests import shared_memory
    from tests.framework.runtime.workers.running import PROCESSES
    from tests.framework.runtime.workers.test_death import NO_RESTART, topology
    from tests.framework.runtime.workers.trouble import Kills

    before = shared_memory.names()
    try:
        PROCESSES.run(topology(Kills), kill__at=5000, **NO_RESTART)
    except WorkerError:
        print(shared_memory.left_since(before))
"""


def test_a_dead_worker_leaves_neither_files_nor_memory(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(tmp_path)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.stdout, ran.stderr) == ("set()\n", "")
    assert list(tmp_path.iterdir()) == []


def test_workers_whose_parent_is_killed_end_at_once(viper: Viper, marks: Path) -> None:
    running = viper("endless", "-q", workers=PROCESSES, marks=marks)
    assert running.stdout is not None
    assert running.stdout.readline() == "0\n"
    ends_with_its_parent(running)


def test_so_does_one_whose_callback_does_not_return(viper: Viper, gate: Gate) -> None:
    arrived = gate("arrived")
    running = viper("stuck", "-q", workers=PROCESSES, gate__never=gate("never"), gate__arrived=arrived)
    wait_at(arrived)
    ends_with_its_parent(running)


def ends_with_its_parent(running: subprocess.Popen[str]) -> None:
    running.kill()
    killed_s = time.monotonic()
    running.communicate()  # every process of the run holds the other ends of these pipes
    assert time.monotonic() - killed_s < AT_ONCE_S
