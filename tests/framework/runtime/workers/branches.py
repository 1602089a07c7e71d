"""Topologies whose branches part and meet again, for any parallelism of their bolts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from framework import Bolt, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import Numbers


class Copies(Bolt):
    """Emits each tuple several times, with the number of the copy."""

    outputs = ["source", "number"]
    config = {"viper.stateless": True}

    def __init__(self, times: int = 1) -> None:
        super().__init__()
        self._times = times

    def process(self, tup: Any) -> None:
        source, number = tup.values
        for copy in range(self._times):
            self.emit([f"{source}{self.component_name}{copy}", number])


class Keeps(Bolt):
    """Lets every n-th number pass; none at 0."""

    outputs = ["source", "number"]
    config = {"viper.stateless": True}

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every = every

    def process(self, tup: Any) -> None:
        if self._every and tup.values[1] % self._every == 0:
            self.emit(list(tup.values))


class Sums(Bolt):
    """Adds up what its ``all`` input has brought so far, and says the sum with every other tuple."""

    outputs = ["source", "number"]
    config = {"viper.stateless": True}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._sum = 0

    def process(self, tup: Any) -> None:
        if tup.component == "settings":
            self._sum += tup.values[1]
        else:
            self.emit([f"{tup.values[0]}+{self._sum}", tup.values[1]])


def diamond(par: int, count: int) -> TopologyBuilder:
    """A long branch that amplifies, a short one, and the way past both."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("long1", Copies, par, args=[3]).shuffle_grouping("source")
    builder.set_bolt("long2", Keeps, par, args=[2]).shuffle_grouping("long1")
    builder.set_bolt("long3", Copies, par, args=[2]).fields_grouping("long2", "number")
    builder.set_bolt("short", Copies, par, args=[1]).shuffle_grouping("source")
    joined = builder.set_bolt("join", Copies, par, args=[1]).shuffle_grouping("long3")
    joined.fields_grouping("short", "number").shuffle_grouping("source")
    return _ended(builder, "join")


def starving(par: int, count: int) -> TopologyBuilder:
    """One branch lets nothing pass: the meeting point may neither wait for it nor run ahead of it."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[count])
    builder.set_bolt("nothing", Keeps, par, args=[0]).shuffle_grouping("source")
    builder.set_bolt("little", Keeps, par, args=[50]).shuffle_grouping("nothing").shuffle_grouping("source")
    return _ended(builder, "little", "nothing", "source")


def spouts(par: int, count: int) -> TopologyBuilder:
    """Sources of different lengths that have to advance in step."""
    builder = TopologyBuilder()
    builder.set_spout("one", Numbers, 2, args=[count, "a"])
    builder.set_spout("two", Numbers, args=[count // 4, "b"])
    builder.set_bolt("both", Copies, par, args=[2]).shuffle_grouping("one").shuffle_grouping("two")
    return _ended(builder, "both", "two")


def everything(par: int, count: int) -> TopologyBuilder:
    """All tasks of a bolt get one stream, from a gate that they share, and another in shares."""
    builder = TopologyBuilder()
    builder.set_spout("settings", Numbers, args=[count // 10, "s"])
    builder.set_spout("data", Numbers, 2, args=[count, "d"])
    builder.set_bolt("sums", Sums, par).all_grouping("settings").shuffle_grouping("data")
    return _ended(builder, "sums")


def _ended(builder: TopologyBuilder, *sources: str) -> TopologyBuilder:
    sink = builder.set_bolt("sink", CollectingSink)
    for source in sources:
        sink.global_grouping(source)
    return builder


BRANCHES: dict[str, Callable[[int, int], TopologyBuilder]] = {
    made.__name__: made for made in (diamond, starving, spouts, everything)
}
