"""A run is suspended while one source has just brought all it has, and another one waits for room."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import SeekableSpout, TopologyBuilder
from framework.operators.components import Block, PartitionedSpout
from framework.operators.sinks import CollectingSink
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL, heard, run_suspended
from tests.framework.runtime.pieces import Row, run_built

COUNT = 200
OPTIONS: dict[str, Any] = {
    "viper__worker": "process",
    "topology__workers": 2,
    "viper__recovery": "exact",
    "viper__checkpoint__timeout__secs": 5,
    "viper__jumbo__size": 1,
    "viper__channel__jumbos": 1,
    "viper__channel__tuples": 1,
    "viper__channel__bytes": 1024,
}
"""With room for so little that the long source soon waits for the short one."""


class Long(PartitionedSpout):
    """Brings a row at each microsecond, and leaves a mark when most of them come next."""

    outputs = ["source", "at"]
    partitions = 1
    identity = "long"

    def __init__(self, mark: str) -> None:
        super().__init__()
        self._mark = Path(mark)

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        yield Block(array("q", [1]), [("long", 1)])
        self._mark.touch()
        yield Block(array("q", range(2, COUNT)), [("long", at) for at in range(2, COUNT)])


class Short(PartitionedSpout):
    """Brings one row; has the run suspended once there is the mark, and ends when that is heard."""

    outputs = ["source", "at"]
    partitions = 1
    identity = "short"

    def __init__(self, mark: str, leader: int) -> None:
        super().__init__()
        self._mark, self._leader = Path(mark), leader

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        yield Block(array("q", [0]), [("short", 0)])
        yield from self._suspending()

    def _suspending(self) -> Iterator[None]:
        while self._leader and not self._mark.exists():
            yield None
        if self._leader:
            os.kill(self._leader, SIGNAL)
        while self._leader and not heard(self._leader).exists():
            yield None


class ShortGenerator(SeekableSpout):
    """As `Short`, without partitions."""

    outputs = ["source", "at"]
    config = {"viper.timestamp.field": "at", "viper.timestamp.unit": "us"}

    def __init__(self, mark: str, leader: int) -> None:
        super().__init__()
        self._short = Short(mark, leader)
        self._next = 0

    def tuples(self) -> Iterator[list[Any] | None]:
        if not self._next:
            self._next = 1
            yield ["short", 0]
        yield from self._short._suspending()

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = offset


def built(short: type[Short] | type[ShortGenerator], mark: Path, leader: int = 0) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("long", Long(str(mark)))
    builder.set_spout("short", short(str(mark), leader))
    sink = builder.set_bolt("sink", CollectingSink, config={"viper.stateless": True})
    sink.global_grouping("long")
    sink.global_grouping("short")
    return builder


def rows_of(report: Any) -> list[Row]:
    found: list[Row] = report.result("sink")
    return found


@pytest.mark.parametrize("short", [Short, ShortGenerator])
def test_whoever_has_brought_all_holds_nobody_up(
    tmp_path: Path, short: type[Short] | type[ShortGenerator]
) -> None:
    folder, mark = tmp_path / "checkpoints", tmp_path / "mark"
    first = run_suspended(built(short, mark, os.getpid()), folder, **OPTIONS)
    assert first.reason is StopReason.SUSPENDED
    second = run_built(built(short, mark), {"start": folder}, **OPTIONS)
    found = rows_of(first) + rows_of(second)
    assert found == [("short", 0), *(("long", at) for at in range(1, COUNT))]
    assert 1 < len(rows_of(first)) < COUNT
