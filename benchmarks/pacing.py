"""An open loop: spouts that emit on a schedule whatever becomes of it, and a sink that reports the delay."""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from framework import Bolt, Later, Spout, TopologyBuilder, after
from framework.model.topology import Topology
from framework.operators.sinks import Sink

Row = tuple[Any, ...]
KEYS = 1000


class PacedSpout(Spout):
    """Emits tuple n at start + n / rate, or as soon after that as it is asked, but never leaves it out.

    It emits the time that was scheduled, so that a delay counts for every tuple that it delays.

    Args:
        rate: tuples per second.
        seconds: length of the schedule.
    """

    outputs = ["key", "scheduled_ns"]

    def __init__(self, rate: float, seconds: float) -> None:
        super().__init__()
        self._period_ns = 1e9 / rate
        self._count = round(rate * seconds)

    def schedule(self) -> Iterator[Row]:
        """Every tuple, without waiting for its time."""
        start, period = time.monotonic_ns(), self._period_ns
        for number in range(self._count):
            yield number % KEYS, start + int(number * period)


class GeneratorSpout(PacedSpout):
    """Yields None while nothing is due, so that it is asked again after a pause."""

    def tuples(self) -> Iterator[Row | None]:
        """Yield the tuples that are due by now, and None."""
        for row in self.schedule():
            while time.monotonic_ns() < row[1]:
                yield None
            yield row


class DueSpout(PacedSpout):
    """Says when the next tuple is due, and is asked then."""

    def tuples(self) -> Iterator[Row | Later]:
        """Yield the tuples, and in between the times at which they are due."""
        for row in self.schedule():
            left_ns = row[1] - time.monotonic_ns()
            if left_ns > 0:
                yield after(left_ns / 1e9)
            yield row


class PolledSpout(PacedSpout):
    """Emits one tuple per `next_tuple` if one is due, as spouts of streamparse's do."""

    def activate(self) -> None:
        """The clock starts."""
        self._rows = self.schedule()
        self._next = next(self._rows)

    def next_tuple(self) -> None:
        """One tuple that is due, if there is one."""
        if time.monotonic_ns() >= self._next[1]:
            self.emit(self._next)
            self._next = next(self._rows)  # whose end is the spout's


class BlockingSpout(PacedSpout):
    """Sleeps until the next tuple is due, as one that waits for a socket would."""

    config = {"viper.blocking": True}

    def tuples(self) -> Iterator[Row]:
        """Each tuple when its time has come."""
        for row in self.schedule():
            while (left_ns := row[1] - time.monotonic_ns()) > 0:
                time.sleep(left_ns / 1e9)
            yield row


SPOUTS = {"due": DueSpout, "generator": GeneratorSpout, "polled": PolledSpout, "blocking": BlockingSpout}
"""By the name that is printed."""


class Forward(Bolt):
    """Emits what it receives."""

    outputs = ["key", "scheduled_ns"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        """Emit it again."""
        self.emit(tup.values)


class CountPerKey(Bolt):
    """Counts each key, and emits it with its count and the time of its tuple."""

    outputs = ["key", "count", "scheduled_ns"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """No key has been seen."""
        self._counts: dict[int, int] = {}

    def process(self, tup: Any) -> None:
        """Count one."""
        key, scheduled_ns = tup.values
        count = self._counts[key] = self._counts.get(key, 0) + 1
        self.emit([key, count, scheduled_ns])


class LatencySink(Sink):
    """Its result: percentiles of the time from a tuple's schedule to its arrival here, in microseconds.

    Args:
        warm_up: number of tuples at the start that do not count.
    """

    def __init__(self, warm_up: int) -> None:
        super().__init__()
        self._warm_up = warm_up
        self._latencies_ns = array("q")

    def consume(self, rows: Sequence[Row]) -> None:
        """Note how late they are."""
        now = time.monotonic_ns()
        self._latencies_ns.extend([now - row[-1] for row in rows])

    def result(self) -> dict[str, float]:
        """By the name that is printed."""
        ordered = sorted(self._latencies_ns[self._warm_up :])
        shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
        found = {name: ordered[int(share * len(ordered))] / 1e3 for name, share in shares.items()}
        return {**found, "max": ordered[-1] / 1e3, "tuples": len(ordered)}


def paced(spout: str, *, rate: float, seconds: float, warm_up_s: float, par: int) -> Topology:
    """``spout -> forward -> count -> sink``, of which the counter is grouped by key."""
    builder = TopologyBuilder()
    builder.set_spout("spout", SPOUTS[spout], args=[rate, warm_up_s + seconds])
    builder.set_bolt("forward", Forward, par).shuffle_grouping("spout")
    builder.set_bolt("count", CountPerKey, par).fields_grouping("forward", "key")
    builder.set_bolt("sink", LatencySink, args=[round(rate * warm_up_s)]).global_grouping("count")
    return builder.build("paced")
