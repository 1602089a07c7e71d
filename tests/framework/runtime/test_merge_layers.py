"""Runs with merge bolts in place of gates put out the same, whatever a topology is made of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, built, run_suspended
from tests.framework.runtime.pieces import Count, Forward, Numbers
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind

LAYERS = ("operator", "operator-python")
every_layer = pytest.mark.parametrize("layer", LAYERS)


class TwoStreams(Bolt):
    """Sends even numbers one way and odd ones another."""

    outputs = [Stream(["source", "number"], name="even"), Stream(["source", "number"], name="odd")]

    def process(self, tup: Any) -> None:
        name = "odd" if tup.values[1] % 2 else "even"
        self.emit(list(tup.values[:2]), stream=name)


class Origins(Bolt):
    """Says of each tuple where it comes from."""

    outputs = ["source", "number"]

    def process(self, tup: Any) -> None:
        self.emit([f"{tup.component}/{tup.stream}: {tup.values[0]}", tup.values[1]])


class Names(Bolt):
    """Names the task that gets each tuple, and tells what it was told."""

    outputs = [Stream(["source", "number"], direct=True), Stream(["source", "number"], name="told")]
    mine = ()

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.mine = sorted(int(t) for t, name in context["task->component"].items() if name == "named")

    def process(self, tup: Any) -> None:
        source, number = tup.values[:2]
        self.emit([source, number], direct_task=self.mine[number % len(self.mine)])
        told = self.emit([source, number], stream="told", need_task_ids=True)
        self.emit([f"told {told}", number], stream="told")


class Tracked(Spout):
    """Emits sixty numbers with ids."""

    outputs = ["source", "number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.next = 0

    def next_tuple(self) -> bool:
        if self.next == 60:
            return False
        self.emit(["tracked", self.next], tup_id=self.next)
        self.next += 1
        return True


class Fails(Bolt):
    """Fails every seventh tuple."""

    outputs = ["source", "number"]
    auto_ack = False

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))
        (self.fail if tup.values[1] % 7 == 3 else self.ack)(tup)


def of_many_kinds() -> TopologyBuilder:
    """Several streams, groupings that copy, name and ask, and bolts that remember."""
    builder = TopologyBuilder()
    builder.set_spout("left", Numbers(50, "left"), 2)
    builder.set_spout("right", Numbers(25, "right"), 3)
    both = builder.set_bolt("both", TwoStreams, 2, config={"viper.stateless": True})
    both.shuffle_grouping("left").shuffle_grouping("right")
    origins = builder.set_bolt("origins", Origins, 3, config={"viper.stateless": True})
    origins.shuffle_grouping("both", stream="even").shuffle_grouping("both", stream="odd")
    origins.shuffle_grouping("left")
    builder.set_bolt("count", Count, 2).grouping("origins", Grouping.fields("number"))
    copied = builder.set_bolt("copied", Forward(1, "copied"), 2, config={"viper.stateless": True})
    copied.grouping("both", Grouping.ALL, stream="odd")
    builder.set_bolt("names", Names).global_grouping("count")
    named = builder.set_bolt("named", Origins, 2, config={"viper.stateless": True})
    named.grouping("names", Grouping.DIRECT)
    sink = builder.set_bolt("sink", CollectingSink)
    for name in ("count", "copied", "named"):
        sink.global_grouping(name)
    sink.global_grouping("names", stream="told")
    return builder


@pytest.mark.few(2)
@every_layer
@every_kind
@pytest.mark.parametrize("options", [{}, {"viper__jumbo__size": 1, "viper__channel__tuples": 2}], ids=str)
def test_the_output_is_the_same(layer: str, workers: Workers, options: dict[str, Any]) -> None:
    expected = INLINE.run(of_many_kinds()).result("sink")
    found = workers.run(of_many_kinds(), viper__merge__layer=layer, **options).result("sink")
    assert len(expected) > 300
    assert found == expected


@every_layer
@every_kind
def test_tracked_tuples_are_answered_once(layer: str, workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("tracked", Tracked, 2)
    builder.set_bolt("fails", Fails, 2).shuffle_grouping("tracked")
    builder.set_bolt("sink", CollectingSink).global_grouping("fails")
    report = workers.run(builder, {"max_tuples": 120}, viper__merge__layer=layer)
    spouts = report.components["tracked"]
    failing = 2 * len([number for number in range(60) if number % 7 == 3])
    assert (spouts.acked, spouts.failed) == (120 - failing, failing)
    assert len(report.result("sink")) == 120


@pytest.mark.few(1)
@every_layer
@every_kind
def test_short_turns_in_any_order_change_nothing(layer: str, workers: Workers) -> None:
    builder = of_many_kinds()
    options = {"viper__slice__tuples": 3, "viper__scheduling": "random", "viper__seed": 5}
    expected = INLINE.run(of_many_kinds()).result("sink")
    assert workers.run(builder, viper__merge__layer=layer, **options).result("sink") == expected


@pytest.mark.few(1)
@every_layer
@every_kind
def test_a_suspended_run_is_gone_on_with_by_any_layer(layer: str, workers: Workers, tmp_path: Path) -> None:
    whole = INLINE.run(built(Suspending(4, 600, 3), 1, 1)).result("sink")
    spout, merging = Suspending(4, 600, 3, os.getpid(), 200), {"viper__merge__layer": layer}
    first = run_suspended(built(spout, 2, 2), tmp_path, **workers.options, **merging)
    assert first.reason is StopReason.SUSPENDED
    rows = first.result("sink")
    assert 0 < len(rows) < len(whole) and rows == whole[: len(rows)]
    for options, tasks in ((merging, 3), ({}, 3), (merging, 1)):
        second = workers.run(built(Suspending(4, 600, 3), tasks, tasks), {"start": tmp_path}, **options)
        assert rows + second.result("sink") == whole, (options, tasks)


class Many(Spout):
    """Brings many tuples at once."""

    outputs = ["source", "number"]

    def tuples(self) -> Iterator[list[Any]]:
        yield from (["many", number] for number in range(3000))


class Few(Spout):
    """Brings one tuple, then nothing for so many calls, and then another one."""

    outputs = ["source", "number"]
    calls = 0

    def next_tuple(self) -> bool:
        self.calls += 1
        if self.calls in (1, WAITED):
            self.emit(["few", self.calls])
        return self.calls in (1, WAITED)


WAITED = 200


@every_layer
def test_a_merge_bolt_that_waits_for_a_source_rests(layer: str) -> None:
    """One source is far ahead, and another one holds everything back; else there are thousands of turns."""
    builder = TopologyBuilder()
    builder.set_spout("many", Many)
    builder.set_spout("few", Few)
    builder.set_bolt("both", Origins).shuffle_grouping("many").shuffle_grouping("few")
    builder.set_bolt("sink", CollectingSink).global_grouping("both")
    options = {"viper__merge__layer": layer, "viper__time": "logical", "viper__poll__pause__max__ms": 1}
    report = INLINE.run(builder, {"max_tuples": 3002}, **options)
    assert len(report.result("sink")) == 3002
    (executor,) = report.statistics.executors
    assert executor.turns < 10 * WAITED
