"""Random topologies of faulty components, run in an order that a seed determines."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from framework import TopologyBuilder
from framework.runtime import RunReport, StopReason, StopSignal
from tests.framework.reliability.faulty import AGAIN, KINDS, ROUND, Faults, Faulty, Source
from tests.framework.reliability.model import Model
from tests.framework.reliability.pieces import prepared

LONGEST_S = 200.0
"""Seconds by the clock of the simulation after which a run has come to a standstill; the longest takes 49."""
TICKS = {"topology.tick.tuple.freq.secs": 1}


@dataclass(frozen=True)
class Node:
    """A bolt of a random topology."""

    name: str
    kind: str
    par: int
    sources: dict[str, str]
    """The components that it reads from, with the grouping."""
    loops: bool
    restarts: bool
    auto_fail: bool


@dataclass(frozen=True)
class Schedule:
    """All that is random about one run but for what its components do."""

    seed: int
    spouts: dict[str, tuple[int, int]]
    """Parallelism and number of tuples of each."""
    nodes: tuple[Node, ...]
    by_event_time: bool
    options: dict[str, Any]

    def __str__(self) -> str:
        nodes = [f"{n.name}: {n.kind} x{n.par}{' loops' * n.loops} <- {n.sources}" for n in self.nodes]
        return "\n  ".join([f"seed {self.seed}", f"spouts {self.spouts}", *nodes, str(self.options)])


def drawn_schedule(seed: int) -> Schedule:
    """The schedule of a seed."""
    draw = random.Random(seed)
    spouts = {f"s{n}": (draw.choice((1, 1, 2)), draw.randint(1, 8)) for n in range(draw.randint(1, 3))}
    layers: list[list[str]] = [list(spouts)]
    nodes: list[Node] = []
    for depth in range(draw.randint(1, 4)):
        made = [_node(draw, f"b{depth}{n}", layers) for n in range(draw.randint(1, 2))]
        nodes += made
        layers.append([node.name for node in made])
    time = draw.choice(("event", "logical", "ingest"))
    return Schedule(seed, spouts, tuple(nodes), time == "event", _options(draw, time, nodes))


def _node(draw: random.Random, name: str, layers: list[list[str]]) -> Node:
    before = [other for layer in layers for other in layer]
    chosen = {draw.choice(layers[-1]), *draw.sample(before, min(len(before), draw.randint(0, 2)))}
    kind = draw.choice(("simple", "simple", "late", "batches", "timed"))
    loops = kind in ("simple", "late") and draw.random() < 0.15
    grouping = ("shuffle", "shuffle", "fields", "global", *([] if loops else ["all"]))
    return Node(
        name,
        kind,
        draw.choice((1, 1, 2, 3)),
        {source: draw.choice(grouping) for source in sorted(chosen)},
        loops=loops,
        restarts=draw.random() < 0.5,
        auto_fail=kind != "simple" or draw.random() < 0.8,
    )


def _options(draw: random.Random, time: str, nodes: list[Node]) -> dict[str, Any]:
    bounded = time == "ingest" or all(node.kind == "simple" for node in nodes)
    return {
        "viper__scheduling": "random",
        "viper__seed": draw.randrange(10_000),
        "viper__jumbo__size": draw.choice((1, 2, 256)),
        "viper__slice__tuples": draw.choice((1, 3, 64)),
        "viper__channel__jumbos": draw.choice((1, 2, 64)),
        "viper__poll__pause__max__ms": 50,
        "viper__restart__tries": 10_000,
        "viper__time": time,
        "topology__message__timeout__secs": draw.choice((1, 2)),
        "topology__max__spout__pending": draw.choice((None, 1, 3)) if bounded else None,
    }


@dataclass
class Outcome:
    """The outcome of a schedule."""

    schedule: Schedule
    model: Model
    report: RunReport
    left_open: int
    """Trees that nobody has ended."""

    def problems(self) -> list[str]:
        """All that is not as Storm's contract has it."""
        found = list(self.model.wrong)
        counts = [self.report.components[name] for name in self.schedule.spouts]
        wanted = sum(par * count for par, count in self.schedule.spouts.values())
        acked = {root[:2] for root in self.model.acked}
        if len(acked) != wanted or sum(count.acked for count in counts) != wanted:
            found.append(f"{len(acked)} of {wanted} tuples were acked in the end")
        for name, count in zip(self.schedule.spouts, counts, strict=True):
            is_read = any(name in node.sources for node in self.schedule.nodes)
            if is_read and (count.tracked != count.acked + count.failed or count.unanswered):
                found.append(f"{name} has not heard of all of its tuples: {count}")
        if self.left_open:
            found.append(f"{self.left_open} trees are still open")
        if self.report.reason is not StopReason.EXHAUSTED or not self.report.drained:
            found.append(f"the run has not come to its end: {self.report.reason}")
        return found


def run_schedule(schedule: Schedule, clock: StopSignal) -> Outcome:
    """Run a schedule.

    Args:
        schedule: what to run.
        clock: a clock that advances when nothing else does.
    """
    model, faults = Model(), Faults(schedule.seed, left=30)
    run = prepared(
        _built(schedule, model, faults), {"stop": clock, "duration_s": LONGEST_S}, **schedule.options
    )
    model.sinks = _sinks(schedule, run._plan.tasks)
    assert run._network is not None
    forest = run._network.forest
    assert forest is not None
    report = run.execute()
    left_open = sum(forest.table(index).open for index in range(forest.table_count))
    return Outcome(schedule, model, report, left_open)


def _built(schedule: Schedule, model: Model, faults: Faults) -> TopologyBuilder:
    builder = TopologyBuilder()
    draw = random.Random(schedule.seed)
    shared = {"model": model, "faults": faults}
    for name, (par, count) in schedule.spouts.items():
        more = {"count": count, "in_fail": draw.random() < 0.5, "stamped": schedule.by_event_time}
        made = {**shared, **more, "copies": _copies(schedule, name)}
        builder.set_spout(name, type("Source", (Source,), made), par, config={"viper.on.error": "skip"})
    for node in schedule.nodes:
        conf = {"viper.on.error": "restart" if node.restarts else "skip"}
        conf |= TICKS if node.kind in ("late", "batches") else {}
        declared = builder.set_bolt(node.name, _bolt(schedule, node, shared), node.par, config=conf)
        for source, grouping in node.sources.items():
            fields = ["number"] if grouping == "fields" else []
            getattr(declared, f"{grouping}_grouping")(source, *fields)
        if node.loops:
            declared.shuffle_grouping(node.name, stream=AGAIN)
    return builder


def _bolt(schedule: Schedule, node: Node, shared: dict[str, Any]) -> type[Faulty]:
    copies = _copies(schedule, node.name)
    outputs = ROUND if node.loops else Source.outputs if copies else None
    made = {"outputs": outputs, "copies": copies, "copies_again": int(node.loops)}
    options = {"auto_fail": node.auto_fail, "exit_on_exception": node.restarts}
    return type(node.kind.title(), (KINDS[node.kind],), {**shared, **made, **options})


def _copies(schedule: Schedule, name: str) -> int:
    read = [(node.par, node.sources[name]) for node in schedule.nodes if name in node.sources]
    return sum(par if grouping == "all" else 1 for par, grouping in read)


def _sinks(schedule: Schedule, tasks: Any) -> dict[int, set[str]]:
    """By task of a spout: the bolts at the ends of the ways from there."""
    ends = {name: _ends(schedule, name) for name in schedule.spouts}
    return {task.id: ends[task.component] for task in tasks if task.component in ends}


def _ends(schedule: Schedule, name: str) -> set[str]:
    readers = [node.name for node in schedule.nodes if name in node.sources]
    return set().union(*(_ends(schedule, reader) or {reader} for reader in readers))
