"""Components for workers of every kind, found by their names; what they hear is told as metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework import BatchingBolt, Bolt, Spout, Stream

OUTPUTS = ["number", "attempt"]


class Repeats(Spout):
    """Emits 0, 1, ... with themselves as ids, and again what fails, with the number of the attempt."""

    outputs = OUTPUTS

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._attempts = [0] * count
        self._acked: list[int] = []
        self._failed: list[int] = []

    def tuples(self) -> Iterator[None]:
        for number in range(self._count):
            self.emit([number, 0], tup_id=number)
            yield None

    def ack(self, tup_id: Any) -> None:
        self._acked.append(tup_id)
        self.report_metric("acked", self._acked)

    def fail(self, tup_id: Any) -> None:
        self._failed.append(tup_id)
        self.report_metric("failed", self._failed)
        self._attempts[tup_id] += 1
        self.emit([tup_id, self._attempts[tup_id]], tup_id=tup_id)


class Polled(Repeats):
    """The same, polled, and repeating in ``next_tuple``."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._waiting = list(range(count))

    tuples = Spout.tuples

    def next_tuple(self) -> None:
        if not self._waiting:
            raise StopIteration
        number = self._waiting.pop(0)
        self.emit([number, self._attempts[number]], tup_id=number)

    def fail(self, tup_id: Any) -> None:
        self._attempts[tup_id] += 1
        self._waiting.append(tup_id)


class Spreads(Bolt):
    """Emits each tuple on two streams."""

    outputs = [Stream(OUTPUTS, name="left"), Stream(OUTPUTS, name="right")]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values), stream="left")
        self.emit(list(tup.values), stream="right")


class FailsFirst(Bolt):
    """Passes on, but fails or raises for the first attempts at every third number."""

    outputs = OUTPUTS

    def process(self, tup: Any) -> None:
        number, attempt = tup.values
        self.emit([number, attempt])
        if number % 3 == 0 and attempt == 0:
            self.fail(tup)
        if number % 3 == 1 and attempt == 0:
            raise ValueError("at the first attempt")


class Pairs(Bolt):
    """Joins the two tuples of a number and attempt, which come on two ways."""

    outputs = OUTPUTS
    auto_ack = False

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._waiting: dict[Any, Any] = {}

    def process(self, tup: Any) -> None:
        other = self._waiting.pop(tuple(tup.values), None)
        if other is None:
            self._waiting[tuple(tup.values)] = tup
            return
        self.emit(list(tup.values), anchors=[other, tup])
        self.ack(other)
        self.ack(tup)


class Batches(BatchingBolt):
    """Emits one tuple for each batch."""

    outputs = OUTPUTS
    config = {"topology.tick.tuple.freq.secs": 0.05}

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        for tup in tups:
            self.emit(list(tup.values))


class Last(Bolt):
    """The end; fails every fifth number at its second attempt, the first that comes here or not."""

    def process(self, tup: Any) -> None:
        number, attempt = tup.values
        if number % 5 == 0 and attempt == 1:
            self.fail(tup)


class Directs(Bolt):
    """Emits each tuple to all tasks of a consumer, one by one."""

    outputs = [Stream(OUTPUTS, direct=True)]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._targets = [int(task) for task, name in context["task->component"].items() if name == "end"]

    def process(self, tup: Any) -> None:
        for target in self._targets:
            self.emit(list(tup.values), direct_task=target)


class Asks(Bolt):
    """Emits and asks who receives it."""

    outputs = OUTPUTS

    def process(self, tup: Any) -> None:
        assert self.emit(list(tup.values), need_task_ids=True)


class SomeTasks:
    """A custom grouping: no task for every fourth number, all of them for the rest."""

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None:
        self._targets = target_tasks

    def choose_tasks(self, values: Any) -> list[int]:
        return self._targets if values[0] % 4 else []


class FailsInOne(Bolt):
    """Fails every second number, in that of its tasks with the highest id only."""

    def initialize(self, storm_conf: Any, context: Any) -> None:
        mine = [int(task) for task, name in context["task->component"].items() if name == self.component_name]
        self._fails = self.task_id == max(mine)

    def process(self, tup: Any) -> None:
        if self._fails and tup.values[0] % 2 == 1 and tup.values[1] == 0:
            self.fail(tup)
