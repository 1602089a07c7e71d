"""Components that are served as programs: found by their names here, and without any test tool."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from framework import (
    BatchBolt,
    BatchingBolt,
    Bolt,
    ReliableSpout,
    RowError,
    Rows,
    Spout,
    Stream,
    TicklessBatchingBolt,
)


class Numbers(Spout):
    """Emits so many numbers."""

    outputs = ["number", "text"]

    def __init__(self, count: int = 20, name: str = "n") -> None:
        super().__init__()
        self._count = count
        self._name = name

    def tuples(self) -> Iterator[list[Any] | None]:
        for number in range(self._count):
            yield [number, f"{self._name}{number % 3}"]
            yield None


class Together(Spout):
    """Emits numbers many at a time."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._left = 3

    def next_tuple(self) -> None:
        if not self._left:
            raise StopIteration
        self._left -= 1
        self.emit_rows([[self._left], [10 + self._left]])


class Repeats(BatchBolt):
    """Emits each number as often as it says, but 11 and 12: it raises for either in one of two ways."""

    outputs = ["number", "nth"]
    exit_on_exception = False

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.emit_rows([[-1, 0]])

    def process_rows(self, rows: Rows) -> None:
        numbers = rows.column("number")
        for index, number in enumerate(numbers):
            self.emit_rows([[number, nth] for nth in range(number)], [index] * number)
            if number == 11:
                raise RowError(index, ValueError("no 11"))
            if number == 12:
                raise ValueError("no 12")


class Awaits(Bolt):
    """Emits each number from a coroutine, and fails odd ones."""

    outputs = ["number"]
    config = {"viper.stateless": True}
    auto_ack = False

    async def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.loop = asyncio.get_running_loop()

    async def process(self, tup: Any) -> None:
        await asyncio.sleep(0)
        assert asyncio.get_running_loop() is self.loop
        self.emit([tup.values.number])
        if tup.values.number % 2:
            self.fail(tup)
        else:
            self.ack(tup)


class Polled(Spout):
    """The same by `next_tuple`, which knows when it ends."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._next = 0

    def next_tuple(self) -> None:
        if self._next == 10:
            raise StopIteration
        self.emit([self._next])
        self._next += 1


class Retries(ReliableSpout):
    """Emits three numbers with ids, and again what fails."""

    outputs = ["number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._numbers = iter(range(3))
        self._began = False

    def next_tuple(self) -> None:
        for number in self._numbers:
            self._began = True
            self.emit([number], tup_id=number)
            return
        if not self.unacked_tuples:
            raise StopIteration


class FailsOnce(Bolt):
    """Fails each tuple when it comes first."""

    outputs = ["number", "times"]
    auto_ack = False

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._times: Counter[int] = Counter()

    def process(self, tup: Any) -> None:
        self._times[tup.values.number] += 1
        self.emit([tup.values.number, self._times[tup.values.number]])
        if self._times[tup.values.number] == 1:
            self.fail(tup)
        else:
            self.ack(tup)


class Twice(Bolt):
    """Emits each number twice, on two streams, and knows the receivers."""

    outputs = ["number", Stream(["receivers", "field"], name="told")]

    def process(self, tup: Any) -> None:
        receivers = self.emit([tup.values.number], need_task_ids=True)
        self.emit([tup.values.number])
        self.emit([receivers, tup.values.text], stream="told")


class Sums(BatchingBolt):
    """Sums up by text, at every other tick."""

    outputs = ["text", "sum"]

    def group_key(self, tup: Any) -> str:
        return str(tup.values.text)

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([key, sum(tup.values.number for tup in tups)])


class Timer(TicklessBatchingBolt):
    """Emits what has come since."""

    outputs = ["numbers"]
    secs_between_batches = 0

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([[tup.values.number for tup in tups]])


class Talks(Bolt):
    """Says something in all ways that there are."""

    outputs = ["said"]

    def process(self, tup: Any) -> None:
        print("printed")
        os.write(1, b"written\n")
        print("on stderr", file=sys.stderr)
        self.logger.warning("logged")
        self.logger.debug("not logged")
        self.log("by log", "error")
        self.report_metric("seen", 5)
        self.emit([sys.stdin.read()])
        thread = threading.Thread(target=print, args=["by a thread"])
        thread.start()
        thread.join()


class Raises(Bolt):
    """Raises at every number of three."""

    outputs = ["number"]
    exit_on_exception = False

    def process(self, tup: Any) -> None:
        if tup.values.number % 3 == 1:
            raise ValueError(f"no {tup.values.number}")
        self.emit([tup.values.number])


class GivesUp(Raises):
    """Does not survive that."""

    exit_on_exception = True

    def process(self, tup: Any) -> None:
        threading.Thread(target=threading.Event().wait).start()  # which would keep a process alive
        super().process(tup)


class Fragile(Bolt):
    """Cannot begin."""

    outputs = ["x"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        raise RuntimeError("not today")

    def process(self, tup: Any) -> None:
        pass


class Closes(Bolt):
    """Leaves a file behind when it is closed, whose name its configuration says."""

    outputs = ["x"]

    def process(self, tup: Any) -> None:
        pass

    def close(self) -> None:
        with open(self.storm_conf["file"], "w") as file:
            file.write("closed")
