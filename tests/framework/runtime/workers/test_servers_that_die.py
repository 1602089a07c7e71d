"""The server that starts worker processes and the resource tracker of `multiprocessing` may die, too."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import WorkerError
from framework.runtime.workers.handle import Phase, WorkerHandle
from framework.runtime.workers.server import current_server
from tests.framework.runtime.workers.components import Forward
from tests.framework.runtime.workers.test_ends_of_runs import SUMS, firsts, killing, summed, written
from tests.framework.runtime.workers.test_restarts import COUNT, chain, run, values

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="workers end with their server")

Connect = Callable[[forkserver.ForkServer, list[int]], Any]


def kill_server() -> int:
    """Kill the server, and wait for that; returns its pid."""
    server = current_server()
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
    return server.pid


# -- the server


@pytest.fixture
def dying_servers(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Has so many servers die while they start a process."""
    connect: Connect = forkserver.ForkServer.connect_to_new_process
    dead: list[int] = []

    def dying(times: int) -> list[int]:
        def connected(self: forkserver.ForkServer, fds: list[int]) -> Any:
            self.ensure_running()
            server = current_server()
            assert server is not None
            if len(dead) >= times:
                return connect(self, fds)
            os.kill(server.pid, signal.SIGSTOP)
            found = connect(self, fds)
            dead.append(kill_server())
            return found

        bound = partial(connected, forkserver._forkserver)
        monkeypatch.setattr(forkserver, "connect_to_new_process", bound)
        return dead

    return dying


@pytest.mark.parametrize("times", [1, 2])
def test_a_server_that_dies_while_it_starts_a_worker(
    times: int, dying_servers: Callable[[int], list[int]], marks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dead = dying_servers(times)
    report = run(chain(Forward), marks)
    assert values(report) == list(range(COUNT)) and len(dead) == times
    for pid in dead:
        told = "viper-worker-1 cannot be started, as the server process that starts the others"
        assert f"{told} (pid {pid}) has ended meanwhile; another one is started" in caplog.text


def test_servers_that_always_die_end_the_run(
    dying_servers: Callable[[int], list[int]], marks: Path
) -> None:
    dead = dying_servers(1000)
    with pytest.raises(WorkerError) as caught:
        run(chain(Forward), marks)
    assert str(caught.value) == (
        "worker process 1 of 3 cannot be started: the server process that starts the others "
        f"(pid {dead[2]}) has ended meanwhile, 3 times in a row: something kills it, such as a system "
        "without memory, or it has no room for one process more (ulimit -u); stderr has its own words, if it "
        "had any"
    )


def test_where_there_is_no_room_for_it_fewer_are_advised(
    marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: forkserver.ForkServer, fds: list[int]) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(forkserver, "connect_to_new_process", partial(refuse, forkserver._forkserver))
    with pytest.raises(WorkerError, match=r"unavailable; use fewer \(topology\.workers, viper\.isolated\)$"):
        run(chain(Forward), marks)


@pytest.mark.parametrize("standbys", [0, 1])
@pytest.mark.parametrize("recovery", ["best", "exact"])
@pytest.mark.parametrize("phase", [Phase.READY, Phase.RAN])
def test_workers_end_with_their_server_and_are_started_again(
    phase: Phase, recovery: str, standbys: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start of the run, or at its end: those that had told of it, and those that had not."""
    reached, dead = WorkerHandle.reached, list[int]()

    def note(self: WorkerHandle, now: Phase) -> None:
        reached(self, now)
        if now is phase and not dead:
            dead.append(kill_server())

    monkeypatch.setattr(WorkerHandle, "reached", note)
    report = summed(tmp_path, recovery, viper__standby__workers=standbys)
    assert {incident.worker for incident in report.incidents} == {1, 2, 3}
    told = f"was ended with the server process that had started it (pid {dead[0]})"
    assert all(incident.how.startswith(told) for incident in report.incidents[:3])
    assert not any(incident.hint for incident in report.incidents[:3])
    if recovery == "exact":
        assert written(tmp_path) == SUMS


def test_a_run_that_restarts_nothing_ends_with_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = WorkerHandle.reached

    def note(self: WorkerHandle, now: Phase) -> None:
        reached(self, now)
        if now is Phase.READY and self.number == 3:
            kill_server()

    monkeypatch.setattr(WorkerHandle, "reached", note)
    with pytest.raises(WorkerError, match="was ended with the server process that had started it"):
        summed(tmp_path, "exact", viper__worker__restart__tries=0)


# -- the resource tracker


@pytest.mark.parametrize("recovery", ["best", "exact"])
def test_the_tracker_takes_nothing_with_it(
    recovery: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is killed, and then a worker is, for which it is started again; warnings are errors here."""
    resource_tracker.ensure_running()
    tracker = resource_tracker._resource_tracker._pid  # type: ignore[attr-defined]
    os.kill(tracker, signal.SIGKILL)
    os.waitid(os.P_PID, tracker, os.WEXITED | os.WNOWAIT)
    with killing(Phase.READY, firsts):
        summed(tmp_path, recovery)
    assert written(tmp_path) == SUMS
    assert "the resource tracker of multiprocessing had ended, and was started again" in caplog.text
