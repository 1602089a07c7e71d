"""The standby processes, which replace worker processes that die: their pool, and what they import meanwhile.

One that stands by has imported what the components need, and has the memory of the run attached. It is
blocked in a read until it gets a place, so it costs memory and no time. Components are made only then.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from framework.model.errors import WorkerError
from framework.model.importing import import_class
from framework.model.topology import ObjectDef, Topology
from framework.runtime.tasks.hosts.registry import host_factory
from framework.runtime.workers.messages import Failed, FromWorker, Logged, StandsBy, TakePlace, log_here

log = logging.getLogger("viperstorm.worker")

TRIES = 3
"""The number of processes in a row that may come to nothing before no more are started."""

Started = tuple[BaseProcess, Connection]
"""A process, and the end of the pipe to it."""


class StandbyPool:
    """A pool of standby processes, which starts new ones as they are taken.

    Args:
        size: the number of standby processes.
        start: starts a process.
    """

    def __init__(self, size: int, start: Callable[[], Started]) -> None:
        self._size = size
        self._start = start
        self._processes: dict[Connection, BaseProcess] = {}
        """All that have been started and have no place yet, in order."""
        self._ready: set[Connection] = set()
        """The processes that are ready."""
        self._failed = 0
        """The number of processes in a row that have failed before they were ready."""

    @property
    def connections(self) -> Sequence[Connection]:
        """The pipes to wait for; `hear` reads them."""
        return list(self._processes)

    def fill(self) -> None:
        """Start a process if one is missing; one at a time, as the workers have something to do."""
        if self._failed == TRIES or not len(self._ready) == len(self._processes) < self._size:
            return
        try:
            process, connection = self._start()
        except WorkerError as error:
            self._note_failure(str(error))
        else:
            self._processes[connection] = process

    def hear(self, connection: Connection) -> None:
        """Read what a process has sent, or find that it has ended."""
        try:
            message: FromWorker = connection.recv()
        except (EOFError, OSError):
            self._ended(connection)
            return
        match message:
            case StandsBy():
                self._failed = 0
                self._ready.add(connection)
            case Logged(record):
                log_here(record)
            case Failed():
                self._let_go(connection)
                self._note_failure(str(message.error))

    def take(self, place: TakePlace) -> Started | None:
        """Give a place to a process that stands by, or to one that is about to; None if there is none."""
        for connection in sorted(self._processes, key=self._ready.__contains__, reverse=True):
            try:
                connection.send(place)
            except OSError:
                self._ended(connection)
            else:
                self._ready.discard(connection)
                return self._processes.pop(connection), connection
        return None

    def close(self) -> None:
        """End all processes."""
        for connection in self.connections:
            self._let_go(connection)
        del self._start  # of who has the pool

    def _ended(self, connection: Connection) -> None:
        """Note that a process has ended by itself, or was killed."""
        stood_by = connection in self._ready
        told = f"process {self._let_go(connection)}"
        if stood_by:
            log.info("%s, which stood by, has ended; another one is started", told)
        else:
            self._note_failure(f"{told}, which was to stand by, has ended")

    def _let_go(self, connection: Connection) -> int | None:
        """End a process; returns its pid."""
        self._ready.discard(connection)
        process = self._processes.pop(connection)
        pid = process.pid
        process.kill()
        process.join()
        connection.close()
        process.close()
        return pid

    def _note_failure(self, reason: str) -> None:
        self._failed += 1
        more = self._failed < TRIES
        then = "another one is started" if more else "no further process is to stand by in this run"
        log.warning("%s; %s", reason, then)


OF_STATE = (
    "framework.operators.state.handles",
    "framework.operators.state.lists",
    "framework.operators.state.maps",
)
"""Modules that a task imports where its component declares state."""
_OF_TYPED_STREAMS = ("viper.columns.batches", "viper.columns.payload")
"""Likewise, where typed streams begin or end at it."""


def import_components(topology: Topology) -> None:
    """Import all that the making of a topology's tasks needs, and make nothing.

    Raises:
        LoadError: a class cannot be imported.
    """
    for component in topology.components:
        host_factory(component)
    for definition in _other_definitions(topology):
        if definition.cls is None:
            import_class(definition.class_name)
    for module in OF_STATE:
        importlib.import_module(module)
    streams = [stream for component in topology.components for stream in component.outputs or ()]
    if any(stream.schema is not None for stream in streams):
        with suppress(ImportError):  # of pyarrow, which single tuples do without
            for module in _OF_TYPED_STREAMS:
                importlib.import_module(module)


def _other_definitions(topology: Topology) -> Iterator[ObjectDef]:
    """The modules that make beans and custom groupings."""
    for bean in topology.beans:
        yield bean.definition
    for component in topology.components:
        for found in component.inputs:
            if found.grouping.definition is not None:
                yield found.grouping.definition
