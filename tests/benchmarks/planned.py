"""A small topology for programs that measure plans."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from framework import Bolt, Spout, TopologyBuilder
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink


class Numbers(Spout):
    """Brings numbers, as many as ``numbers.count`` says, or without an end."""

    outputs = ["number"]

    def initialize(self, conf: Mapping[str, Any], context: Any) -> None:
        self._count = conf.get("numbers.count")

    def tuples(self) -> Iterator[tuple[int]]:
        number = 0
        while self._count is None or number < self._count:
            yield (number,)
            number += 1


class Slow(Bolt):
    """Takes time, but where the configuration has ``planted``."""

    outputs = ["number"]
    config = {"viper.stateless": True}

    def initialize(self, conf: Mapping[str, Any], context: Any) -> None:
        self._ns = 0 if conf.get("planted") else 10_000

    def process(self, tup: Any) -> None:
        end = time.perf_counter_ns() + self._ns
        while time.perf_counter_ns() < end:
            pass
        self.emit(tup.values)


def endless() -> Topology:
    builder = TopologyBuilder()
    builder.set_spout("numbers", Numbers)
    builder.set_bolt("slow", Slow).shuffle_grouping("numbers")
    builder.set_bolt("count", CountingSink).global_grouping("slow")
    return builder.build("endless")
