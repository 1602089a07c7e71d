"""Calls the callbacks of one batch bolt, without a worker: successive tuples of one stream come together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from framework.model.topology import Stream
from framework.operators.components import RowError, Rows
from framework.operators.components.rows import Origin
from framework.runtime.tasks.task import Task
from framework.testing.driver import Driver, is_tick
from viper.payload import Payload
from viper.payload import Rows as RowPayload


class BatchDriver(Driver):
    """Runs a batch bolt over some tuples.

    Args:
        task: the bolt's.
        stream: declares the fields of the tuples, and their types if they have any.
        most: the most tuples in one batch; None for all that follow one another on a stream.
        key: indexes of the fields that name the key of its declared state; None if it has none by key.
    """

    def __init__(
        self, task: Task, stream: Stream, most: int | None, key: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(task, key)
        self._slot = task.slot
        self._stream = stream
        self._most = most

    def _give_all(self, tuples: Iterable[Any]) -> None:
        for _, group in groupby(tuples, lambda tup: (tup.component, tup.stream)):
            together = list(group)
            if is_tick(together[0]):
                for tick in together:
                    self._give(tick)
            else:
                self._give_rows(together)

    def _give_rows(self, tuples: Sequence[Any]) -> None:
        most = self._most or len(tuples)
        first = 0
        while first < len(tuples):
            first += self._processed(tuples[first : first + most])

    def _processed(self, batch: Sequence[Any]) -> int:
        """Process a batch; returns how many of its tuples need not come again."""
        payload = self._payload([tuple(tup.values) for tup in batch])
        lease, done = payload.lease, self._called(payload, batch)
        del payload
        if lease is not None and not lease.end():
            self._slot.kept(lease)
        return done

    def _payload(self, values: list[tuple[Any, ...]]) -> Payload:
        """Values as the bolt receives them; one that declares that it keeps no columns is lent them."""
        stream = self._stream
        if self._host.keeps_columns or stream.schema is None:
            return RowPayload(values)
        from viper.columns.batches import Batches  # wants pyarrow, which other bolts do without
        from viper.columns.payload import Columns

        return Columns(Batches(stream.schema, stream.fields).of_rows(values)).lent_out()

    def _called(self, payload: Payload, batch: Sequence[Any]) -> int:
        """Call the bolt; returns as `_processed` does."""
        bulk, (_, component, stream, *_) = self.recorder.bulk, batch[0]
        key = self._slot.key_of(self._key)
        origin = Origin(component, stream, self._stream.fields, self._stream.schema, key)
        rows = Rows.received(payload, origin, (), 0)
        bulk.begin(len(batch), rows.made, payload.lease)
        self._end_call()
        try:
            self._component.process_rows(rows)
            done = len(batch)
        except RowError as error:
            return self._without(error, batch)
        except Exception as error:
            self._take_back()
            bulk.drop()
            self._raised(error, batch)
            return len(batch)
        bulk.finish(done)
        self._ack(batch)
        return done

    def _without(self, error: RowError, batch: Sequence[Any]) -> int:
        """Keep what stands before a row that could not be processed."""
        if not 0 <= error.index < len(batch):
            self.recorder.bulk.drop()
            self._raised(error, batch)
            return len(batch)
        self.recorder.bulk.finish(error.index)
        self._ack(batch[: error.index])
        self._raised(error.cause, [batch[error.index]])
        return error.index + 1

    def _ack(self, tuples: Sequence[Any]) -> None:
        for tup in tuples:
            self.recorder.ack(tup)
