"""Random topologies inside the order guarantee, and random plans for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from framework import Bolt, Grouping, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.determinism.components import (
    Burst,
    Fork,
    Forward,
    Gather,
    History,
    Join,
    Keep,
    Settle,
    Timed,
)
from tests.determinism.special_components import Asks, Awaits, ByTrail
from tests.determinism.state_components import Counted, Recalls, RecallsAny, Stumbles
from tests.determinism.variants import JUMBO_SIZES, PARALLELISMS, WORKERS, Variant

KEYLESS = (
    Grouping.SHUFFLE,
    Grouping.LOCAL_OR_SHUFFLE,
    Grouping.NONE,
    Grouping.GLOBAL,
    Grouping.fields("key"),
    Grouping.partial_key("key"),
    Grouping.custom(ByTrail),
)
"""The groupings that may feed a bolt without state."""
STATEFUL = (Counted, Recalls, RecallsAny, Stumbles)
"""Bolts that declare state."""
KEYS = (Grouping.fields("key"), Grouping.fields("trail", "key"))
"""The groupings of bolts by key, one of which all inputs of a bolt have."""
MOST_BOLTS = 5


@dataclass(frozen=True)
class Read:
    """A subscription to the stream of an earlier component, by its number."""

    source: int
    stream: str
    grouping: Grouping


@dataclass(frozen=True)
class Node:
    """A bolt."""

    cls: type[Bolt]
    args: tuple[Any, ...]
    reads: tuple[Read, ...]
    par: int
    """Its parallelism in the run that is compared with the serial one."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that it declares."""
        return ("left", "right") if self.cls is Fork else ("default",)


@dataclass(frozen=True)
class Shape:
    """Spouts, and bolts that each read from some components before them."""

    spouts: tuple[tuple[int, int, int, int], ...]
    """Partitions, rows, how many of them have the same time, and how far times are apart."""
    nodes: tuple[Node, ...]

    def build(self, serial: bool) -> TopologyBuilder:
        """The topology, with every stream that nobody reads, and some others, in the sink."""
        builder = TopologyBuilder()
        for number, (partitions, *args) in enumerate(self.spouts):
            count, every, step = args
            builder.set_spout(f"c{number}", Timed, partitions, args=[count, f"{number}:", every, step])
        for number, node in enumerate(self.nodes, len(self.spouts)):
            declared = builder.set_bolt(f"c{number}", node.cls, 1 if serial else node.par, args=node.args)
            for read in node.reads:
                declared.grouping(f"c{read.source}", read.grouping, read.stream)
        sink = builder.set_bolt("sink", CollectingSink)
        for source, stream in self._ends():
            sink.global_grouping(f"c{source}", stream)
        return builder

    def _ends(self) -> list[tuple[int, str]]:
        read = {(read.source, read.stream) for node in self.nodes for read in node.reads}
        streams = [(number, "default") for number in range(len(self.spouts))]
        for number, node in enumerate(self.nodes, len(self.spouts)):
            streams += [(number, stream) for stream in node.streams]
        return [(source, stream) for source, stream in streams if (source, stream) not in read or source % 2]


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """A random topology."""
    spout = st.tuples(st.integers(1, 2), st.integers(0, 20), st.integers(1, 4), st.integers(1, 3))
    spouts = draw(st.lists(spout, min_size=1, max_size=3))
    offered = [(number, "default") for number in range(len(spouts))]
    nodes: list[Node] = []
    for number in range(len(spouts), len(spouts) + draw(st.integers(1, MOST_BOLTS))):
        node = draw(_nodes(offered, f".{number}"))
        nodes.append(node)
        offered += [(number, stream) for stream in node.streams]
    return Shape(tuple(spouts), tuple(nodes))


@st.composite
def _nodes(draw: st.DrawFn, offered: Sequence[tuple[int, str]], tag: str) -> Node:
    cls, args = draw(
        st.one_of(
            st.tuples(st.just(Forward), st.tuples(st.just(tag), st.integers(1, 2))),
            st.tuples(st.just(Keep), st.tuples(st.sampled_from([0, 0.01, 0.5, 1]))),
            st.tuples(st.just(Gather), st.tuples(st.integers(1, 3))),
            st.tuples(st.sampled_from([History, Fork, Join, Asks, Awaits, Burst, Settle]), st.just(())),
            st.tuples(st.sampled_from(STATEFUL), st.just(())),
        )
    )
    sources = draw(st.lists(st.sampled_from(offered), min_size=1, max_size=2, unique=True))
    par = draw(st.sampled_from(PARALLELISMS))
    if cls in (History, Gather, *STATEFUL):
        keyed = draw(st.sampled_from(KEYS)) if cls in STATEFUL else Grouping.fields("key")
        return Node(cls, args, tuple(Read(*source, keyed) for source in sources), par)
    reads = tuple(Read(*source, draw(st.sampled_from(KEYLESS))) for source in sources)
    if cls is Settle:
        return _settling(reads, par)
    return Node(cls, args, reads, par)


def _settling(reads: tuple[Read, ...], par: int) -> Node:
    """The first input brings the settings, to all; what comes of the same component on other streams too."""
    first = reads[0].source
    settings = tuple(Read(r.source, r.stream, Grouping.ALL) if r.source == first else r for r in reads)
    return Node(Settle, (f"c{first}",), settings, par)


def plans(kind: str) -> st.SearchStrategy[Variant]:
    """A random plan for workers of a kind; its parallelism is that of each bolt, which the shape says."""
    return st.builds(
        Variant,
        topology=st.just("random"),
        par=st.just(0),
        worker=st.just(kind),
        workers=st.sampled_from(WORKERS[kind]),
        jumbo=st.sampled_from(JUMBO_SIZES),
        seed=st.integers(0, 1_000),
    )
