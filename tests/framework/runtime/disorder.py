"""Spouts whose rows are out of order, and what is to come of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from framework import Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime import RunReport

Rows = list[tuple[Any, ...]]

SLACK, LATE, PENDING = "viper.timestamp.slack", "viper.timestamp.late", "topology.max.spout.pending"


class Shuffled(Spout):
    """Emits (number, time) for these times, in milliseconds; late ones may go to a stream of their own."""

    outputs = [Stream(["number", "time"]), Stream(["number", "time"], name="tardy")]
    config = {"viper.timestamp.field": "time"}

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self._rows = [[number, time] for number, time in enumerate(times)]

    def tuples(self) -> Any:
        yield from self._rows


class Tracked(Spout):
    """Emits the same with ids, one at a call, and writes down its acks."""

    outputs = Shuffled.outputs
    config = Shuffled.config

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self._rows = [[number, time] for number, time in enumerate(times)]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self._heard: list[Any] = []
        self._waiting = iter(self._rows)

    def next_tuple(self) -> None:
        row = next(self._waiting)
        self.emit(row, tup_id=row[0])

    def ack(self, tup_id: Any) -> None:
        self._heard.append(tup_id)
        self.report_metric("acked", self._heard)

    def fail(self, tup_id: Any) -> None:
        raise AssertionError(tup_id)


def jittered(seed: int, count: int = 400, jitter: int = 50) -> list[int]:
    """Times that rise on the whole, and are out of order by less than the jitter."""
    draw = random.Random(seed)
    return [number * 3 + draw.randrange(jitter) for number in range(count)]


def sorted_rows(times: Sequence[int]) -> Rows:
    return sorted(enumerate(times), key=lambda row: row[1])


def expected(times: Sequence[int], slack: int) -> tuple[Rows, Rows]:
    """The rows that are in time, in order, and those that come when time is ahead by more than the slack."""
    in_time, late, latest = [], [], -(1 << 60)
    for number, time in enumerate(times):
        (late if time < latest - slack else in_time).append((number, time))
        latest = max(latest, time)
    return sorted(in_time, key=lambda row: row[1]), late


def topology(source: type[Spout], times: list[int], **config: Any) -> TopologyBuilder:
    """A spout, a sink of its tuples, and one of those that are late."""
    named = {f"viper.timestamp.{name}": value for name, value in config.items() if name != "pending"}
    if "pending" in config:
        named[PENDING] = config["pending"]
    builder = TopologyBuilder()
    builder.set_spout("source", source, args=[times], config={**source.config, **named})
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    builder.set_bolt("belated", CollectingSink).global_grouping("source", stream="tardy")
    return builder


def counted(report: RunReport, name: str) -> int:
    value: int = getattr(report.components["source"], name)
    return value
