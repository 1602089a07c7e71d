"""Components at the boundary of the order guarantee, and beyond it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from framework import Bolt, TicklessBatchingBolt
from tests.determinism.components import FIELDS, KEYS, STATELESS, Timed

BESIDE = 500
"""Rows that a thread of a component's own emits; few enough to wait in its outbox."""


class Greets(Bolt):
    """Emits in `initialize`, and passes on what it gets."""

    outputs = FIELDS
    config = STATELESS

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        for number in range(3):
            self.emit([number, "hello"])

    def process(self, tup: Any) -> None:
        self.emit(tup.values[:2])


class Talks(Bolt):
    """Has a thread that emits beside what it passes on; the row ``last`` waits for its end."""

    outputs = FIELDS

    def __init__(self, last: str) -> None:
        super().__init__()
        self._last = last

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._thread = threading.Thread(target=self._talk)
        self._thread.start()

    def _talk(self) -> None:
        for number in range(BESIDE):
            self.emit([-1, f"beside {number}"])

    def process(self, tup: Any) -> None:
        self.emit(tup.values[:2])
        if tup.values[1] == self._last:
            self._thread.join()


class ByTimer(TicklessBatchingBolt):
    """Emits its batches, which a timer fires."""

    outputs = FIELDS
    secs_between_batches = 0.002

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        for tup in tups:
            self.emit(tup.values[:2])


class Ids(Bolt):
    """Says by which of its tasks a row came, and from which."""

    outputs = [*FIELDS, "ids"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        self.emit([*tup.values[:2], (self.task_id, tup.task)])


class Hashes(Bolt):
    """Says what Python's own hash makes of a text."""

    outputs = [*FIELDS, "hash"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        self.emit([*tup.values[:2], hash("a text")])


class SetOrder(Bolt):
    """Says in which order a set of texts is gone through."""

    outputs = [*FIELDS, "order"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        self.emit([*tup.values[:2], tuple({f"text {n}" for n in range(20)})])


class Late(Timed):
    """Its last row is earlier than the ones before."""

    def tuples(self) -> Iterator[list[Any] | None]:
        yield from super().tuples()
        yield [0, "late", 3]


class AllKeys(Timed):
    """Every key at every time, so that every replica has something in each of its batches."""

    def row(self, number: int) -> list[Any]:
        """The row of this number."""
        return [number % KEYS, *super().row(number)[1:]]
