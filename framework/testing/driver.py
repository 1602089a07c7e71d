"""Calls the callbacks of one bolt, without a worker, and notes its emits and answers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM, Tuple
from framework.runtime.exchange.collector import EmitRules, TaskCollector
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.tasks.hosts.user_errors import name_the_fields
from framework.runtime.tasks.task import Task

TICK = Tuple("tick", TICK_COMPONENT, TICK_STREAM, -1, (None,))
"""Stands for a tick among the tuples of `run_bolt`."""


def is_tick(tup: Any) -> bool:
    """True if a tuple, of either base's class, is a tick."""
    return (tup.component, tup.stream) == (TICK_COMPONENT, TICK_STREAM)


class Recorder(TaskCollector):
    """A collector that keeps everything that a bolt emits and answers."""

    def __init__(self, task: Task) -> None:
        context = task.context
        rules = replace(EmitRules.configured(context.conf), limit=sys.maxsize)
        super().__init__(context.spec.component, task.emitter.output, TaskCounters(), context.logger, rules)
        self.responses: dict[str, bool] = {}
        """For each tuple by id whether it was acked; it failed otherwise."""

    def ack(self, tup: Any) -> None:
        """Note an ack."""
        super().ack(tup)
        self.responses.setdefault(_id(tup), True)

    def fail(self, tup: Any) -> None:
        """Note a failure."""
        super().fail(tup)
        self.responses.setdefault(_id(tup), False)

    def streams(self) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Collect the tuples that were emitted on each stream."""
        streams: dict[str, list[tuple[Any, ...]]] = {port.stream.name: [] for port in self.output.ports}
        names = list(streams)
        is_left = True
        while is_left:
            payload, tags, *_ = self.buffer.take()
            is_left = self.buffer.has_more
            ports = [0] * len(payload) if tags is None else memoryview(tags).cast("H")
            for port, row in zip(ports, payload.rows, strict=True):
                streams[names[port]].append(row)
        return streams


class Driver:
    """Runs a bolt over some tuples."""

    def __init__(self, task: Task, key: tuple[int, ...] | None = None) -> None:
        """
        Args:
            task: the bolt's.
            key: indexes of the fields that name the key of its declared state; None if it has none by key.
        """
        self.recorder = Recorder(task)
        self.logs: list[logging.LogRecord] = []
        self._host = task.slot.host
        self._component: Any = task.slot.host.component
        self._identity = task.context.identity
        self._state = task.slot.state
        self._key = key
        self._ticks = bool(task.context.identity.conf.get("topology.tick.tuple.freq.secs"))

    def run(self, tuples: Iterable[Any]) -> None:
        """Initialize the bolt, give it the tuples, end and close it.

        Raises:
            Exception: what the bolt raised, unless it continues after exceptions.
            StateError: a state holds what cannot be pickled, or the bolt has overwritten its attribute.
        """
        with self._logging():
            self._host.bind(self.recorder, self._identity)
            if self._state is not None:
                self._state.bind(self._component, goes_on=self._host.survives_errors)
            self._host.initialize(self._identity)
            try:
                self._give_all(tuples)
                self._end()
                if self._state is not None:
                    self._state.save()
            finally:
                self._host.close()

    def _give_all(self, tuples: Iterable[Any]) -> None:
        for tup in tuples:
            self._give(tup)

    def _give(self, tup: Any) -> None:
        if self._state is not None and not is_tick(tup):
            self._state.scope.enter(tuple(tup.values), self._key)
        if is_tick(tup):
            self._guarded((), self._host.tick, tup)
        elif self._guarded([tup], self._host.process, tup) and not self._host.answers_itself:
            self.recorder.ack(tup)

    def _end(self) -> None:
        if self._ticks:
            self._give(tuple.__new__(self._host.record, TICK))
        if self._host.is_batching:
            self._guarded((), self._host.fire_batches)

    def _guarded(self, current: Sequence[Any], callback: Callable[..., object], *args: Any) -> bool:
        """Call a callback, and return whether it went well.

        Args:
            current: the tuples that are being processed; they fail where the callback raises.
            callback: of the component.
            *args: for it.
        """
        try:
            callback(*args)
        except Exception as error:
            self._take_back()
            self._raised(error, current)
            return False
        finally:
            self._end_call()
        return True

    def _take_back(self) -> None:
        if self._state is not None:
            self._host.roll_back()
            self._state.back()

    def _end_call(self) -> None:
        if self._state is not None:
            self._state.begin_call()

    def _raised(self, error: BaseException, current: Sequence[Any]) -> None:
        """Deal with what a callback has raised.

        Raises:
            BaseException: that itself, unless the bolt continues after it.
        """
        name_the_fields(error)
        only = current[0] if len(current) == 1 else None
        with self.recorder.reported(error):
            self._host.raised(error, only)
        for tup in current if self._host.fails_itself else ():
            self.recorder.fail(tup)
        if not self._host.survives_errors:
            raise error
        self.recorder.report_error(error, only)

    @contextmanager
    def _logging(self) -> Iterator[None]:
        logger, handler = self._identity.logger, Kept(self.logs)
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        try:
            yield
        finally:
            logger.setLevel(level)
            logger.removeHandler(handler)


class Kept(logging.Handler):
    """Keeps log records in a list."""

    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__()
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._records.append(record)


def _id(tup: Any) -> str:
    return tup if isinstance(tup, str) else str(tup.id)
