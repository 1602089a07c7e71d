"""The way of tuples into the windows of an operator that aggregates: a slice at once, columns or rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from framework.operators.windows.stretches import RowWindows, WindowAdder
from framework.runtime.exchange.pieces import InputStream, Piece, by_stream
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.processors import TupleProcessor
from framework.runtime.tasks.slot import ComponentSlot
from viper.payload import Payload
from viper.payload import Rows as RowPayload
from viper.rows import Inbox


class ColumnFolder(TupleProcessor):
    """Has columns and rows taken into windows at once where that can be done, and else calls `process` for
    each tuple.

    An operator that takes them emits nothing below a tuple. So nothing says of these tuples how many outputs
    each of them had.
    """

    def __init__(
        self, slot: ComponentSlot, inbox: Inbox, acker: Acker | None, counters: TaskCounters
    ) -> None:
        super().__init__(slot, inbox, acker, counters)
        self._adders: dict[bool, WindowAdder | None] = {}
        """That of columns by True, that of rows by False."""
        self._adders_of: Host | None = None
        self._folded = 0
        """The number of times tuples were taken at once."""

    @property
    def last_begun(self) -> int:
        """As in the base class."""
        return super().last_begun + self._folded

    def process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process tuples."""
        if all(isinstance(piece[0], RowPayload) for piece in pieces):
            yield from self._process_rows([(piece[0].rows, *piece[1:]) for piece in pieces])
            return
        for stream, payload in by_stream(pieces):
            done = self._fold_columns(stream, payload)
            if done < len(payload):
                rest = payload.slice(done, len(payload) - done)
                whole: Piece = (rest.rows, 0, len(rest), stream)
                if isinstance(payload, RowPayload):
                    yield from self._process_rows([whole])
                else:
                    yield from super().process([whole])

    def _process_rows(self, pieces: list[Piece]) -> Iterator[None]:
        one_by_one: list[Piece] = []
        for piece in pieces:
            done = 0
            if len(piece) == 4 and piece[2] >= RowWindows.fewest and self._adder(of_columns=False):
                if one_by_one:
                    yield from super().process(one_by_one)
                    one_by_one = []
                done = self._fold_rows(*piece)
            if done < piece[2]:
                rows, first, count, *streams = piece
                one_by_one.append((rows, first + done, count - done, *streams))
        if one_by_one:
            yield from super().process(one_by_one)

    def _fold_columns(self, stream: InputStream, payload: Payload) -> int:
        """Have columns taken; returns how many tuples were, from the first one on."""
        if isinstance(payload, RowPayload):
            return 0
        return self._fold(self._adder(of_columns=True), payload.batch, stream)  # type: ignore[attr-defined]

    def _fold_rows(self, rows: list[tuple[object, ...]], first: int, count: int, stream: InputStream) -> int:
        """Have rows taken; returns how many were, from the first one on."""
        own = rows if count == len(rows) else rows[first : first + count]
        return self._fold(self._adder(of_columns=False), own, stream)

    def _fold(self, adder: WindowAdder | None, tuples: Any, stream: InputStream) -> int:
        fields = _fields_of(stream)
        if adder is None or fields is None or stream.key is None:
            return 0
        (key,) = stream.key
        done = adder.take(tuples, fields, key, self._begin())
        self._first += done
        if self._acker is not None:
            self._acker.passed(done)
        return done

    def _begin(self) -> Callable[[int], int]:
        """Prepare for tuples that are taken at once; return the function that gives the time of one by its
        index."""
        self._folded += 1
        self._slot.begin_call()
        first, time_at = self._first, self._positions.ts
        return (lambda index: time_at(first + index)) if first else time_at

    def _adder(self, *, of_columns: bool) -> WindowAdder | None:
        host = self._slot.host
        if self._adders_of is not host:  # its component was made again
            self._adders_of, self._adders = host, {}
        if of_columns not in self._adders:
            self._adders[of_columns] = host.window_adder(of_columns=of_columns)
        return self._adders[of_columns]


def _fields_of(stream: InputStream) -> tuple[str, ...] | None:
    """The names of a stream's values, where one of them is the key, and no others come beside them."""
    if stream.values is None or stream.key is None or len(stream.key) != 1 or stream.beside:
        return None
    fields: tuple[str, ...] = stream.values._fields  # type: ignore[attr-defined]
    return fields
