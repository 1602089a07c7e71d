"""What a test puts in place of a topology's components: rows for spouts, and sinks that keep rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.components import Spout
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


def given(topology: Topology, inputs: Inputs) -> Topology:
    """The same topology with given rows in place of some of its spouts.

    Raises:
        TopologyError: a name that is no spout's.
    """
    check_names(topology, "spout", inputs, [spout.id for spout in topology.spouts])
    components = (_rows(c, inputs[c.id]) if c.id in inputs else c for c in topology.components)
    return replace(topology, components=tuple(components))


def collected(topology: Topology, sinks: Collection[str]) -> Topology:
    """The same topology with a sink that keeps its rows in place of some of its bolts.

    Raises:
        TopologyError: a name that is no bolt's.
    """
    check_names(topology, "bolt", sinks, [bolt.id for bolt in topology.bolts])
    components = (_keeping(c) if c.id in sinks else c for c in topology.components)
    return replace(topology, components=tuple(components))


def check_names(topology: Topology, role: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse names that nothing has.

    Raises:
        TopologyError: there are some.
    """
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
