"""Worker processes, and programs that they have started, end with the process that leads the run."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.framework.runtime.workers.components import wait_at
from tests.framework.runtime.workers.conftest import REPOSITORY, Gate, Viper
from tests.framework.runtime.workers.orphaned import children_of, state_of
from tests.framework.runtime.workers.running import PROCESSES

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes in /proc")

TIMEOUT_S = 20.0
"""Seconds that the end of a process may take on a busy machine; it takes a few milliseconds."""
CALLBACKS = {"initialize": (), "process": (), "close": ("--max-tuples", "1")}

Leader = subprocess.Popen[str]


@pytest.fixture
def watched() -> Iterator[list[int]]:
    """Pids of processes that are killed after a test, should they still be there."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        if state_of(pid) not in ("", "Z"):
            os.kill(pid, signal.SIGKILL)


def workers_of(leader: Leader) -> list[int]:
    """The pids of a run's workers that run now: children of a server that its leader has started."""
    workers = [worker for child in children_of(leader.pid) for worker in children_of(child)]
    assert workers
    return workers


def check_all_end(leader: Leader, pids: Sequence[int], *, resume: bool = False) -> None:
    """Kill a leader, and see others end, which may have been stopped and are resumed then."""
    ends = {pid: os.pidfd_open(pid) for pid in pids}
    leader.kill()
    leader.wait()
    for pid in pids if resume else ():
        os.kill(pid, signal.SIGCONT)
    ended = {pid: bool(select.select([end], [], [], TIMEOUT_S)[0]) for pid, end in ends.items()}
    for end in ends.values():
        os.close(end)
    assert ended == dict.fromkeys(pids, True)
    assert leader.stdout is not None
    leader.stdout.read()  # whoever is left holds the other end


@pytest.mark.few(1)
@pytest.mark.parametrize("callback", CALLBACKS)
def test_a_worker_ends_whatever_it_is_at(viper: Viper, gate: Gate, watched: list[int], callback: str) -> None:
    arrived = gate("arrived")
    gates = {"gate__arrived": arrived, "gate__never": gate("never"), "pause__in": callback}
    leader = viper("pausing", "-q", *CALLBACKS[callback], workers=PROCESSES, **gates)
    wait_at(arrived)
    watched += workers_of(leader)
    check_all_end(leader, watched)


def test_a_process_ends_that_stands_by(viper: Viper, gate: Gate, watched: list[int]) -> None:
    arrived = gate("arrived")
    gates = {"gate__arrived": arrived, "gate__never": gate("never"), "pause__in": "process"}
    leader = viper("pausing", "-q", workers=PROCESSES, viper__standby__workers=2, **gates)
    wait_at(arrived)
    while len(workers_of(leader)) < PROCESSES.number + 2:
        os.sched_yield()
    watched += workers_of(leader)
    check_all_end(leader, watched)


def test_a_worker_ends_that_is_to_drain(viper: Viper, gate: Gate, watched: list[int]) -> None:
    arrived = gate("arrived")
    gates = {"gate__arrived": arrived, "gate__never": gate("never"), "pause__in": "process"}
    leader = viper("pausing", workers=PROCESSES, viper__drain__timeout__secs=600, **gates)
    wait_at(arrived)
    leader.terminate()
    assert leader.stderr is not None
    assert any(line.startswith("draining") for line in leader.stderr)
    watched += workers_of(leader)
    check_all_end(leader, watched)


def test_a_worker_ends_that_has_taken_the_place_of_another(
    viper: Viper, gate: Gate, marks: Path, watched: list[int]
) -> None:
    arrived, never = gate("arrived"), gate("never")
    options = {"gate__arrived": arrived, "gate__never": never, "die__at": [100], "marks": str(marks)}
    leader = viper("stuck_when_restarted", "-q", workers=PROCESSES, **options)
    wait_at(arrived)
    watched += workers_of(leader)
    check_all_end(leader, watched)


ASKING = """
    from framework import TopologyBuilder
    from framework.operators.sinks import CountingSink
    from tests.framework.runtime.workers.components import Endless
    from tests.framework.runtime.workers.orphaned import Asking
    from tests.framework.runtime.workers.running import PROCESSES

    builder = TopologyBuilder()
    builder.set_spout("source", Endless)
    builder.set_bolt("sink", CountingSink, 2).shuffle_grouping("source")
    PROCESSES.run(builder, {"on_progress": Asking().look})
"""


def test_a_worker_ends_that_has_not_read_what_it_was_asked(watched: list[int]) -> None:
    """It did not run when it was asked, nor when the leader was killed, as on a machine that swaps."""
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ASKING)], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as leader:
        assert leader.stdout is not None
        try:
            watched += map(int, leader.stdout.readline().split())
            assert len(watched) == PROCESSES.number
            check_all_end(leader, watched, resume=True)
        finally:
            leader.kill()
