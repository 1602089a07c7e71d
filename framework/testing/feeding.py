"""The components that a harness puts in place of others: spouts that it feeds, and bolts that hold tuples."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from framework.model.topology import (
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
    class_path,
)
from framework.operators.components import Bolt, Spout
from framework.testing.given import check_names


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


def fed(topology: Topology, spouts: Collection[str]) -> Topology:
    """The same topology with spouts in place of some of its own that emit what a harness gives them.

    Raises:
        TopologyError: a name that is no spout's.
    """
    check_names(topology, "spout", spouts, [spout.id for spout in topology.spouts])
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
