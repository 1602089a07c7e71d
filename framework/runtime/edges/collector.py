"""A task's collector: the outbox in C for the common emit, Python for every other one."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from framework.components.collector import EmitResult
from framework.components.levels import LEVELS
from framework.errors import EmitError
from framework.log import log_raised
from framework.runtime.edges.output import Output, Port
from framework.runtime.edges.room import Room
from framework.runtime.edges.values import is_shareable, snapshot
from framework.runtime.metrics.counters import TaskCounters
from framework.topology import DEFAULT_STREAM, unknown
from viper.rows import Outbox

if TYPE_CHECKING:
    from framework.runtime.tracking.acker import Answers, Given

MOST_WAITING = 8192
"""Rows in the outbox at which a thread of the component's own has to wait."""

Deliver = Callable[[], EmitResult]
"""Gives the rows of the outbox their positions and routes them; returns who received any."""


class Taken(NamedTuple):
    """What waited in an outbox."""

    rows: list[tuple[Any, ...]]
    tags: bytes | None
    """The port of each row as native uint16; None where there is but one port."""
    mutable: bool
    """Whether any row may hold a value that a consumer can change."""
    stamps: dict[int, int]
    """Event times in microseconds that emits gave, by index of the row."""
    notes: Sequence[tuple[int, Any]]
    """By index of the row: for a spout the id that it was emitted with; for a bolt the tree that it belongs
    to, where that is not the one of the tuple in process."""
    given: Given | None
    """Acks that were given before."""


class TaskCollector:
    """Takes what one task emits, acks, fails and logs.

    The task sets `on_full`, which is called when the outbox is full, and `deliver_and_tell`,
    which is called for an emit that wants to know who receives it.

    A component may emit from threads of its own. What the common emit does is atomic by itself,
    all other ways are locked. Such a thread waits where the outbox is full; it never runs tasks.
    """

    on_full: Callable[[], None]
    deliver_and_tell: Deliver

    def __init__(
        self,
        component: str,
        output: Output,
        counters: TaskCounters,
        logger: logging.Logger,
        *,
        limit: int,
        undeclared_is_error: bool = False,
        guarded: bool = False,
        takes_ids: bool = False,
    ) -> None:
        self.output = output
        self.counters = counters
        self.answers: Answers | None = None
        """What becomes of the answers of a bolt."""
        self.guard = threading.RLock()
        """Who holds it finds the outbox at rest, but for the common emit."""
        self._room = Room()
        self._thread = threading.get_ident()
        self._appending = False
        self._closed = False
        self._limit = limit
        self._mutable = False
        """Whether a row in the outbox may hold a value that a consumer can change."""
        self.stamps: dict[int, int] = {}
        """Event times in microseconds that emits gave, by index of the row in the outbox."""
        self._component = component
        self._logger = logger
        self._undeclared_is_error = undeclared_is_error
        self._warned: set[str] = set()
        self._ports = {port.stream.name: port for port in output.ports}
        self._direct = [port for port in output.ports if port.stream.direct]
        self._discarded = 0
        self.outbox = Outbox(
            tuple(
                (port.stream.name, _arity(port, guarded), port.kept or bool(port.edges))
                for port in output.ports
            ),
            slow=self._slow,
            on_full=self._full,
            limit=limit,
            takes_ids=takes_ids,
        )

    # -- what the component calls

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Any = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """A bolt's emit, in all its forms."""
        return self._put(tup, stream, direct_task, need_task_ids, about=anchors)

    def ack(self, tup: Any) -> None:
        """A tuple, or that of an id, has been processed.

        Raises:
            AnswerError: it was answered before, and answers are strict.
        """
        if self.answers is None or self.answers.ack(tup):
            self.counters.acked += 1

    def fail(self, tup: Any) -> None:
        """A tuple, or that of an id, could not be processed; errors as for `ack`."""
        if self.answers is None or self.answers.fail(tup):
            self.counters.failed += 1

    def log(self, message: str, level: str | None) -> None:
        """Write to the component's log; an unknown level is info, as in streamparse."""
        self._logger.log(LEVELS.get(level or "", logging.INFO), "%s", message)

    def report_metric(self, name: str, value: Any) -> None:
        """Keep the last value of a metric, as it is now."""
        # A new dictionary, as another thread may be telling the old one.
        self.counters.metrics = {**self.counters.metrics, name: snapshot(value)}

    def report_error(self, exception: BaseException, tup: Any, during: str | None = None) -> None:
        """Log an exception that the component goes on after, or is made anew; and during which callback."""
        self.counters.errors += 1
        log_raised(self._logger, exception, tup, during)

    # -- what the task calls

    def take(self) -> Taken:
        """All rows that wait for a position, and what is to be known about them."""
        with self.guard:
            # Acks first: what was emitted before an ack is then among the rows.
            given = self.answers.take() if self.answers is not None else None
            rows, tags, notes = self.outbox.take()
            mutable, self._mutable = self._mutable, False
            stamps, self.stamps = self.stamps, {}
            for port in self._direct:
                port.name_tasks()
        discarded = self.outbox.discarded
        self.counters.emitted += len(rows) + discarded - self._discarded
        self._discarded = discarded
        self._room.made()
        return Taken(rows, tags, mutable, stamps, notes or (), given)

    def close(self) -> None:
        """Refuse what is emitted from now on."""
        self._closed = True
        self._room.made()

    # -- inside

    def _slow(self, *args: Any, **options: Any) -> EmitResult:
        # Looked up at each call: a spout's collector has an emit of its own.
        return self.emit(*args, **options)

    def _full(self) -> None:
        if self._appending:
            return
        if threading.get_ident() == self._thread:
            self.on_full()
        else:
            self._room.wait_for(lambda: self._closed or len(self.outbox) < MOST_WAITING)
            self._check_open(need_task_ids=False)

    def _put(
        self,
        tup: Sequence[Any],
        stream: str | None,
        direct_task: int | None,
        need_task_ids: bool,
        stamp: int | None = None,
        about: Any = None,
    ) -> EmitResult:
        if not isinstance(tup, list | tuple):
            raise TypeError(f"emit takes a list or tuple of values, found {type(tup).__name__}: {tup!r:.200}")
        self._check_open(need_task_ids)
        name = DEFAULT_STREAM if stream is None else stream
        port = self._ports.get(name)
        if port is None:
            return self._undeclared(name, len(tup), need_task_ids)
        self._check(port, tup, direct_task)
        row = tuple([snapshot(value) for value in tup])
        if need_task_ids:
            self.deliver_and_tell()
        self._append(port, row, direct_task, stamp, about)
        if need_task_ids:
            return self.deliver_and_tell() or []
        if len(self.outbox) >= self._limit:
            self._full()
        return None

    def _note(self, about: Any) -> Any:
        """What is noted of an emit: the tree of its anchors."""
        return self.answers.note_for(about) if self.answers is not None else None

    def _append(
        self, port: Port, row: tuple[Any, ...], direct_task: int | None, stamp: int | None, about: Any
    ) -> None:
        with self.guard:
            self._appending = True
            try:
                note = self._note(about)  # first, as it may raise: then nothing has been emitted
                if port.edges or port.kept:
                    self._mutable = self._mutable or not is_shareable(row)
                    if direct_task is not None:
                        port.named.append(direct_task)
                    if stamp is not None:
                        self.stamps[len(self.outbox)] = stamp
                self.outbox.append(port.tag, row, note)
            finally:
                self._appending = False

    def is_taken(self, stream: str | None) -> bool:
        """Whether anybody subscribes to a stream, or writes it down."""
        port = self._ports.get(DEFAULT_STREAM if stream is None else stream)
        return port is not None and (port.kept or bool(port.edges))

    def _check_open(self, need_task_ids: bool) -> None:
        if self._closed:
            raise EmitError(
                f"component {self._component!r} emits in or after close, when nobody receives it any more: "
                "emit at the last tick or in process_batch, which come before"
            )
        if need_task_ids and threading.get_ident() != self._thread:
            raise EmitError(
                f"component {self._component!r} emits with need_task_ids=True from a thread of its own, "
                "where the receivers are not known yet"
            )

    def _check(self, port: Port, tup: Sequence[Any], direct_task: int | None) -> None:
        stream, where = port.stream, f"component {self._component!r}, stream {port.stream.name!r}"
        if stream.direct and direct_task is None:
            raise EmitError(f"{where}: a direct stream needs direct_task=, the id of the receiving task")
        if direct_task is not None and not stream.direct:
            raise EmitError(
                f"{where}: direct_task={direct_task!r}, but the stream is not declared direct=True"
            )
        if stream.fields and len(tup) != len(stream.fields):
            raise EmitError(
                f"{where}: {len(tup)} values {list(tup)!r:.200}, "
                f"expected {len(stream.fields)}: {list(stream.fields)}"
            )

    def _undeclared(self, name: str, count: int, need_task_ids: bool) -> EmitResult:
        if self._ports or self._undeclared_is_error:
            raise EmitError(f"component {self._component!r}: {unknown('stream', name, self._ports)}")
        self.counters.undeclared += 1
        if name not in self._warned:
            self._warned.add(name)
            fields = ", ".join(f'"field{i}"' for i in range(1, count + 1))
            declaration = (
                f"[{fields}]" if name == DEFAULT_STREAM else f'[Stream(fields=[{fields}], name="{name}")]'
            )
            self._logger.warning(
                "emits on stream %r, but declares no outputs, so nobody receives it; "
                "add to its class: outputs = %s",
                name,
                declaration,
            )
        return [] if need_task_ids else None


def _arity(port: Port, guarded: bool) -> int:
    """Number of values that the fast way takes; none will do for a direct stream, any without fields."""
    if port.stream.direct or guarded:
        return sys.maxsize
    return len(port.stream.fields) or -1
