"""A spout that emits what a test gives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.components import Spout
from framework.errors import TopologyError
from framework.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
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
    spouts = [spout.id for spout in topology.spouts]
    wrong = [name for name in inputs if name not in spouts]
    if wrong:
        raise TopologyError(Problem(topology.sources.at(), unknown("spout", name, spouts)) for name in wrong)
    components = (_replaced(c, inputs[c.id]) if c.id in inputs else c for c in topology.components)
    return replace(topology, components=tuple(components))


def _replaced(spout: ComponentSpec, rows: Rows | Mapping[str, Rows]) -> ComponentSpec:
    streams = rows if isinstance(rows, Mapping) else {DEFAULT_STREAM: rows}
    held = {stream: [list(row) for row in given] for stream, given in streams.items()}
    implementation = PythonImplementation(ObjectDef(class_path(GivenRows), args=(held,), cls=GivenRows))
    config = {**spout.config, "viper.spout.bounded": True}
    return replace(spout, implementation=implementation, parallelism=1, tasks=1, config=config)
