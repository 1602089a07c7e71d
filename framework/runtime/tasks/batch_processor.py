"""The way of a batch bolt's input to its component: successive rows of one stream in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from framework.operators.components import RowError, Rows
from framework.operators.components.rows import Origin
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.exchange.pieces import InputStream, Piece, by_stream
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.slot import ComponentSlot
from viper.payload import Payload
from viper.position import Positions

if TYPE_CHECKING:
    from viper.columns.lease import Lease
    from viper.columns.slots import KeySlots

_TRIAL_EVERY: Final = 64
"""Of so many batches that are passed by reference, a bolt that declares that it keeps nothing is lent one.
So if it does keep something, that is found out wherever it runs, not only beside other processes."""


class BatchProcessor:
    """Calls `process_rows` with the rows of one stream after the other."""

    left_open = 0
    _callback = "process_rows"
    """The name of what is called, for messages."""

    def __init__(
        self,
        slot: ComponentSlot,
        emits: BulkEmits,
        acker: Acker | None,
        counters: TaskCounters,
        *,
        keeps: bool = True,
    ) -> None:
        """
        Args:
            slot: holds the component.
            emits: takes what it emits for its rows.
            acker: answers for the rows; None where nothing is tracked.
            counters: the task's.
            keeps: whether the component may keep columns that it receives.
        """
        self.last_begun = 0
        """A number that changes with each batch; another thread sees by it that the task makes progress."""
        self._slot = slot
        self._emits = emits
        self._acker = acker
        self._counters = counters
        self._keeps = keeps
        self._owned = 0
        """Batches that it could have kept, although it declares that it does not."""
        self._positions = Positions()
        self._first = 0
        """Index in there of the next tuple."""
        self._origins: dict[tuple[str, str], Origin] = {}
        self._slots: dict[str, KeySlots] = {}
        """The numbers that keys were given, by the name of their field."""
        self._numbered_for: Host | None = None

    @property
    def may_need_component(self) -> bool:
        """As of `Processor`."""
        return True

    def begin(self, positions: Positions) -> None:
        """Prepare for tuples at these positions."""
        self._positions, self._first = positions, 0

    def process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process tuples."""
        has_begun = False
        for stream, payload in by_stream(pieces):
            if has_begun:  # what the last call has emitted is placed first, as it is behind all of them
                yield
            has_begun = True
            if self._keeps or payload.lease is not None:
                yield from self._process_all(stream, payload)
            else:
                yield from self._process_owned(stream, payload)
        if self._slot.is_gone:
            yield

    def _process_owned(self, stream: InputStream, payload: Payload) -> Iterator[None]:
        """Process tuples that could be kept, and find out at times whether they are."""
        lease, self._owned = None, self._owned + 1
        if self._owned % _TRIAL_EVERY == 0 or self._owned.bit_count() == 1:  # and the 1st, 2nd, 4th, ...
            payload = payload.lent_out()
            lease = payload.lease
        yield from self._process_all(stream, payload)
        del payload
        if lease is not None and not lease.end():
            self._slot.kept(lease)

    def _process_all(self, stream: InputStream, payload: Payload) -> Iterator[None]:
        origin = self._origin(stream)
        left = len(payload)
        while left:
            slots = self._own_slots()
            rows = Rows.received(payload, origin, self._positions, self._first, slots)
            done = self._process(rows, left, payload.lease)
            left -= done
            if left:
                payload = payload.slice(done, left)
                yield

    def _own_slots(self) -> dict[str, KeySlots]:
        if self._numbered_for is not self._slot.host:  # a component that was made anew remembers no key
            self._numbered_for = self._slot.host
            self._slots = {}
        return self._slots

    def _origin(self, stream: InputStream) -> Origin:
        key = stream.component, stream.name
        if key not in self._origins:
            fields = () if stream.values is None else stream.values._fields  # type: ignore[attr-defined]
            self._origins[key] = Origin(*key, fields, stream.schema, self._slot.key_of(stream.key))
        return self._origins[key]

    def _process(self, rows: Rows, count: int, lease: Lease | None) -> int:
        """Give the component so many rows; returns how many of them need not come again."""
        self.last_begun += 1
        self._emits.begin(count, rows.made, lease, rows.sealed)
        self._slot.begin_call()
        try:
            failed = self._called(rows, count)
        except user_errors() as error:
            self._slot.take_back()
            self._emits.drop()
            self._raised(error, count, None)
            return count
        if failed is None:
            self._passed(count)
            return count
        done = failed.index + 1
        self._passed(failed.index)
        try:
            self._raised(failed.cause, 1, rows[failed.index])
        finally:
            del failed  # which knows this frame
        return done

    def _called(self, rows: Rows, count: int) -> RowError | None:
        """Call the component; returns what it says of a row that it could not process."""
        try:
            self._slot.process(rows)
        except RowError as error:
            if not 0 <= error.index < count:
                raise
            self._emits.finish(error.index)
            return error
        self._emits.finish(count)
        return None

    def _raised(self, error: BaseException, count: int, row: object) -> None:
        """Deal with an exception for the next `count` rows, for which nothing was emitted."""
        self._emits.pass_over(count)
        lost = count if self._acker is None else self._acker.raised_for_all(count)
        self._slot.raised(self._callback, error, row)
        self._counters.failed += count
        self._counters.lost += lost
        self._passed(count)

    def _passed(self, count: int) -> None:
        self._first += count
        if self._acker is not None:
            self._acker.passed(count)
