"""Topologies and configurations drawn from all that the order guarantee promises.

Each is drawn from a number alone, so that a failure names the number and can be repeated. What is drawn:

- spouts by event time: generators and polled ones, in up to three partitions, whose rows are tracked all,
  in part or not at all, come in bursts, and share times with those of other spouts, or have none;
- bolts without state after every grouping, with state after keys, with ticks by event time in one or
  several tasks, with batches that emit a little or far more than a channel holds, with answers that come with
  ticks; streams that fork and meet again; direct, ``all`` and custom groupings, with copies and without;
- channels from the smallest that are allowed to ones that are never full, and everything else of the
  configuration that must not show: jumbo tuples, slices, pauses, schedules, workers, placement, threads of
  components' own, tracking switched off, few tracked rows at a time; either hash of keys.

A bolt is *free* where the guarantee says that its parallelism does not show: the reference runs it with one
task. The others (ticks, batches and copies in several replicas) have the same number of tasks in both runs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from framework import Bolt, Grouping, Spout, Stream, TopologyBuilder
from framework.operators.sinks import CollectingSink
from framework.runtime.execution.heuristics import HEURISTICS
from tests.determinism.components import FIELDS, STATELESS, Fork, Forward, History, Join, Keep, Settle, Timed
from tests.determinism.noise import NOISE
from tests.determinism.promised_components import Asked, Gathers, Holds, OneByTrail, Points, Sums
from tests.determinism.special_components import Asks, Awaits, ByTrail, Several, Where
from tests.determinism.variants import MERGE_BOLTS

Output = tuple[str, str]
"""Component and stream."""

KEYED = Grouping.fields("key")
KEYLESS = (
    Grouping.SHUFFLE,
    Grouping.LOCAL_OR_SHUFFLE,
    Grouping.NONE,
    Grouping.GLOBAL,
    KEYED,
    Grouping.fields("trail", "key"),
    Grouping.partial_key("key"),
    Grouping.custom(ByTrail),
)
"""The groupings that may feed a bolt without state, whatever its parallelism."""
STATELESS_BOLTS: tuple[tuple[type[Bolt], tuple[Any, ...]], ...] = (
    (Forward, (".", 1)),
    (Forward, (".", 3)),
    (Keep, (0.5,)),
    (Keep, (0,)),
    (Fork, ()),
    (Join, ()),
    (Asks, ()),
    (Awaits, ()),
)
MOST_SPOUTS, MOST_BOLTS = 3, 5
PARALLELISMS = (1, 1, 2, 3, 4)
TICK_SECS = (0.5, 1, 3, 10, 1000)


@dataclass(frozen=True)
class Node:
    """A spout or a bolt."""

    id: str
    cls: type[Spout] | type[Bolt]
    args: tuple[Any, ...] = ()
    reads: tuple[tuple[Output, Grouping], ...] = ()
    par: int = 1
    is_free: bool = False
    """True if its parallelism must not show."""
    config: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ("default",)


@dataclass(frozen=True)
class Promise:
    """A topology, and a configuration that must not show in what it gives."""

    nodes: tuple[Node, ...]
    options: Mapping[str, Any]
    shared: Mapping[str, Any]
    """The options of the reference, too: they decide which of several replicas gets a key."""

    def build(self, *, serial: bool) -> TopologyBuilder:
        """The topology, all of whose ends are in the sink, and some other streams; serial: the reference."""
        builder = TopologyBuilder()
        for node in self.nodes:
            par = 1 if serial and node.is_free else node.par
            if issubclass(node.cls, Spout):
                builder.set_spout(node.id, node.cls, par, args=node.args, config=_over(node))
                continue
            outputs = [Stream(FIELDS, direct=True)] if node.cls is Points else None
            declared = builder.set_bolt(
                node.id, node.cls, par, args=node.args, config=_over(node), outputs=outputs
            )
            for (source, stream), grouping in node.reads:
                declared.grouping(source, grouping, stream)
        sink = builder.set_bolt("sink", CollectingSink)
        for source, stream in self._ends():
            sink.global_grouping(source, stream)
        return builder

    def _ends(self) -> list[Output]:
        read = {output for node in self.nodes for output, _ in node.reads}
        streams = [(node.id, name) for node in self.nodes if node.cls is not Points for name in node.outputs]
        return [output for number, output in enumerate(streams) if output not in read or number % 3 == 0]

    def __str__(self) -> str:
        lines = [
            f"{node.id}: {node.cls.__name__}{node.args} par={node.par}{' free' if node.is_free else ''} "
            f"{dict(node.config)} reads {[(*output, str(grouping)) for output, grouping in node.reads]}"
            for node in self.nodes
        ]
        options = {**self.shared, **self.options}
        return "\n".join([*lines, *(f"{key}: {value}" for key, value in options.items())])


def _over(node: Node) -> dict[str, Any]:
    """Its class's configuration, with its own on top."""
    return {**(node.cls.config or {}), **node.config}


def promise(seed: str, kind: str, workers: Sequence[int]) -> Promise:
    """Draw a promise from a seed, for workers of a kind, in one of these numbers."""
    draw = random.Random(f"{seed}/{kind}")
    nodes = [_spout(draw, f"s{number}") for number in range(draw.randint(1, MOST_SPOUTS))]
    for number in range(draw.randint(1, MOST_BOLTS)):
        nodes += _bolts(draw, f"b{number}", nodes)
    acked_late = any(node.cls in (Gathers, Holds) for node in nodes)
    shared = {"viper.grouping.hash": draw.choice(("stable", "stable", "storm"))}
    return Promise(tuple(nodes), _options(draw, seed, kind, workers, may_bound=not acked_late), shared)


def _spout(draw: random.Random, name: str) -> Node:
    count, every, step = draw.choice((0, 1, 7, 20, 40)), draw.choice((1, 3, 10)), draw.choice((0, 1, 2, 7))
    par = draw.choice((1, 1, 2, 3))
    if draw.random() < 0.4:
        return Node(name, Timed, (count, name, every, step), par=par, config={"viper.timestamp.unit": "s"})
    args = (count, name, every, step, draw.choice((0, 1, 1, 3, 10)), draw.choice((1, 3, 20)))
    config = {"viper.blocking": True} if draw.random() < 0.1 else {}
    return Node(name, Asked, args, par=par, config=config)


def _bolts(draw: random.Random, name: str, before: Sequence[Node]) -> list[Node]:
    """One bolt, or two where the first one names the tasks of the second."""
    offered = [(node.id, stream) for node in before if node.cls is not Points for stream in node.outputs]
    sources = draw.sample(offered, min(len(offered), draw.choice((1, 1, 2, 3))))
    par = draw.choice(PARALLELISMS)
    config = {"viper.blocking": True} if draw.random() < 0.05 else {}
    kind = draw.choice(("stateless", "stateless", "keyed", "ticked", "ticked", "all", "direct", "copied"))
    if kind == "stateless":
        cls, args = draw.choice(STATELESS_BOLTS)
        outputs = ("left", "right") if cls is Fork else ("default",)
        reads = tuple((source, draw.choice(KEYLESS)) for source in sources)
        return [Node(name, cls, args, reads, par, True, config, outputs)]
    if kind == "keyed":
        return [Node(name, History, (), _by(KEYED, sources), par, True, config)]
    if kind == "ticked":
        return [_ticked(draw, name, sources, par, config)]
    if kind == "all":
        first = sources[0][0]
        reads = tuple((s, Grouping.ALL if s[0] == first else draw.choice(KEYLESS)) for s in sources)
        return [Node(name, Settle, (first,), reads, par, True, config)]
    if kind == "direct":
        pointing = Node(f"{name}p", Points, (name,), _by(KEYED, sources), draw.choice(PARALLELISMS), True)
        pointed = (((pointing.id, "default"), Grouping.DIRECT),)
        return [pointing, Node(name, History, (), pointed, par, True, config)]
    grouping = draw.choice((Grouping.ALL, Grouping.custom(Several), Grouping.custom(OneByTrail)))
    # Its state is the same for each plan, as the replicas are chosen by what a row says.
    return [Node(name, Where, (), _by(grouping, sources[:1]), par, False, {**config, **STATELESS})]


def _ticked(
    draw: random.Random, name: str, sources: Sequence[Output], par: int, config: Mapping[str, Any]
) -> Node:
    times = draw.choice((0, 1, 2, 15))
    cls, args = draw.choice(
        (
            (Sums, (times, True)),
            (Sums, (times, False)),
            (Gathers, (times, 0)),
            (Gathers, (times, 1)),
            (Gathers, (times * 2, 3)),
            (Holds, ()),
        )
    )
    grouping = draw.choice((KEYED, KEYED, Grouping.GLOBAL))
    ticks = {"topology.tick.tuple.freq.secs": draw.choice(TICK_SECS)}
    return Node(name, cls, args, _by(grouping, sources), par, False, {**config, **ticks})


def _by(grouping: Grouping, sources: Sequence[Output]) -> tuple[tuple[Output, Grouping], ...]:
    return tuple((source, grouping) for source in sources)


def _scheduling(seed: str, usual: str) -> str:
    """The policy by which tasks are chosen, drawn apart from all else, which keeps its seeds."""
    return random.Random(f"{seed}/scheduling").choice((*len(HEURISTICS) * (usual,), *HEURISTICS))


def _options(
    draw: random.Random, seed: str, kind: str, workers: Sequence[int], *, may_bound: bool
) -> dict[str, Any]:
    jumbo = draw.choice((1, 1, 2, 7, 64, 1024, 65536))
    options: dict[str, Any] = {
        "viper.worker": kind,
        "topology.workers": draw.choice(workers),
        "viper.placement": draw.choice(("round-robin", "component")),
        "viper.jumbo.size": jumbo,
        "viper.jumbo.linger.ms": draw.choice((0, 1, 20)),
        "viper.channel.jumbos": draw.choice((1, 1, 2, 64)),
        "viper.channel.tuples": draw.choice((jumbo, jumbo, max(jumbo, 8192))),
        "viper.channel.bytes": draw.choice((1024, 4096, 4194304)),
        "viper.slice.tuples": draw.choice((1, 3, 64, 4096)),
        "viper.poll.pause.max.ms": draw.choice((0, 1, 50)),
        "viper.scheduling": _scheduling(seed, draw.choice(("downstream", "random", "random"))),
        "viper.seed": draw.randrange(10_000),
        "topology.acker.executors": draw.choice((None, None, None, 0)),
        "topology.message.timeout.secs": 600,  # a row that fails by time would be emitted no more
        NOISE: seed if draw.random() < 0.7 else None,
    }
    if may_bound and draw.random() < 0.5:
        options["topology.max.spout.pending"] = draw.choice((1, 2, 10))
        options["viper.tracked.max"] = draw.choice((1, 8, 262144))
    options["viper.chains"] = draw.choice((True, True, True, False))
    options["viper.merge.layer"] = draw.choice((*["communication"] * 3, *MERGE_BOLTS))
    if kind != "inline":
        options["viper.worker.threads"] = random.Random(f"{seed}/{kind}/threads").choice((1, 1, 2, 3))
    return options
