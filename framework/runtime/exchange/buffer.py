"""The buffer of rows that a component has emitted and that its task has not sent off yet."""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from framework.runtime.exchange.output import Port
from framework.runtime.observation.counters import TaskCounters
from viper.payload import NOTHING, Payload, Row, Rows, is_shareable, worth_joining
from viper.rows import Outbox

PAUSE_AT = 2048
"""Rows in the outbox at which they are sent off before the next callback."""
SPILL_AT = 4 * PAUSE_AT
"""Rows in the outbox at which they are sent off in the middle of a callback."""
MOST_WAITING = 8192
"""Rows in the outbox at which a thread that a component has started has to wait."""


_new: Final = tuple.__new__
"""Makes a named tuple without the function of Python's that its class would call."""


class Taken(NamedTuple):
    """The rows or columns that have waited in a buffer, and what their emits said of them."""

    payload: Payload
    tags: bytes | None
    """The port of each row as native uint16; None where there is but one port."""
    stamps: dict[int, int]
    """Event times in microseconds, by index of the row, for emits that gave one."""
    notes: Sequence[tuple[int, Any]]
    """Notes by index of the row.

    For a spout: the id that the row was emitted with. For a bolt: the tree of the row, if it is not the tree
    of the tuple in process.
    """
    named: Mapping[int, Sequence[int]]
    """By port, for direct streams: the task that was named for each of their rows."""
    size: int
    """The number of rows."""

    def split(self, count: int) -> tuple[Taken, Taken]:
        """The first `count` rows, and the others."""
        return self._part(0, count), self._part(count, self.size)

    def _part(self, first: int, end: int) -> Taken:
        tags = self.tags
        of_ports = [0] * self.size if tags is None else memoryview(tags).cast("H").tolist()
        named = {}
        for tag, tasks in self.named.items():
            before = of_ports[:first].count(tag)
            named[tag] = tasks[before : before + of_ports[first:end].count(tag)]
        return Taken(
            self.payload.slice(first, end - first),
            None if tags is None else tags[2 * first : 2 * end],
            {index - first: stamp for index, stamp in self.stamps.items() if first <= index < end},
            [(index - first, note) for index, note in self.notes if first <= index < end],
            named,
            end - first,
        )


NONE_TAKEN: Final = Taken(NOTHING, None, {}, (), {}, 0)
"""The content of a buffer that nothing was emitted into."""


class EmitBuffer:
    """Gathers the rows that a component emits.

    A component may emit from threads that it has started. The common emit, `outbox.emit`, is in C and atomic;
    all other methods that append take a lock. Such a thread waits while the outbox is full.
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
            counters: emitted rows are counted here.
            slow: called for every emit that the common one cannot handle, with the same arguments.
            on_full: called by the emitting thread when the outbox holds `limit` rows or more.
            limit: the number of rows from which on `on_full` is called.
            checked: whether every emit is handled by `slow`.
            takes_ids: whether the common emit takes an id, as a spout's does.
        """
        self.guard = threading.RLock()
        """While a thread holds it, only the common emit can change the buffer."""
        self._ports = tuple(ports)
        self._counters = counters
        self._thread = threading.get_ident()
        self._on_foreign: Callable[[], None] = _nobody
        self._room = threading.Condition()
        self._waiting_threads = 0
        self.appending = False
        """True if a row is being appended; a finalizer that emits meanwhile must not empty the buffer."""
        self._closed = False
        self._mutable = False
        """True if a row in the outbox may hold a value that a consumer can change."""
        self._stamps: dict[int, int] = {}
        self._named: dict[int, list[int]] = {port.tag: [] for port in ports if port.stream.direct}
        """For each direct stream the receiving tasks that were named for the rows that wait."""
        self._discarded = self._unused = 0
        """Tuples that nobody receives: those that have been counted, and those of columns."""
        self.segments: list[tuple[Port | None, Taken]] = []
        """The rows emitted before those in the outbox: columns with their stream, and rows before them."""
        self._in_segments = 0
        """Tuples in the segments; kept, as the length is asked for at every look at the task."""
        self.has_more = False
        """True if `take` has left rows or columns that were there when it was called."""
        self.limit = limit
        self.is_mute = not ports
        """True if the component declares no stream, so that nothing ever waits here."""
        self._arities = {port.tag: _arity(port, checked) for port in ports}
        self.outbox = Outbox(
            tuple(map(self._declared, ports)),
            slow=slow,
            on_full=on_full,
            limit=limit,
            takes_ids=takes_ids,
        )

    def _declared(self, port: Port) -> tuple[str, int, bool] | tuple[str, int, bool, bytes]:
        declared = port.stream.name, self._arities[port.tag], port.is_used
        return declared if port.form is None else (*declared, port.form.codes)

    def __len__(self) -> int:
        return len(self.outbox) + self._in_segments

    @property
    def has_any(self) -> bool:
        """True if any row or column waits."""
        return len(self.outbox) > 0 or len(self.segments) > 0

    @property
    def has_changed(self) -> bool:
        """True if a component has emitted anything since the last call of `take`."""
        # As `has_any`, which is not called: bolts on columns look here at each batch.
        if self.segments or self.outbox:
            return True
        return self.outbox.discarded + self._unused != self._discarded

    def watch(self, call: Callable[[], None], *, always: bool) -> None:
        """Have something called for each row that another thread than the task's emits.

        Args:
            call: called in the emitting thread, after the row has come.
            always: whether it is called for the rows of the task's own thread, too; such a task keeps that.
        """
        self._on_foreign = call
        self.outbox.watch(0 if always else self._thread, call)

    def come_here(self) -> None:
        """Take the calling thread for the task's own from now on."""
        self._thread = threading.get_ident()
        self.outbox.watch(self._thread, self._on_foreign)

    @property
    def is_mine(self) -> bool:
        """True if the caller is the task's own thread."""
        return threading.get_ident() == self._thread

    def append(self, port: Port, row: Row, task: int | None, stamp: int | None, note: object) -> None:
        """Append a row; the caller must hold the guard.

        Args:
            port: the stream.
            row: the values.
            task: the receiving task that was named for the row, on a direct stream.
            stamp: the event time of the row in microseconds, if the emit gave one.
            note: the note of the row, see `Taken.notes`.
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

    def arity_of(self, port: Port) -> int:
        """The number of values that the common emit accepts for a port; -1 accepts any number."""
        return self._arities[port.tag]

    def extend(self, port: Port, rows: list[Row], mutable: bool) -> None:
        """Append rows of a stream that is no direct one.

        Args:
            port: the stream.
            rows: the values of each.
            mutable: whether a consumer could change any of the values.
        """
        with self.guard:
            self._mutable = self._mutable or mutable
            self.outbox.extend(port.tag, rows)

    def put(self, port: Port, columns: Payload) -> None:
        """Append columns of a stream that is no direct one."""
        count = len(columns)
        if not port.is_used:
            self._unused += count
            return
        tags = (array("H", [port.tag]) * count).tobytes() if len(self._ports) > 1 else None
        with self.guard:
            if len(self.outbox):
                self.segments.append((None, rows := self._take_rows()))
                self._in_segments += rows.size
            self._in_segments += count
            self.segments.append((port, _new(Taken, (columns, tags, {}, (), {}, count))))

    def take(self) -> Taken:
        """Take rows or columns out of the buffer, and wake the threads that wait for room.

        `has_more` says whether there is more.
        """
        with self.guard:
            if self.segments:
                taken = self._take_segment()
                self._in_segments -= taken.size
                self.has_more = bool(self.segments or self.outbox)
            else:
                taken = self._take_rows()
                self.has_more = False
        discarded = self.outbox.discarded + self._unused
        self._counters.emitted += taken.size + discarded - self._discarded
        self._discarded = discarded
        if self._waiting_threads:
            self._wake_waiting()
        return taken

    def _take_segment(self) -> Taken:
        """The first of the segments, with those behind it that are worth putting together with it."""
        segments = self.segments
        if len(segments) == 1:  # most often
            return segments.pop()[1]
        port, taken = segments[0]
        count = 1
        if port is not None:
            of_port = list(takewhile(lambda segment: segment[0] is port, segments))
            count = worth_joining([segment.payload for _, segment in of_port])
        if count > 1:
            _, joined = zip(*segments[:count], strict=True)
            payload = taken.payload.joined(*(segment.payload for segment in joined[1:]))
            tags = None if taken.tags is None else b"".join(segment.tags or b"" for segment in joined)
            taken = Taken(payload, tags, {}, (), {}, len(payload))
        del segments[:count]
        return taken

    def _take_rows(self) -> Taken:
        """The content of the outbox; the caller must hold the guard."""
        rows, tags, notes = self.outbox.take()
        mutable, self._mutable = self._mutable, False
        stamps, self._stamps = self._stamps, {}
        named = self._named
        if named:
            self._named = {tag: [] for tag in named}
        return _new(Taken, (Rows(rows, mutable, not mutable), tags, stamps, notes or (), named, len(rows)))

    def name_tasks(self, named: Mapping[int, Sequence[int]]) -> None:
        """Inform the direct streams who receives the rows that are sent off next, see `Taken.named`."""
        for tag in self._named:
            self._ports[tag].name_tasks(named.get(tag, ()))

    def wait_for_room(self) -> None:
        """Have a thread of the component's wait until the task has emptied or closed the buffer."""
        with self._room:
            self._waiting_threads += 1
            self._room.wait_for(lambda: self._closed or len(self.outbox) < MOST_WAITING)
            self._waiting_threads -= 1

    def close(self) -> None:
        """Wake the threads that wait for room, and let no thread wait from now on."""
        self._closed = True
        self._wake_waiting()

    def let_go(self) -> None:
        """Let go of the streams and of what still waits, as the run has ended and `close` was called."""
        self._on_foreign = _nobody
        self.outbox.watch(self._thread, _nobody)
        self.outbox = Outbox((), slow=_nobody, on_full=_nobody, limit=1, takes_ids=False)
        self._ports = ()
        self.segments.clear()

    def _wake_waiting(self) -> None:
        with self._room:
            self._room.notify_all()


def _nobody(*args: object) -> None:
    """Do nothing: no task is there to be called."""


def _arity(port: Port, checked: bool) -> int:
    """The number of values that the common emit accepts for a port; -1 accepts any number.

    A number that no row has sends every emit to `slow`, as it must be for direct streams.
    """
    if port.stream.direct or checked:
        return sys.maxsize
    return len(port.stream.fields) or -1
