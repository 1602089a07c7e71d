"""A topology in which nothing happens; importable by worker processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from numbers_to_sink import Forward

from framework import Later, Spout, TopologyBuilder, after
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink


class SilentSpout(Spout):
    """Has the fields that the bolts expect, and no tuples."""

    outputs = ["number", "square"]


class DueSpout(SilentSpout):
    """Says that it has something again in an hour."""

    def tuples(self) -> Iterator[Later]:
        """For ever."""
        while True:
            yield after(3600)


class GeneratorSpout(SilentSpout):
    """Yields None."""

    def tuples(self) -> Iterator[None]:
        """For ever."""
        while True:
            yield None


class PolledSpout(SilentSpout):
    """Has a `next_tuple` that emits nothing."""

    def next_tuple(self) -> None:
        """Nothing."""


class BlockingSpout(SilentSpout):
    """Waits for what does not come, a second at a time, as clients of message brokers do."""

    config = {"viper.blocking": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Nothing has come."""
        self._came = threading.Event()

    def next_tuple(self) -> None:
        """Wait a second."""
        self._came.wait(1)


SPOUTS = {"due": DueSpout, "generator": GeneratorSpout, "polled": PolledSpout, "blocking": BlockingSpout}
"""By the name that is printed."""


def silent(spout: str) -> Topology:
    """``spout -> two tasks -> two tasks, by key -> sink``."""
    builder = TopologyBuilder()
    builder.set_spout("spout", SPOUTS[spout])
    builder.set_bolt("forward", Forward, 2).shuffle_grouping("spout")
    builder.set_bolt("keyed", Forward, 2).fields_grouping("forward", "number")
    builder.set_bolt("sink", CountingSink).global_grouping("keyed")
    return builder.build("silent")
