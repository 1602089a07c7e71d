"""One run of a program in a process of its own, and what else the machine did meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.peers.jobs import LAUNCHER, VARIABLE, Job, Outcome, outcome_of
from benchmarks.processes import tree

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = "benchmarks.peers.programs"
PEERS = {"bytewax": "bytewax", "pathway": "pathway", "pyflink": "apache-flink"}
"""The distribution of each peer, by the name of its environment in the folder of all."""

_PR_SET_CHILD_SUBREAPER = 36


class RunError(Exception):
    """A run that did not come to its end, with what its program has written last."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run that has come to its end."""

    outcome: Outcome
    cpu_s: float
    """Seconds of processor time of all its processes, from their start to their end."""
    foreign_cores: float
    """Processors that others were using on average, while it ran."""


def interpreter(program: str, environments: Path) -> Path | None:
    """The Python that runs a program; None if the peer is not installed.

    Args:
        program: ``plain``, ``ours`` or a peer.
        environments: the folder with an environment for each peer.
    """
    if program not in PEERS:
        return Path(sys.executable)
    return environments / program / "bin" / "python" if version(program, environments) else None


@cache
def version(program: str, environments: Path) -> str:
    """The version of a peer; empty if it is not installed, and for programs that are none of a peer."""
    python = environments / program / "bin" / "python"
    if program not in PEERS or not python.is_file():
        return ""
    code = f"import importlib.metadata; print(importlib.metadata.version({PEERS[program]!r}))"
    found = subprocess.run([python, "-c", code], check=False, capture_output=True, text=True)
    return "" if found.returncode else found.stdout.strip()


def launch(program: str, python: Path, job: Job, timeout_s: float) -> Run:
    """Run a program to its end, and read what came of it.

    Args:
        program: its name.
        python: the interpreter.
        job: what it has to do, with a folder that is its own.
        timeout_s: seconds after which it is killed.

    Raises:
        RunError: it failed, took too long, or did not say what came of it.
    """
    module = f"{PROGRAMS}.{program if program not in PEERS else f'on_{program}'}"
    given = {VARIABLE: job.to_json(), LAUNCHER: str(os.getpid()), "PYTHONPATH": str(REPOSITORY)}
    environment = {**os.environ, **given}
    command = [str(python), "-m", module]
    adopt_orphans()
    others = set(tree(os.getpid()))
    before = _Seen.now()
    log = Path(job.folder, "log")
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env=environment, cwd=REPOSITORY, stdout=file, stderr=subprocess.STDOUT
        )
        try:
            status: int | str = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = f"not at its end after {timeout_s:g} seconds"
        finally:
            reap(process, others)
    after = _Seen.now()
    if status:
        raise RunError(f"{program}: exit status {status}: {_last_line(log)}")
    try:
        outcome = outcome_of(job)
    except (OSError, ValueError) as error:
        raise RunError(f"{program}: {error}") from error
    own = after.own_s - before.own_s
    foreign = (after.busy_s - before.busy_s - own) / (after.wall_s - before.wall_s)
    return Run(outcome, own, max(foreign, 0.0))


@dataclass(frozen=True, slots=True)
class _Seen:
    """Seconds of processor time that have passed at some moment."""

    busy_s: float
    """Of all processes of the machine."""
    own_s: float
    """Of this process, and of its descendants that have ended."""
    wall_s: float

    @staticmethod
    def now() -> _Seen:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        own = sum(usage.ru_utime + usage.ru_stime for usage in used)
        return _Seen(busy_seconds(Path("/proc/stat").read_text()), own, time.monotonic())


def busy_seconds(stat: str) -> float:
    """Seconds that all processors together have been busy, by the text of ``/proc/stat``.

    Waiting for a disk is idle time; what a hypervisor has taken away counts as busy.
    """
    _, *ticks = stat.splitlines()[0].split()
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, ticks[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


@cache
def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, such as Flink's Java, so that their time is counted."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap(process: subprocess.Popen[bytes], others: set[int], patience_s: float = 5.0) -> None:
    """Wait for everything that a process has started, and kill what does not end by itself.

    Args:
        process: the process, which is killed at once with all others if it has not ended yet.
        others: this process and its descendants before that one was started, which are left alone.
        patience_s: seconds to wait.
    """
    end = time.monotonic() + (patience_s if process.poll() is not None else 0.0)
    while started := [pid for pid in tree(os.getpid()) if pid not in others]:
        for pid in started:
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # somebody else's child, or awaited by now
                process.poll() if pid == process.pid else os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it has written nothing")
