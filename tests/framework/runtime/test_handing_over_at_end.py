"""Tasks hand keys over at a cut after all input, where windows that its end closes still emit below the cut.

The leader decides on a time that no source comes to, before the source has ended. Channels have room for
few tuples, so that tasks which stand at the cut and tasks which have not come there need each other.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework import APlus, Block, Bolt, JPlus, PartitionedSpout, TopologyBuilder
from framework.model.errors import InternalError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.aggregates import Count
from framework.runtime.coordination.commands import ask
from framework.runtime.coordination.cut_leader import CutLeader
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.tasks.agenda import Frontier
from framework.runtime.tasks.bolt_cut import BoltCut
from tests.framework.runtime.handing_over import MOST, Counted, Each, Totals
from tests.framework.runtime.workers.running import INLINE
from tests.portions import at_every_change
from viper.position import Position

KEYS = 40
LAST_US = 10_000
"""The time of the last row."""
AHEAD_US = 30_000
"""So far ahead of the source lies what is proposed: after the ends of all windows."""
SMALL = {"viper__channel__tuples": 4, "viper__channel__jumbos": 2, "viper__jumbo__size": 1}


class Ending(PartitionedSpout):
    """Asks for a change near its end, and continues as soon as a time for it is decided."""

    outputs = ["number", "key", "at"]
    partitions = 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        for number in range(LAST_US // 100 + 1):
            at = 100 * number
            if at == LAST_US - 1000 and self.storm_conf["tasks"]:
                ask(Path(self.storm_conf["control"]), "scale", tasks=self.storm_conf["tasks"])
                while not DECIDED:
                    yield None
            yield Block(array("q", [at]), [(number, number * 7 % KEYS, at)])


class Unread(PartitionedSpout):
    """Brings rows that nobody reads, after the time to which the others come."""

    outputs = ["number"]
    partitions = 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        for number in range(9):
            yield Block(array("q", [10 * LAST_US * number]), [(number,)])


DECIDED: list[int] = []
"""The attempts of a run that were decided."""


@pytest.fixture(autouse=True)
def far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    DECIDED.clear()
    decide, times_us = CutRecord.decide, CutLeader._times_us

    def noted(self: CutRecord) -> None:
        decide(self)
        DECIDED.append(self.attempt)

    def later(self: CutLeader, margin: Any) -> Mapping[Sequence[int], int]:
        return {part: time_us + AHEAD_US for part, time_us in times_us(self, margin).items()}

    monkeypatch.setattr(CutRecord, "decide", noted)
    monkeypatch.setattr(CutLeader, "_times_us", later)


class Windowed(APlus):
    """Counts the rows of each key in windows, the last of which end after the last row."""

    outputs = ["number", "key"]
    size, advance = "4ms", "2ms"
    aggregate = Count()


class Swapped(Bolt):
    """A key, and a number."""

    outputs = ["number", "key"]
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([tup.values[1], tup.values[0]])


class Ticked(Bolt):
    """Tells rows and ticks."""

    outputs = ["number", "what"]
    config = {"topology.tick.tuple.freq.secs": 0.0015, "viper.stateless": True}

    def process(self, tup: Any) -> None:
        self.emit([list(tup.values), "row"])

    def process_tick(self, tup: Any) -> None:
        self.emit([None, "tick"])


class Met(JPlus):
    """Pairs of one key in windows."""

    outputs = ["number", "key"]
    config = {"viper.parallelism.max": MOST}

    def joined(self, left: Any, right: Any) -> tuple[Any, ...]:
        return left[0] * right[0], right[1]


def counted(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Counted, 2).fields_grouping("swapped", "key")


def windows(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Totals(), 2).fields_grouping("swapped", "key")


def derived(builder: TopologyBuilder) -> None:
    builder.set_bolt("first", Each(size="3ms", advance="1ms"), 2).all_grouping("swapped")


def joined(builder: TopologyBuilder) -> None:
    met = builder.set_bolt("first", Met(size="5ms", advance="5ms"), 2)
    met.fields_grouping("swapped", "key").fields_grouping("source", "key")


SHAPES = {"counted": counted, "windows": windows, "derived": derived, "joined": joined}


def built(shape: str, ticks: int) -> TopologyBuilder:
    """Windows, a bolt of a shape after them, and one with ticks after that, if any, by so many tasks."""
    builder = TopologyBuilder()
    builder.set_config("viper.time", "event")
    builder.set_spout("source", Ending)
    builder.set_spout("unread", Unread)
    builder.set_bolt("windowed", Windowed(), 2).fields_grouping("source", "key")
    builder.set_bolt("swapped", Swapped, 3).shuffle_grouping("windowed")
    SHAPES[shape](builder)
    sink = builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True}).global_grouping("first")
    if ticks:
        builder.set_bolt("ticked", Ticked, ticks).fields_grouping("first", "key")
        sink.global_grouping("ticked")
    return builder


def rows(folder: Path, shape: str, ticks: int, tasks: Mapping[str, int], **options: Any) -> Any:
    asked = {"control": str(folder), "tasks": dict(tasks)}
    report = INLINE.run(built(shape, ticks), {"control": folder}, **SMALL, **asked, **options)
    assert bool(tasks) == bool(DECIDED)
    return report.result("sink")


@pytest.mark.parametrize("recovery", ["best", "exact"])
@pytest.mark.parametrize("ticks", [0, 2])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", at_every_change(range(6), 1))
def test_windows_behind_the_last_row_come_through(
    seed: int, shape: str, ticks: int, recovery: str, tmp_path: Path
) -> None:
    random = {"viper__scheduling": "random", "viper__seed": seed, "viper__recovery": recovery}
    expected = rows(tmp_path, shape, ticks, {})
    assert expected and ([None, "tick"] in map(list, expected)) == bool(ticks)
    assert rows(tmp_path, shape, ticks, {"first": (3, 1, 4, 5)[seed % 4]}, **random) == expected


def promise_event_time(self: BoltCut, reached: Frontier) -> Position:
    """A task that stands at a cut promises no more than event time has come to."""
    return Position(self.frontier(reached).time_us, 2**64 - 1, 2**64 - 1)


def test_a_promise_of_event_time_stands_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoltCut, "promised", promise_event_time)
    with pytest.raises(InternalError, match="nothing can run, but first"):
        rows(tmp_path, "derived", 0, {"first": 3})
