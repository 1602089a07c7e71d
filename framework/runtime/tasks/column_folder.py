"""The way of tuples into the windows of an operator that aggregates: a slice at once, columns or rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from framework.operators.windows.key_rows import FEWEST_ROWS, RowWindows
from framework.runtime.exchange.pieces import InputStream, Piece, by_stream
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.processors import TupleProcessor
from framework.runtime.tasks.slot import ComponentSlot
from viper.payload import Payload
from viper.payload import Rows as RowPayload
from viper.rows import Inbox

if TYPE_CHECKING:
    from framework.operators.windows.columns import ColumnWindows


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
        self._columns: ColumnWindows | None = None
        self._rows: RowWindows | None = None
        self._columns_for: Host | None = None
        self._rows_for: Host | None = None
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
            if len(piece) == 4 and piece[2] >= FEWEST_ROWS and self._row_taker() is not None:
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
        taker, fields = self._column_taker(), _fields_of(stream)
        if taker is None or fields is None or stream.key is None:
            return 0
        batch, (key,), time_at = payload.batch, stream.key, self._begin()  # type: ignore[attr-defined]
        return self._taken(taker.take(batch, fields, key, time_at))

    def _fold_rows(self, rows: list[tuple[object, ...]], first: int, count: int, stream: InputStream) -> int:
        """Have rows taken; returns how many were, from the first one on."""
        taker, fields = self._row_taker(), _fields_of(stream)
        if taker is None or fields is None or stream.key is None:
            return 0
        own, (key,) = rows if count == len(rows) else rows[first : first + count], stream.key
        return self._taken(taker.take(own, fields, key, self._begin()))

    def _begin(self) -> Callable[[int], int]:
        """Tuples come next that are taken at once; returns what tells the time of one by its index."""
        self._folded += 1
        self._slot.begin_call()
        first, time_at = self._first, self._positions.ts
        return (lambda index: time_at(first + index)) if first else time_at

    def _taken(self, done: int) -> int:
        self._first += done
        if self._acker is not None:
            self._acker.passed(done)
        return done

    def _column_taker(self) -> ColumnWindows | None:
        host = self._slot.host
        if self._columns_for is not host:  # its component was made anew
            self._columns_for, self._columns = host, host.column_windows()
        return self._columns

    def _row_taker(self) -> RowWindows | None:
        host = self._slot.host
        if self._rows_for is not host:
            self._rows_for, self._rows = host, host.row_windows()
        return self._rows


def _fields_of(stream: InputStream) -> tuple[str, ...] | None:
    """The names of a stream's values, where one of them is the key, and nothing stands beside them."""
    if stream.values is None or stream.key is None or len(stream.key) != 1 or stream.beside:
        return None
    fields: tuple[str, ...] = stream.values._fields  # type: ignore[attr-defined]
    return fields
