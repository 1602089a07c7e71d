"""Checkpoints that are cut after the end of all sources, or where a source promises but brings nothing."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from framework import TopologyBuilder
from framework.operators.components import Block, PartitionedSpout, Watermark
from framework.runtime.coordination.cut_leader import CutLeader
from framework.runtime.coordination.cut_record import CutRecord
from framework.runtime.durability.checkpoints import CheckpointFolder
from tests.framework.runtime.durability.checkpoints.drawn import Forward, Numbered, Ticking
from tests.framework.runtime.durability.checkpoints.suspended import SIGNAL
from tests.framework.runtime.durability.checkpoints.test_while_running import run_with_checkpoints
from tests.framework.runtime.pieces import Row, run_built

COUNT = 20


class Asking(PartitionedSpout):
    """Brings half of its rows, promises a time, asks for a checkpoint, and continues once a file is there.

    Args:
        half: how many rows that is.
        said_us: the time that it promises then; None for no promise.
        leader: the process that is asked; 0 for none.
        gate: pattern of the file.
    """

    outputs = ["partition", "number", "key"]
    partitions = 1

    def __init__(self, half: int, said_us: int | None = None, leader: int = 0, gate: Path = Path()) -> None:
        super().__init__()
        self._half = half
        self._said_us = said_us
        self._leader = leader
        self._gate = gate

    @property
    def identity(self) -> str:
        return "rows"

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        yield self._rows(0, self._half)
        if self._said_us is not None:
            yield Watermark(self._said_us)
        if self._leader:
            os.kill(self._leader, SIGNAL)
            while not list(self._gate.parent.glob(self._gate.name)):
                yield None
        later_us = 0 if self._said_us is None else self._said_us - self._half
        yield self._rows(self._half, COUNT, later_us)

    def _rows(self, first: int, behind: int, later_us: int = 0) -> Block:
        times = array("q", range(first + later_us, behind + later_us))
        return Block(times, [("p", n, n % 3) for n in range(first, behind)])


def built(*spouts: PartitionedSpout) -> TopologyBuilder:
    """Build a topology of ticks and rows whose sink shows the position of each row among all."""
    builder = TopologyBuilder()
    forward = builder.set_bolt("forward", Forward)
    bolt = builder.set_bolt("ticking", Ticking)
    for number, spout in enumerate(spouts):
        builder.set_spout(f"source{number}", spout)
        forward.shuffle_grouping(f"source{number}")
        bolt.global_grouping(f"source{number}")
    sink = builder.set_bolt("sink", Numbered)
    sink.global_grouping("forward")
    sink.global_grouping("ticking")
    return builder


def test_no_tick_comes_behind_the_end_of_event_time_although_a_cut_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources that have accepted a time may end before it: the ticks up to it are none of the run's."""
    gate, decide = tmp_path / "decided", CutRecord.decide

    def decided(self: CutRecord) -> None:
        decide(self)
        gate.touch()

    def far_ahead(self: CutLeader, margin_s: float) -> Mapping[Sequence[int], int]:
        return {part: told_us + 10 * COUNT for part, told_us in self._told().items()}

    monkeypatch.setattr(CutRecord, "decide", decided)
    monkeypatch.setattr(CutLeader, "_times_us", far_ahead)
    whole = run_built(built(Asking(COUNT), Asking(COUNT))).result("sink")
    builder = built(Asking(COUNT, None, os.getpid(), gate), Asking(COUNT))
    assert run_with_checkpoints(builder, tmp_path / "made").result("sink") == whole
    assert gate.exists()


@pytest.mark.parametrize("said_us", range(10, 16))
def test_a_cut_where_a_lone_source_has_promised_a_time(tmp_path: Path, said_us: int) -> None:
    """One of three of these times is that of a tick."""
    whole = run_built(built(Asking(10, said_us))).result("sink")
    gate = tmp_path / "checkpoint-*"
    report = run_with_checkpoints(built(Asking(10, said_us, os.getpid(), gate)), tmp_path)
    assert report.result("sink") == whole
    (number,) = CheckpointFolder(tmp_path).ids
    start = {"start": tmp_path / f"checkpoint-{number:06}"}
    again: Sequence[Row] = run_built(built(Asking(10, said_us)), start).result("sink")
    assert 0 < len(again) < len(whole) and again == whole[-len(again) :]
