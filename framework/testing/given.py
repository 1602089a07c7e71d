"""What a test puts in place of a topology's components: rows for spouts, and sinks that keep rows."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.components import Bolt, Spout
from framework.errors import TopologyError
from framework.sinks import CollectingSink
from framework.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
    Grouping,
    GroupingKind,
    Input,
    ObjectDef,
    Problem,
    PythonImplementation,
    Role,
    Topology,
    class_path,
    unknown,
)

Rows = Iterable[Sequence[Any]]
Inputs = Mapping[str, Rows | Mapping[str, Rows]]
"""For spouts by id: rows of values for the default stream, or rows for each stream by name."""


class GivenRows(Spout):
    """Emits the given rows, and ends.

    Args:
        streams: rows by name of their stream; one stream after the other.
    """

    def __init__(self, streams: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        super().__init__()
        self._rows = [(stream, row) for stream, rows in streams.items() for row in rows]
        self._rows.reverse()

    def next_tuple(self) -> None:
        """Emit the next row."""
        if not self._rows:
            raise StopIteration
        stream, row = self._rows.pop()
        self.emit(row, stream=stream)


class FedRows(Spout):
    """Emits rows as a harness gives them to it, and notes what has become of each."""

    def __init__(self) -> None:
        super().__init__()
        self.acked: list[tuple[Any, ...]] = []
        """The values of the tuples that were processed, with all that came of them."""
        self.failed: list[tuple[Any, ...]] = []
        self._rows: deque[tuple[str, Sequence[Any]]] = deque()
        self._sent: dict[int, tuple[Any, ...]] = {}
        """The values of tuples in flight, by number."""
        self._numbers = itertools.count(1)

    def feed(self, stream: str, rows: Iterable[Sequence[Any]]) -> int:
        """Take rows to be emitted on a stream; returns how many are waiting."""
        self._rows.extend((stream, row) for row in rows)
        return len(self._rows)

    def next_tuple(self) -> None:
        """Emit the next row, if there is one."""
        if self._rows:
            stream, row = self._rows.popleft()
            number = next(self._numbers)
            self._sent[number] = tuple(row)
            self.emit(row, stream=stream, tup_id=number)

    def ack(self, tup_id: Any) -> None:
        """Note that a tuple was processed."""
        self.acked.append(self._sent.pop(tup_id))

    def fail(self, tup_id: Any) -> None:
        """Note that a tuple has failed."""
        self.failed.append(self._sent.pop(tup_id))


class Holding(Bolt):
    """Keeps every tuple, and leaves it to a harness to ack it."""

    auto_ack = False

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Any] = []
        """The tuples, in order."""

    def process(self, tup: Any) -> None:
        """Keep a tuple."""
        self.held.append(tup)


def given(topology: Topology, inputs: Inputs) -> Topology:
    """The same topology with given rows in place of some of its spouts.

    Raises:
        TopologyError: a name that is no spout's.
    """
    _check(topology, "spout", inputs, [spout.id for spout in topology.spouts])
    components = (_rows(c, inputs[c.id]) if c.id in inputs else c for c in topology.components)
    return replace(topology, components=tuple(components))


def fed(topology: Topology, spouts: Collection[str]) -> Topology:
    """The same topology with spouts in place of some of its own that emit what a harness gives them.

    Raises:
        TopologyError: a name that is no spout's.
    """
    _check(topology, "spout", spouts, [spout.id for spout in topology.spouts])
    implementation = PythonImplementation(ObjectDef(class_path(FedRows), cls=FedRows))
    components = (
        replace(c, implementation=implementation, parallelism=1, tasks=1) if c.id in spouts else c
        for c in topology.components
    )
    return replace(topology, components=tuple(components))


def holding(topology: Topology, component: str, name: str) -> Topology:
    """The same topology with one more bolt, which holds everything that a component emits.

    Args:
        topology: a valid one.
        component: the id of the component.
        name: the id of the new bolt.
    """
    streams = [stream for c in topology.components if c.id == component for stream in c.outputs or ()]
    bolt = ComponentSpec(
        name,
        Role.BOLT,
        PythonImplementation(ObjectDef(class_path(Holding), cls=Holding)),
        inputs=tuple(Input(component, Grouping.GLOBAL, stream.name) for stream in streams),
    )
    return replace(topology, components=(*topology.components, bolt))


def collected(topology: Topology, sinks: Collection[str]) -> Topology:
    """The same topology with a sink that keeps its rows in place of some of its bolts.

    Raises:
        TopologyError: a name that is no bolt's.
    """
    _check(topology, "bolt", sinks, [bolt.id for bolt in topology.bolts])
    components = (_keeping(c) if c.id in sinks else c for c in topology.components)
    return replace(topology, components=tuple(components))


def _check(topology: Topology, role: str, names: Iterable[str], known: Collection[str]) -> None:
    wrong = [name for name in names if name not in known]
    if wrong:
        raise TopologyError(Problem(topology.sources.at(), unknown(role, name, known)) for name in wrong)


def _rows(spout: ComponentSpec, rows: Rows | Mapping[str, Rows]) -> ComponentSpec:
    streams = rows if isinstance(rows, Mapping) else {DEFAULT_STREAM: rows}
    held = {stream: [list(row) for row in given] for stream, given in streams.items()}
    implementation = PythonImplementation(ObjectDef(class_path(GivenRows), args=(held,), cls=GivenRows))
    config = {**spout.config, "viper.spout.bounded": True}
    return replace(spout, implementation=implementation, parallelism=1, tasks=1, config=config)


def _keeping(bolt: ComponentSpec) -> ComponentSpec:
    """A single task that receives all that the bolt's tasks receive, each tuple once."""
    implementation = PythonImplementation(ObjectDef(class_path(CollectingSink), cls=CollectingSink))
    return replace(
        bolt,
        implementation=implementation,
        parallelism=1,
        tasks=1,
        inputs=tuple(map(_whole, bolt.inputs)),
        config={"viper.mutates": False},
    )


def _whole(read: Input) -> Input:
    # A custom grouping may need the tasks that the bolt would have had.
    return replace(read, grouping=Grouping.GLOBAL) if read.grouping.kind is GroupingKind.CUSTOM else read
