"""How columns of tuples reach the windows of an operator that aggregates: all of a slice at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framework.runtime.hosts.host import Host
from framework.runtime.metrics.counters import TaskCounters
from framework.runtime.pieces import InputStream, Piece, by_stream
from framework.runtime.tasks.processors import TupleProcessor
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tracking.acker import Acker
from viper.payload import Payload
from viper.payload import Rows as RowPayload
from viper.rows import Inbox

if TYPE_CHECKING:
    from framework.windows.columns import ColumnWindows


class ColumnFolder(TupleProcessor):
    """Has columns taken into windows where that can be done, and else calls `process` for each tuple.

    An operator that takes columns emits nothing below a tuple. So nothing says of these tuples how many
    outputs each of them had.
    """

    def __init__(
        self, slot: ComponentSlot, inbox: Inbox, acker: Acker | None, counters: TaskCounters
    ) -> None:
        super().__init__(slot, inbox, acker, counters)
        self._columns: ColumnWindows | None = None
        self._made_for: Host | None = None
        self._folded = 0
        """How many times columns were taken."""

    @property
    def last_begun(self) -> int:
        """As in the base class."""
        return super().last_begun + self._folded

    def process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process tuples."""
        if all(isinstance(piece[0], RowPayload) for piece in pieces):
            yield from super().process([(piece[0].rows, *piece[1:]) for piece in pieces])
            return
        for stream, payload in by_stream(pieces):
            done = self._fold(stream, payload)
            if done < len(payload):
                rest = payload.slice(done, len(payload) - done)
                yield from super().process([(rest.rows, 0, len(rest), stream)])

    def _fold(self, stream: InputStream, payload: Payload) -> int:
        """Have columns taken; returns how many tuples were, from the first one on."""
        columns, values, key = self._taker(), stream.values, stream.key
        if isinstance(payload, RowPayload) or columns is None or values is None or len(key or ()) != 1:
            return 0
        assert key is not None
        self._folded += 1
        self._slot.begin_call()
        first, positions = self._first, self._positions
        batch = payload.batch  # type: ignore[attr-defined]
        fields: tuple[str, ...] = values._fields  # type: ignore[attr-defined]
        done = columns.take(batch, fields, key[0], lambda index: positions.ts(first + index))
        self._first += done
        if self._acker is not None:
            self._acker.passed(done)
        return done

    def _taker(self) -> ColumnWindows | None:
        host = self._slot.host
        if self._made_for is not host:  # its component was made anew
            self._made_for, self._columns = host, host.column_windows()
        return self._columns
