"""Components that wait for what others of their topology do, so each run ends only if these are not held up.

Where and when is said by the configuration: ``gate.go`` is opened by `Opens` at its ``open.at``-th row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework import Bolt, Spout
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import open_gate, wait_at

BLOCKS = {"viper.blocking": True}


class Opens(CollectingSink):
    """Opens the gate when it has received so many rows."""

    def consume(self, rows: Any) -> None:
        before = len(self.result())
        super().consume(rows)
        if before < self.storm_conf["open.at"] <= len(self.result()):
            open_gate(self.storm_conf["gate.go"])


class WaitsInBolt(Bolt):
    """Waits at the gate with the tuple ``wait.at``, after it has emitted it if ``wait.after``."""

    outputs = ["number"]
    config = BLOCKS

    def process(self, tup: Any) -> None:
        number, waits = tup.values[-1], tup.values[-1] == self.storm_conf["wait.at"]
        if waits and not self.storm_conf["wait.after"]:
            wait_at(self.storm_conf["gate.go"])
        self.emit([number])
        if waits and self.storm_conf["wait.after"]:
            wait_at(self.storm_conf["gate.go"])


class Swallows(WaitsInBolt):
    """Emits nothing up to the tuple that it waits with."""

    def process(self, tup: Any) -> None:
        if tup.values[-1] >= self.storm_conf["wait.at"]:
            super().process(tup)


class WaitsInCall(Spout):
    """Emits once, and waits in the same call."""

    outputs = ["number"]
    config = BLOCKS
    calls = 0

    def next_tuple(self) -> None:
        self.calls += 1
        if self.calls > 1:
            raise StopIteration
        self.emit([1])
        wait_at(self.storm_conf["gate.go"])


class WaitsInNextCall(WaitsInCall):
    """Emits once, and waits in the call after that one."""

    def next_tuple(self) -> None:
        self.calls += 1
        if self.calls == 1:
            self.emit([1])
        else:
            wait_at(self.storm_conf["gate.go"])
            raise StopIteration


class WaitsInGenerator(Spout):
    """Yields once, and waits."""

    outputs = ["number"]
    config = BLOCKS

    def tuples(self) -> Iterator[list[Any]]:
        yield [1]
        wait_at(self.storm_conf["gate.go"])


class GoesBack(Spout):
    """Emits what is older than what it has emitted before, and waits."""

    outputs = ["number"]
    config = {**BLOCKS, "viper.timestamp.field": "number"}

    def next_tuple(self) -> None:
        self.emit([5])
        self.emit([3])
        wait_at(self.storm_conf["gate.go"])


class WaitsFirst(Spout):
    """Waits, and then emits."""

    outputs = ["number"]
    config = BLOCKS

    def tuples(self) -> Iterator[list[Any]]:
        wait_at(self.storm_conf["gate.go"])
        yield [-1]
