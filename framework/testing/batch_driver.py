"""Calls the callbacks of one batch bolt, without a worker: successive tuples of one stream come together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from framework.components import RowError, Rows
from framework.runtime.tasks.task import Task
from framework.testing.driver import Driver, is_tick
from framework.topology import Stream


class BatchDriver(Driver):
    """Runs a batch bolt over some tuples.

    Args:
        task: the bolt's.
        stream: declares the fields of the tuples, and their types if they have any.
        most: the most tuples in one batch; None for all that follow one another on a stream.
    """

    def __init__(self, task: Task, stream: Stream, most: int | None) -> None:
        super().__init__(task)
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
        bulk = self.recorder.bulk
        values, (_, component, stream, *_) = [tuple(tup.values) for tup in batch], batch[0]
        rows = Rows(values, component, stream, self._stream.fields, schema=self._stream.schema)
        bulk.begin(len(batch), rows.made)
        try:
            self._component.process_rows(rows)
            done = len(batch)
        except RowError as error:
            return self._without(error, batch)
        except Exception as error:
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
