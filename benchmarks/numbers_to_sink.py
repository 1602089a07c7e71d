"""Rows of integers from a fast spout through two bolts to one sink; importable by worker processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink


class Numbers(Spout):
    """Emits so many rows of two integers as fast as they are taken."""

    outputs = ["number", "square"]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def tuples(self) -> Iterator[tuple[int, int]]:
        """All rows."""
        for number in range(self._count):
            yield number, number * number


class Forward(Bolt):
    """Emits what it receives."""

    outputs = ["number", "square"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        """Emit it again."""
        self.emit(tup.values)


class SlowSink(CountingSink):
    """Counts at most a million rows a second, fewer than come."""

    def consume(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Count some rows, slowly."""
        time.sleep(len(rows) / 1e6)
        super().consume(rows)


def numbers(count: int, *, slow: bool) -> Topology:
    """``numbers -> two tasks of forward -> sink``."""
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers, args=[count])
    builder.set_bolt("forward", Forward, 2).shuffle_grouping("numbers")
    builder.set_bolt("sink", SlowSink if slow else CountingSink).global_grouping("forward")
    return builder.build("numbers")
