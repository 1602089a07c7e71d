"""Calls the callbacks of one bolt with shared tables, without a worker: each tuple's transactions at once."""

from __future__ import annotations

from typing import Any

from framework.model.topology import DEFAULT_STREAM, Stream
from framework.runtime.exchange.inputs import values_class
from framework.runtime.exchange.pieces import InputStream
from framework.runtime.tasks.task import Task
from framework.runtime.tasks.transaction_processor import TransactionProcessor
from framework.testing.driver import Driver, is_tick
from viper.position import Level, Position, Positions

_LEVEL = Level(0, 0, 0, 0)
"""Nothing is placed at it."""


class TransactionDriver(Driver):
    """Gives a bolt its tuples one after the other, and with each what came of its transactions.

    Args:
        task: the bolt's.
        processor: the task's.
        stream: that of the tuples.
        key: as of the base class.
    """

    def __init__(
        self,
        task: Task,
        processor: TransactionProcessor,
        stream: Stream,
        key: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(task, key)
        self._slot = task.slot
        self._membership = processor.membership
        self._gathering = processor.gathering
        self._fields = stream.fields
        self._number = 0

    def _give(self, tup: Any) -> None:
        if is_tick(tup):
            super()._give(tup)
        elif self._guarded([tup], self._process, tup) and not self._host.answers_itself:
            self.recorder.ack(tup)

    def _process(self, tup: Any) -> None:
        """Have the bolt say what it wants, evaluate that, and tell it the results."""
        fields = self._fields
        values = values_class(tup.component, DEFAULT_STREAM, fields) if fields else None
        stream = InputStream(tup.component, tup.stream, tup.task, values, _LEVEL)
        self._slot.process = self._host.process
        raised = self._gathering.gather([([tuple(tup.values)], 0, 1, stream)])
        if raised:
            raise raised[0]
        self._number += 1
        positions = Positions()
        positions.append(Position(self._number, 0, 0))
        self._membership.collect(positions, 0, 1)
        if self._state is not None:
            self._state.scope.enter(tuple(tup.values), self._key)
        for result in self._membership.recorder.take_results():
            self._component.process_result(tup, result)
        self._membership.release()
