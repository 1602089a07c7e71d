"""A stand-in for a broker: it forgets a message once it was acked, and gives any other again.

Its messages are 0, 1 and so on. What was acked is in a file, so it outlives whatever is killed.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from pathlib import Path
from typing import Any

from framework import Bolt, SeekableSpout, ValueState
from framework.operators.sinks import Sink


def acked(folder: str | Path) -> list[int]:
    """The messages that the broker in a folder has forgotten, in that order."""
    path = Path(folder) / "acked"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


class FromBroker(SeekableSpout):
    """Emits each message with its number as the id; ends when the broker has forgotten all of them.

    Args:
        folder: the broker's.
        count: how many messages it has.
        window: how many it gives at most before one of them is acked.
    """

    outputs = ["message"]
    config = {"viper.spout.bounded": True}

    def __init__(self, folder: str, count: int, window: int = sys.maxsize) -> None:
        super().__init__()
        self._window = window
        self._folder = folder
        self._count = count
        self._emitted: set[int] = set()

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._unacked = set(range(self._count)) - set(acked(self._folder))
        self._given: deque[int] = deque(sorted(self._unacked))
        """The messages that the broker gives next."""
        self._file = os.open(Path(self._folder) / "acked", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def next_tuple(self) -> None:
        if not self._unacked:
            raise StopIteration
        if self._given and len(self._emitted) < self._window:
            message = self._given.popleft()
            self._emitted.add(message)
            self.emit([message], tup_id=message)

    def ack(self, tup_id: int) -> None:
        os.write(self._file, b"%d\n" % tup_id)
        self._unacked.discard(tup_id)
        self._emitted.discard(tup_id)

    def fail(self, tup_id: int) -> None:
        self._emitted.discard(tup_id)
        self._given.append(tup_id)

    def offset(self) -> tuple[list[int], list[int]]:
        return sorted(self._emitted), list(self._given)

    def seek(self, offset: tuple[list[int], list[int]]) -> None:
        """Messages that came last are given last, as by a broker that waits until it misses an ack."""
        emitted, given = offset
        self._given = deque(message for message in given if message in self._unacked)
        self._given += [message for message in emitted if message in self._unacked]


class Remember(Bolt):
    """Emits how often each message has come."""

    outputs = ["message", "times"]
    times = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.times.value += 1
        self.emit([tup.values.message, self.times.value])


class Written(Sink):
    """Appends each row to the file ``written``, as a line."""

    config = {"viper.stateless": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._file = os.open(storm_conf["written"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def consume(self, rows: Any) -> None:
        os.write(self._file, b"".join(b"%d %d\n" % row for row in rows))
