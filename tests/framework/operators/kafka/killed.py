"""A sink whose process is killed at a step of a transaction, and what brings it rows."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from framework import Bolt, ValueState
from framework.operators.kafka import KafkaSink

STEPS = ("begun", "among the rows", "all written", "number sent", "committed", "noted")


class Dying:
    """A producer that kills its process at a step, once."""

    def __init__(self, producer: Any, step: str, flag: Path) -> None:
        self._producer = producer
        self._step = step
        self._flag = flag
        self._written = 0

    def begin_transaction(self) -> None:
        self._producer.begin_transaction()
        self._written = 0
        self.reach("begun")

    def produce(self, *args: Any, **options: Any) -> None:
        self._producer.produce(*args, **options)
        self._written += 1
        if self._written == 20:
            self._producer.flush(10)
            self.reach("among the rows")

    def send_offsets_to_transaction(self, *args: Any) -> None:
        self.reach("all written")
        self._producer.send_offsets_to_transaction(*args)
        self.reach("number sent")

    def commit_transaction(self, *args: Any) -> None:
        self._producer.commit_transaction(*args)
        self.reach("committed")

    def flush(self, timeout_s: float) -> Any:
        return self._producer.flush(timeout_s)

    def poll(self, timeout_s: float) -> Any:
        return self._producer.poll(timeout_s)

    def reach(self, step: str) -> None:
        if step == self._step and not self._flag.exists():
            self._flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class KilledSink(KafkaSink):
    def __init__(self, topic: str, servers: str, step: str, folder: str) -> None:
        super().__init__(topic, servers, key="user", staging=f"{folder}/staging")
        self._step = step
        self._flag = Path(folder, "killed")

    def _producer(self, part: str) -> Any:
        return Dying(super()._producer(part), self._step, self._flag)

    def _note(self, part: str, number: int) -> None:
        super()._note(part, number)
        Dying(None, self._step, self._flag).reach("noted")


class Total(Bolt):
    """Emits the sum of each user so far."""

    outputs = ["user", "total"]
    total = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        user, cents = tup.values
        self.emit([user, self.total.add(cents)])
