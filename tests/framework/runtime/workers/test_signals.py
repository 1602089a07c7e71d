"""Ctrl-C and SIGTERM at a command line whose tasks are in other processes and threads."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.cli.exit_codes import ExitCode
from framework.operators.sinks import CountingSink
from framework.runtime.workers import launcher
from framework.runtime.workers.starting import start
from tests.framework.runtime.workers.components import Numbers, wait_at
from tests.framework.runtime.workers.conftest import Gate, Viper
from tests.framework.runtime.workers.running import PROCESSES, Workers, several
from tests.portions import at_every_change


def first_line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline()


def ctrl_c(running: subprocess.Popen[str]) -> None:
    """Signal as a terminal does: all processes of the group get it."""
    os.killpg(running.pid, signal.SIGINT)


def terminate(running: subprocess.Popen[str]) -> None:
    """Signal as a service manager does, or ``kill``: only the process that was started gets it."""
    running.terminate()


def terminate_all(running: subprocess.Popen[str]) -> None:
    """Signal as a service manager does that ends a whole control group."""
    os.killpg(running.pid, signal.SIGTERM)


@pytest.mark.few(1)
@pytest.mark.parametrize("ask", at_every_change([ctrl_c, terminate, terminate_all]))
@several
def test_a_signal_drains(viper: Viper, marks: Path, workers: Workers, ask: object) -> None:
    running = viper("endless", workers=workers, marks=marks)
    assert first_line(running) == "0\n"
    ask(running)  # type: ignore[operator]
    assert running.stdout is not None
    assert running.stderr is not None
    out, err = running.stdout.read(), running.stderr.read()  # communicate() forgets what was read ahead
    assert running.wait() == ExitCode.OK, err
    rows = list(map(int, out.split()))
    assert rows == list(range(1, len(rows) + 1))
    assert "interrupted after" in err
    assert re.search(rf"source +{len(rows) + 1:,} ", err)
    assert "Traceback" not in err
    assert [path.name for path in marks.iterdir()] == ["middle-2-closed"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_has_just_been_started_leaves_signals_to_its_parent(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def start_and_signal(*arguments: Any) -> Any:
        process, connection = start(*arguments)
        os.kill(process.pid, number)
        return process, connection

    monkeypatch.setattr(launcher, "start", start_and_signal)
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[10])
    builder.set_bolt("sink", CountingSink, 4).shuffle_grouping("source")
    assert sum(PROCESSES.run(builder).results["sink"]) == 10


def ctrl_c_until_it_stops(running: subprocess.Popen[str]) -> None:
    # Signals that come together count as one; a third one would get in while the process ends.
    while running.poll() is None:
        ctrl_c(running)
        try:
            running.wait(timeout=2)
        except subprocess.TimeoutExpired:
            continue


@pytest.mark.few(1)
@several
def test_a_second_one_stops_at_once(viper: Viper, gate: Gate, workers: Workers) -> None:
    arrived = gate("arrived")
    running = viper("stuck", "-q", workers=workers, gate__arrived=arrived, gate__never=gate("never"))
    wait_at(arrived)
    ctrl_c_until_it_stops(running)
    out, err = running.communicate()  # which waits for all processes of the run
    assert (running.returncode, out) == (ExitCode.STOPPED, "")
    assert "stopped at once" in err
    assert "Traceback" not in err


@pytest.mark.few(1)
@several
def test_a_drain_that_takes_too_long_is_no_success(viper: Viper, gate: Gate, workers: Workers) -> None:
    arrived, never = gate("arrived"), gate("never")
    options = {"gate__arrived": arrived, "gate__never": never, "viper__drain__timeout__secs": 0.1}
    running = viper("stuck", workers=workers, **options)
    wait_at(arrived)
    ctrl_c(running)
    _, err = running.communicate()
    assert running.returncode == ExitCode.FAILED
    assert "middle:2" in err
    assert "not drained" in err
    assert "Traceback" not in err


def test_a_worker_that_dies_is_told(viper: Viper, marks: Path) -> None:
    options = {"kill__at": 100, "viper__worker__restart__tries": 0}
    running = viper("dying", "-q", workers=PROCESSES, marks=marks, **options)
    _, err = running.communicate()
    assert running.returncode == ExitCode.FAILED
    (line,) = err.splitlines()
    assert line.startswith("error: worker process 2 (pid ")
    assert "middle:2) was killed by SIGKILL" in line


@pytest.mark.slow
def test_a_worker_that_is_restarted_is_told_of_and_what_is_lost_fails_the_run(
    viper: Viper, marks: Path, tmp_path: Path
) -> None:
    report, options = tmp_path / "report.json", {"kill__at": 1000, "topology__acker__executors": 0}
    arguments = ("--max-tuples", "5000", "--report", str(report))
    running = viper("dying", *arguments, workers=PROCESSES, marks=marks, **options)
    _, err = running.communicate()
    assert running.returncode == ExitCode.FAILED
    (incident,) = json.loads(report.read_text())["incidents"]
    assert (incident["worker"], incident["tasks"], incident["restarted"]) == (2, ["middle:2"], True)
    assert (incident["how"], incident["state_lost"]) == ("was killed by SIGKILL", ["middle"])
    assert "WORKER DIED: worker 2 (middle:2) was killed by SIGKILL after" in err
    assert f"TUPLES ARE LOST: {incident['lost']:,} that nobody tracks" in err


def test_a_second_signal_stops_at_once_while_a_worker_is_restarted(
    viper: Viper, gate: Gate, marks: Path
) -> None:
    arrived, never = gate("arrived"), gate("never")
    options = {"gate__arrived": arrived, "gate__never": never, "die__at": [100], "marks": str(marks)}
    running = viper("stuck_when_restarted", "-q", workers=PROCESSES, **options)
    wait_at(arrived)
    ctrl_c_until_it_stops(running)
    running.communicate()  # which waits for all processes of the run
    assert running.returncode == ExitCode.STOPPED
