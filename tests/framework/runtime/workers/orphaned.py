"""The components that stand still while a test kills the process that leads its run."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

from framework import Bolt
from framework.runtime import Progress
from tests.framework.runtime.workers.components import open_gate, wait_at


class Pausing(Bolt):
    """Opens ``gate.arrived`` in the callback that ``pause.in`` names, and never returns (``gate.never``)."""

    outputs = ["value"]

    def _pause_in(self, callback: str) -> None:
        if self.storm_conf["pause.in"] == callback:
            open_gate(self.storm_conf["gate.arrived"])
            wait_at(self.storm_conf["gate.never"])

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._pause_in("initialize")

    def process(self, tup: Any) -> None:
        self._pause_in("process")

    def close(self) -> None:
        self._pause_in("close")


class Asking:
    """Watches a run's progress: stops its workers, asks them where they are, and prints their pids."""

    def __init__(self) -> None:
        self._looks = 0

    def look(self, progress: Progress) -> None:
        """Take the next step; between two looks the run passes on what it is to ask."""
        if not progress.elapsed_s:  # there may be no worker as yet
            return
        self._looks += 1
        pids = [process.pid for process in multiprocessing.active_children() if process.pid is not None]
        if self._looks == 1:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            while any(state_of(pid) != "T" for pid in pids):
                os.sched_yield()
            os.kill(os.getpid(), signal.SIGQUIT)
        elif self._looks == 3:
            print(*pids, flush=True)


def state_of(pid: int) -> str:
    """The state of a process as Linux names it (``T``: stopped, ``Z``: ended); empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def children_of(pid: int) -> list[int]:
    """The children of a process, in order of their start."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
