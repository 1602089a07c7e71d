"""Components whose tasks run on workers of every kind, so they are all found by their names here.

They import no test tool, as every worker process imports them. Where a component has to wait for
something it opens a named pipe, which works between threads and between processes alike.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from framework import Bolt, Spout, Stream
from tests.framework.runtime.workers.watching import show_stacks_when_told

show_stacks_when_told()


def wait_at(gate: str) -> None:
    """Wait until somebody opens a gate, a named pipe."""
    with open(gate, "rb") as pipe:
        pipe.read()


def open_gate(gate: str) -> None:
    """Let through who waits at a gate, as soon as somebody does."""
    with open(gate, "wb"):
        pass


# -- spouts


class Numbers(Spout):
    """Emits (name and partition, 0), (name and partition, 1) and so on."""

    outputs = ["source", "number"]

    def __init__(self, count: int = 100, name: str = "") -> None:
        super().__init__()
        self._count = count
        self._name = name

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        mine = [task for task, name in context["task->component"].items() if name == self.component_name]
        self._source = f"{self._name}{sorted(map(int, mine)).index(self.task_id)}"

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [self._source, number]


class Endless(Spout):
    """Emits (0), (1) and so on, one from each call."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._next = 0

    def next_tuple(self) -> None:
        self.emit([self._next])
        self._next += 1


class Rows(Spout):
    """Emits the rows that it is made with."""

    outputs = ["value"]

    def __init__(self, rows: list[list[Any]]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Iterator[list[Any]]:
        yield from self._rows


class RowsOfTwo(Rows):
    """Emits rows of two values."""

    outputs = ["n", "left"]


class Timed(Spout):
    """Emits (0), (1) and so on, each a second of event time after the one before."""

    outputs = ["number"]
    config = {"viper.timestamp.field": "number", "viper.timestamp.unit": "s"}

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[list[Any]]:
        for number in range(self._count):
            yield [number]


class Idle(Spout):
    """Emits once, and never again."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._rows = iter([[0]])

    def next_tuple(self) -> None:
        for row in self._rows:
            self.emit(row)


# -- bolts


class Forward(Bolt):
    """Emits what it receives."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0]])


class AsksForReceivers(Bolt):
    """Emits what it receives, and on another stream the tasks that received that."""

    outputs = ["value", Stream(["receivers"], name="told")]

    def process(self, tup: Any) -> None:
        self.emit([self.emit([tup.values[-1]], need_task_ids=True)], stream="told")


class Places(Bolt):
    """Says for each tuple which task of which process has it."""

    outputs = ["value", "task", "pid"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0], self.task_id, os.getpid()])


class Counts(Bolt):
    """Emits each value with the number of times that it has come so far."""

    outputs = ["value", "count"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen: Counter[Any] = Counter()

    def process(self, tup: Any) -> None:
        value = tup.values[-1] % 10
        self._seen[value] += 1
        self.emit([value, self._seen[value]])


class Spoils(Bolt):
    """Says what it received, and then changes it."""

    outputs = ["seen"]

    def process(self, tup: Any) -> None:
        self.emit([repr(tup.values[0])])
        tup.values[0].append(f"spoilt by {self.task_id}")


class Ticked(Bolt):
    """Emits at each tick how many tuples came before it."""

    outputs = ["seen"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen = 0

    def process(self, tup: Any) -> None:
        self._seen += 1

    def process_tick(self, tup: Any) -> None:
        self.emit([self._seen])


class Steps(Bolt):
    """Counts down, round by round."""

    outputs = [Stream(["n", "left"], name="again"), Stream(["n", "left"], name="done")]

    def process(self, tup: Any) -> None:
        n, left = tup.values
        self.emit([n, left - 1], stream="again" if left > 1 else "done")


class Pass(Bolt):
    """Emits both values of what it receives."""

    outputs = ["n", "left"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))
