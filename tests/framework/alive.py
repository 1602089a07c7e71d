"""The objects that ended runs have left in this process, while Python's collector of cycles is off."""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from framework.runtime import Run
from framework.runtime.durability.state import StateMemory
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.executor import Executor
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.task import Task
from framework.runtime.workers.handle import WorkerHandle
from framework.runtime.workers.supervisor import Supervisor
from framework.runtime.workers.worker import Worker
from framework.testing.stage import Stage
from tests import shared_memory
from viper.arena import Arena

OWNERS = (
    *(Run, Worker, Supervisor, WorkerHandle, Executor, Task, ComponentSlot, TaskCollector, Stage),
    *(Network, StateMemory, Arena),
)
"""The classes of what a run, or the test of a component, is made of."""


class Alive:
    """Knows which of the objects that runs are made of are still there."""

    def __init__(self) -> None:
        self._made: Mapping[str, WeakSet[Any]] = {owner.__name__: WeakSet() for owner in OWNERS}

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of objects of each class; classes without any are left out."""
        return {name: len(made) for name, made in self._made.items() if len(made)}

    @contextlib.contextmanager
    def watching(self) -> Iterator[Alive]:
        """For as long as the block runs, know what is made, and let no cycle be collected."""
        with pytest.MonkeyPatch.context() as patch:
            for owner in OWNERS:
                patch.setattr(owner, "__init__", self._noting(owner.__name__, owner.__init__))
            was_enabled = gc.isenabled()
            gc.collect()
            gc.disable()
            try:
                yield self
            finally:
                if was_enabled:
                    gc.enable()
                gc.collect()

    def _noting(self, name: str, init: Any) -> Any:
        made = self._made[name]

        @functools.wraps(init)
        def noting(self: Any, *args: Any, **kwargs: Any) -> None:
            made.add(self)
            init(self, *args, **kwargs)

        return noting


def of_the_process() -> Mapping[str, object]:
    """The resources of this process, and its registrations with others."""
    children = sorted(child.name for child in multiprocessing.active_children())
    return {
        "descriptors": sorted(_descriptors()),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "children": children,
        "shared memory": sorted(_maps("/memfd:", "/dev/shm")),
        "names in shared memory": sorted(shared_memory.names()) if not children else [],
        "temporary files": sorted(os.listdir(tempfile.gettempdir())),
        "signal handlers": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
        "log handlers": [list(logging.getLogger(name).handlers) for name in ("", "viperstorm")],
        "hooks": (sys.excepthook, threading.excepthook, sys.stdout, sys.stderr),
        "import paths": list(sys.path),
        "thresholds": gc.get_threshold(),
    }


def _descriptors() -> Iterator[str]:
    folder = Path("/proc/self/fd")
    for name in os.listdir(folder) if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # that of the listing
            target = (folder / name).readlink().as_posix()
            yield target.partition(":")[0] if target.startswith(("socket:", "pipe:")) else target


def _maps(*names: str) -> Iterator[str]:
    """The mappings of files whose names begin like that."""
    maps = Path("/proc/self/maps")
    for line in maps.read_text().splitlines() if maps.exists() else ():
        name = line.split(maxsplit=5)[5:]
        if name and name[0].startswith(names):
            yield name[0]


def memory_mib() -> tuple[int, int]:
    """The resident and the mapped memory of this process, in MiB."""
    mapped, resident = (int(pages) for pages in Path("/proc/self/statm").read_text().split()[:2])
    return resident * os.sysconf("SC_PAGE_SIZE") >> 20, mapped * os.sysconf("SC_PAGE_SIZE") >> 20
