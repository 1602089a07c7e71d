"""Topologies inside the order guarantee, for any parallelism of their bolts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from framework import Bolt, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Count, Forward, Keep, Numbers, Timed


class Fork(Bolt):
    """Even numbers go to one stream, odd ones to the other, multiples of five to both."""

    outputs = [Stream(["source", "number"], name="even"), Stream(["source", "number"], name="odd")]

    def process(self, tup: Any) -> None:
        source, number = tup.values[:2]
        if number % 2 == 0 or number % 5 == 0:
            self.emit([source, number], stream="even")
        if number % 2 == 1 or number % 5 == 0:
            self.emit([source, number], stream="odd")


class Join(Bolt):
    """Says which stream each tuple came on."""

    outputs = ["source", "number"]

    def process(self, tup: Any) -> None:
        self.emit([f"{tup.values[0]}{tup.component}.{tup.stream}", tup.values[1]])


class Remember(Bolt):
    """Adds up what its ``all`` input has brought so far, and says the sum with every other tuple."""

    outputs = ["source", "number"]

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._sum = 0

    def process(self, tup: Any) -> None:
        if tup.component == "settings":
            self._sum += tup.values[1]
        else:
            self.emit([f"{tup.values[0]}+{self._sum}", tup.values[1]])


def chain(par: int, count: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("split", Forward, par, args=[3]).shuffle_grouping("source")
    builder.set_bolt("count", Count, par).fields_grouping("split", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("count")
    return builder


def diamond(par: int, count: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("long1", Forward, par, args=[2, "l"]).shuffle_grouping("source")
    builder.set_bolt("long2", Keep, par, args=[1, 3]).shuffle_grouping("long1")
    builder.set_bolt("short", Forward, par, args=[1, "s"]).shuffle_grouping("source")
    joined = builder.set_bolt("join", Join, par).shuffle_grouping("long2")
    joined.fields_grouping("short", "number").local_or_shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


def starving_branch(par: int, count: int) -> TopologyBuilder:
    """One branch lets nothing pass: the meeting point may neither wait for it nor run ahead of it."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("nothing", Keep, par, args=[0, 1]).shuffle_grouping("source")
    builder.set_bolt("little", Keep, par, args=[1, 50]).shuffle_grouping("nothing").shuffle_grouping("source")
    builder.set_bolt("join", Join, par).shuffle_grouping("little").shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


def fan(par: int, count: int) -> TopologyBuilder:
    """Several subscribers of one stream, which meet again."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("fork", Fork, par).shuffle_grouping("source")
    for number in range(3):
        declared = builder.set_bolt(f"way{number}", Forward, par, args=[number, str(number)])
        declared.shuffle_grouping("fork", stream="even" if number % 2 else "odd")
    last = builder.set_bolt("sink", CollectingSink)
    for number in range(3):
        last.global_grouping(f"way{number}")
    return builder


def two_streams(par: int, count: int) -> TopologyBuilder:
    """Several streams between two components."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("fork", Fork, par).shuffle_grouping("source")
    joined = builder.set_bolt("join", Join, par).fields_grouping("fork", "number", stream="even")
    joined.shuffle_grouping("fork", stream="odd")
    builder.set_bolt("sink", CollectingSink).global_grouping("join")
    return builder


def two_spouts(par: int, count: int) -> TopologyBuilder:
    """Equal event times in two spouts, one of them with two tasks."""
    builder = TopologyBuilder()
    builder.set_spout("first", Timed, 2, args=[count, "a", 3])
    builder.set_spout("second", Timed, args=[count, "b", 5])
    worked = builder.set_bolt("work", Forward, par, args=[2]).shuffle_grouping("first")
    worked.shuffle_grouping("second")
    builder.set_bolt("count", Count, par).fields_grouping("work", "number")
    builder.set_bolt("sink", CollectingSink).global_grouping("count").global_grouping("first")
    return builder


def broadcast(par: int, count: int) -> TopologyBuilder:
    """An ``all`` grouping into replicas that only keep state of it."""
    builder = TopologyBuilder()
    builder.set_spout("settings", Numbers, args=[count // 10, "s"])
    builder.set_spout("data", Numbers, 2, args=[count, "d"])
    builder.set_bolt("work", Remember, par).all_grouping("settings").shuffle_grouping("data")
    builder.set_bolt("sink", CollectingSink).global_grouping("work")
    return builder


SHAPES: dict[str, Callable[[int, int], TopologyBuilder]] = {
    shape.__name__: shape
    for shape in (chain, diamond, starving_branch, fan, two_streams, two_spouts, broadcast)
}
