"""Values that cannot be carried between processes, or hardly, and components that have them."""

from __future__ import annotations

import os
import threading
from typing import Any

from framework import Bolt, Spout
from framework.operators.sinks import Sink


class Unpicklable(Sink):
    """Its result cannot leave its process."""

    def consume(self, rows: Any) -> None:
        pass

    def result(self) -> Any:
        return lambda: None


class NoResult(Sink):
    """Raises where it should give its result."""

    def consume(self, rows: Any) -> None:
        pass

    def result(self) -> Any:
        raise LookupError("no result")


class Measures(Bolt):
    """Reports metrics, the last of which no other process could read."""

    def process(self, tup: Any) -> None:
        self.report_metric("list", measured := [1])
        measured.append(2)
        if tup.values[-1] == self.storm_conf.get("bad.at"):
            self.report_metric("lock", threading.Lock())


class NotAValue:
    """Can be made, and copied by its own way, but not be read by another process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def __reduce__(self) -> Any:
        return NotAValue._made_again, (self.pid,)

    @staticmethod
    def _made_again(pid: int) -> NotAValue:
        if os.getpid() != pid:
            raise LookupError("a handle of another process")
        return NotAValue(pid)


class EmitsHandles(Spout):
    """Emits values that only its own process can read."""

    outputs = ["value"]

    def tuples(self) -> Any:
        yield [NotAValue(os.getpid())]


class EmitsLocks(Spout):
    """Emits a value that nothing can copy."""

    outputs = ["value"]

    def tuples(self) -> Any:
        yield [threading.Lock()]


class Large(Spout):
    """Emits ``large.count`` values of ``large.bytes`` characters each."""

    outputs = ["value"]

    def tuples(self) -> Any:
        for number in range(self.storm_conf["large.count"]):
            yield [f"{number} ".ljust(self.storm_conf["large.bytes"], "x")]


class ResultsInHandle(Sink):
    """Its result can be read by its own process only."""

    def consume(self, rows: Any) -> None:
        pass

    def result(self) -> Any:
        return NotAValue(os.getpid())


class LogsHandle(Bolt):
    """Logs a record that can be read by its own process only."""

    def process(self, tup: Any) -> None:
        self.logger.warning("opened", extra={"handle": NotAValue(os.getpid())})
