"""The open loop and the silent topology in the form that `viper.recovery: exact` takes.

Their spouts say where they are, and the counts are declared state. Nothing is killed where they are used, so
nobody resumes from an offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numbers_to_sink import Forward as ForwardNumbers
from pacing import SPOUTS as PACED_SPOUTS
from pacing import Forward, LatencySink, PacedSpout, Row
from silence import SPOUTS as SILENT_SPOUTS

from framework import Bolt, SeekableSpout, TopologyBuilder, ValueState
from framework.model.topology import Topology
from framework.operators.sinks import CountingSink

STATELESS = {"viper.stateless": True}
"""Said of sinks, whose figures would be gone with their process."""


class Offset(SeekableSpout):
    """Says how many tuples it has emitted."""

    emitted = 0

    def offset(self) -> int:
        """Return the number that was emitted, which is its offset."""
        return self.emitted

    def seek(self, offset: Any) -> None:
        """Not asked for."""
        raise AssertionError("nothing is killed here")


class Paced(Offset, PacedSpout):
    """Counts what is scheduled."""

    def schedule(self) -> Iterator[Row]:
        """Every tuple, and how many they are."""
        for self.emitted, row in enumerate(super().schedule(), 1):
            yield row


class PacedDue(Paced, PACED_SPOUTS["due"]):  # type: ignore[misc]
    """As in the open loop."""


class PacedGenerator(Paced, PACED_SPOUTS["generator"]):  # type: ignore[misc]
    """As in the open loop."""


class PacedPolled(Paced, PACED_SPOUTS["polled"]):  # type: ignore[misc]
    """As in the open loop."""


class SilentGenerator(Offset, SILENT_SPOUTS["generator"]):  # type: ignore[misc]
    """As in the silent topology."""


class SilentPolled(Offset, SILENT_SPOUTS["polled"]):  # type: ignore[misc]
    """As in the silent topology."""


PACED = {"due": PacedDue, "generator": PacedGenerator, "polled": PacedPolled}
SILENT = {"generator": SilentGenerator, "polled": SilentPolled}
"""By the name that is printed. Spouts that block are refused: others act for them meanwhile."""


class CountPerKey(Bolt):
    """Counts each key, and emits it with its count and the time of its tuple."""

    outputs = ["key", "count", "scheduled_ns"]
    times = ValueState("int64")

    def process(self, tup: Any) -> None:
        """Count one."""
        key, scheduled_ns = tup.values
        self.emit([key, self.times.add(1), scheduled_ns])


def paced(spout: str, *, rate: float, seconds: float, warm_up_s: float, par: int) -> Topology:
    """As `pacing.paced`."""
    builder = TopologyBuilder()
    builder.set_spout("spout", PACED[spout], args=[rate, warm_up_s + seconds])
    builder.set_bolt("forward", Forward, par).shuffle_grouping("spout")
    builder.set_bolt("count", CountPerKey, par).fields_grouping("forward", "key")
    sink = builder.set_bolt("sink", LatencySink, args=[round(rate * warm_up_s)], config=STATELESS)
    sink.global_grouping("count")
    return builder.build("paced")


def silent(spout: str) -> Topology:
    """As `silence.silent`."""
    builder = TopologyBuilder()
    builder.set_spout("spout", SILENT[spout])
    builder.set_bolt("forward", ForwardNumbers, 2).shuffle_grouping("spout")
    builder.set_bolt("keyed", ForwardNumbers, 2).fields_grouping("forward", "number")
    builder.set_bolt("sink", CountingSink, config=STATELESS).global_grouping("keyed")
    return builder.build("silent")
