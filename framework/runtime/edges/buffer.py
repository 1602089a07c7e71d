"""What a component has emitted and the task has not sent off yet."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from framework.runtime.edges.output import Port
from framework.runtime.metrics.counters import TaskCounters
from viper.payload import Row, Rows
from viper.rows import Outbox
from viper.values import is_shareable

MOST_WAITING = 8192
"""Rows in the outbox at which a thread of the component's own has to wait."""


class Taken(NamedTuple):
    """What has waited in a buffer."""

    payload: Rows
    tags: bytes | None
    """The port of each row as native uint16; None where there is but one port."""
    stamps: dict[int, int]
    """Event times in microseconds that emits gave, by index of the row."""
    notes: Sequence[tuple[int, Any]]
    """By index of the row: for a spout the id that it was emitted with; for a bolt the tree that it belongs
    to, where that is not the one of the tuple in process."""
    named: Mapping[int, Sequence[int]]
    """By port, for direct streams: the task that was named for each of their rows."""


class EmitBuffer:
    """Gathers the rows that a component emits.

    The common emit is `outbox.emit`, in C. It is atomic by itself; all other ways in are locked, as a
    component may emit from threads of its own. Such a thread waits while the outbox is full.
    """

    def __init__(
        self,
        ports: Sequence[Port],
        counters: TaskCounters,
        *,
        slow: Callable[..., Any],
        on_full: Callable[[], None],
        limit: int,
        checked: bool,
        takes_ids: bool,
    ) -> None:
        """
        Args:
            ports: the component's streams.
            counters: where emitted rows are counted.
            slow: an emit of any form, for all that the common way does not do.
            on_full: called by the thread that emits whenever the outbox holds `limit` rows or more.
            limit: see there.
            checked: whether every emit goes by `slow`.
            takes_ids: whether the common emit takes an id, as a spout's does.
        """
        self.guard = threading.RLock()
        """Who holds it finds the buffer at rest, but for the common emit."""
        self._ports = tuple(ports)
        self._counters = counters
        self._thread = threading.get_ident()
        self._room = threading.Condition()
        self._waiting_threads = 0
        self.appending = False
        """Whether a row is just being appended: a finalizer that emits then must not empty the buffer."""
        self._closed = False
        self._mutable = False
        """Whether a row in the outbox may hold a value that a consumer can change."""
        self._stamps: dict[int, int] = {}
        self._named: dict[int, list[int]] = {port.tag: [] for port in ports if port.stream.direct}
        """For each direct stream the tasks named for the rows that wait."""
        self._discarded = 0
        self.limit = limit
        self.outbox = Outbox(
            tuple((port.stream.name, _arity(port, checked), port.is_used) for port in ports),
            slow=slow,
            on_full=on_full,
            limit=limit,
            takes_ids=takes_ids,
        )

    def __len__(self) -> int:
        return len(self.outbox)

    @property
    def is_mine(self) -> bool:
        """Whether the caller is the task's own thread."""
        return threading.get_ident() == self._thread

    def append(self, port: Port, row: Row, task: int | None, stamp: int | None, note: object) -> None:
        """Append a row; to be called by who holds the guard.

        Args:
            port: the stream.
            row: its values.
            task: the receiving task that was named for it, on a direct stream.
            stamp: its event time in microseconds, if the emit gave it.
            note: what is noted of it, see `Taken.notes`.
        """
        self.appending = True
        try:
            if port.is_used:
                self._mutable = self._mutable or not is_shareable(row)
                if task is not None:
                    self._named[port.tag].append(task)
                if stamp is not None:
                    self._stamps[len(self.outbox)] = stamp
            self.outbox.append(port.tag, row, note)
        finally:
            self.appending = False

    def take(self) -> Taken:
        """All rows that wait for a position, and what is known of them."""
        with self.guard:
            rows, tags, notes = self.outbox.take()
            mutable, self._mutable = self._mutable, False
            stamps, self._stamps = self._stamps, {}
            named, self._named = self._named, {tag: [] for tag in self._named}
        discarded = self.outbox.discarded
        self._counters.emitted += len(rows) + discarded - self._discarded
        self._discarded = discarded
        self._wake_waiting()
        return Taken(Rows(rows, mutable), tags, stamps, notes or (), named)

    def name_tasks(self, named: Mapping[int, Sequence[int]]) -> None:
        """Tell the direct streams who receives the rows that are sent off next, see `Taken.named`."""
        for tag in self._named:
            self._ports[tag].name_tasks(named.get(tag, ()))

    def wait_for_room(self) -> None:
        """Hold a thread of the component's own until the task has emptied or closed the buffer."""
        with self._room:
            self._waiting_threads += 1
            self._room.wait_for(lambda: self._closed or len(self.outbox) < MOST_WAITING)
            self._waiting_threads -= 1

    def close(self) -> None:
        """Let no thread wait any more."""
        self._closed = True
        self._wake_waiting()

    def _wake_waiting(self) -> None:
        if self._waiting_threads:  # which costs the task nothing while none waits
            with self._room:
                self._room.notify_all()


def _arity(port: Port, checked: bool) -> int:
    """Number of values that the fast way takes; none will do for a direct stream, any without fields."""
    if port.stream.direct or checked:
        return sys.maxsize
    return len(port.stream.fields) or -1
