"""Processing of batches with transactions: as single tuples are, but many of them in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework.operators.components import Rows
from framework.runtime.exchange.bulk import BulkEmits
from framework.runtime.exchange.pieces import InputStream, Piece, split_at
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.batch_processor import BatchProcessor
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.slot import ComponentSlot
from framework.runtime.tasks.transaction_processor import count_at_once, refusing
from viper.payload import Payload


class TransactionBatches(BatchProcessor):
    """Calls `process_rows` with rows, and `process_results` with as many of them as have been evaluated.

    These may be fewer at a time: a channel with little room may want what comes of the first ones before
    others are gathered that hold the rest back.
    """

    _callback = "process_results"

    def __init__(
        self,
        slot: ComponentSlot,
        emits: BulkEmits,
        acker: Acker | None,
        counters: TaskCounters,
        membership: Membership,
        *,
        keeps: bool = True,
    ) -> None:
        """
        Args:
            slot: as of the base class, like all but the following.
            membership: of the group that evaluates the transactions.
        """
        super().__init__(slot, emits, acker, counters, keeps=keeps)
        self.membership = membership

    def process(self, pieces: list[Piece]) -> Iterator[None]:
        """Process tuples; yields whenever the rest has to wait, for room or for others of the group."""
        while pieces:
            left = sum(piece[2] for piece in pieces)
            count = count_at_once(self._positions, self._first, left, self.membership.most)
            batch, pieces = split_at(pieces, count)
            yield from super().process(batch)
            if pieces:
                yield

    def _process_all(self, stream: InputStream, payload: Payload) -> Iterator[None]:
        membership, origin, left = self.membership, self._origin(stream), len(payload)
        rows = Rows.received(payload, origin, self._positions, self._first, self._own_slots())
        raised = self._gather(rows, left)
        membership.collect(self._positions, self._first, left)
        while left:
            ready = min(membership.ready(), left)
            if not ready:
                membership.wait_at(self._positions[self._first])
                yield
                continue
            membership.go_on()
            results = membership.recorder.take_rows(ready)
            part = payload.slice(0, ready) if ready < left else payload
            if raised is None:
                rows = Rows.received(part, origin, self._positions, self._first, self._own_slots())
                self._call_back(rows, ready, results, payload)
            else:
                self._raised(raised, ready, None)
            left -= ready
            if left:  # what was emitted is placed, and told, before the task may wait
                payload = payload.slice(ready, left)
                yield
        del raised  # which knows this frame

    def _gather(self, rows: Rows, count: int) -> BaseException | None:
        """Have the component say what it wants of the tables; returns what it has raised."""
        recorder, component = self.membership.recorder, self._slot.host.component

        def transactions(asked: Rows, where: Any = None) -> Any:
            if asked is not rows:
                raise ValueError("transactions() is for the rows that process_rows() has just been given")
            return recorder.begin_rows(where)

        self._slot.begin_call()
        recorder.start_rows(count)
        with refusing(component):
            component.__dict__["transactions"] = transactions
            try:
                self._slot.process(rows)
            except user_errors() as error:
                recorder.discard_input()
                return error
            finally:
                del component.__dict__["transactions"]
        return None

    def _call_back(self, rows: Rows, count: int, results: Any, payload: Payload) -> None:
        self.last_begun += 1
        self._emits.begin(count, rows.made, payload.lease)
        self._slot.begin_call()
        try:
            self._slot.host.component.process_results(rows, results)
            self._emits.finish(count)
        except user_errors() as error:
            self._slot.take_back()
            self._emits.drop()
            self._raised(error, count, None)
            return
        self._passed(count)
