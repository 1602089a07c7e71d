"""The components that a test puts in place of a topology's: rows for spouts, and sinks that keep rows."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from framework.model.errors import LoadError, TopologyError
from framework.model.importing import import_class, importable
from framework.model.instantiate import Beans
from framework.model.topology import (
    DEFAULT_STREAM,
    ComponentSpec,
    Grouping,
    GroupingKind,
    Input,
    ObjectDef,
    Place,
    Problem,
    PythonImplementation,
    Topology,
    class_path,
    unknown,
)
from framework.operators.components import Block, PartitionedSpout, Spout
from framework.operators.sinks import CollectingSink

Rows = Iterable[Sequence[Any]]
Inputs = Mapping[str, Rows | Mapping[str, Rows]]
"""For spouts by id: rows of values for the default stream, or rows for each stream by name."""
Timed = tuple[str, int, tuple[Any, ...]]
"""The stream, the event time in microseconds and the values of a row."""
Clock = Callable[[Mapping[str, Any]], int | None]
"""Tells the event time of a row, as of `PartitionedSpout.time_of`."""


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


class GivenPartition(PartitionedSpout):
    """Emits the given rows at their event times, the earliest first, and ends.

    Args:
        rows: the stream, the event time in microseconds and the values of each.
    """

    def __init__(self, rows: Sequence[Timed]) -> None:
        super().__init__()
        self._rows = sorted(rows, key=lambda row: row[1])

    @property
    def partitions(self) -> int:
        """A single one."""
        return 1

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block]:
        """All rows."""
        for stream, time_us, row in self._rows:
            yield Block(array("q", [time_us]), [row], mutable=True, stream=stream)


def given(topology: Topology, inputs: Inputs) -> Topology:
    """Replace some spouts of a topology by given rows.

    If the rows of a spout have an event time of their own, as those of a file with a timestamp field, so do
    the rows that replace them.

    Raises:
        TopologyError: a name that is no spout's, or a row whose event time cannot be read.
    """
    check_names(topology, "spout", inputs, [spout.id for spout in topology.spouts])
    beans = Beans(topology.beans)
    components = list(topology.components)
    with importable(topology.import_paths):
        for index, spout in enumerate(components):
            if spout.id in inputs:
                components[index] = _given(spout, inputs[spout.id], _clock(spout, beans))
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


def _given(spout: ComponentSpec, rows: Rows | Mapping[str, Rows], clock: Clock | None) -> ComponentSpec:
    streams = rows if isinstance(rows, Mapping) else {DEFAULT_STREAM: rows}
    held = {stream: [list(row) for row in given] for stream, given in streams.items()}
    timed = None if clock is None else _timed(spout, held, clock)
    cls, argument = (GivenRows, held) if timed is None else (GivenPartition, timed)
    implementation = PythonImplementation(ObjectDef(class_path(cls), args=(argument,), cls=cls))
    config = {**spout.config, "viper.spout.bounded": True}
    return replace(spout, implementation=implementation, parallelism=1, tasks=1, config=config)


def _clock(spout: ComponentSpec, beans: Beans) -> Clock | None:
    """Find the clock that reads the event time of a spout's rows; None for a source without event times."""
    if isinstance(spout.implementation, PythonImplementation):
        definition = spout.implementation.definition
        with suppress(LoadError):  # rows stand in for what cannot be made here, too
            if issubclass(definition.cls or import_class(definition.class_name), PartitionedSpout):
                source: PartitionedSpout = beans.make(definition)
                return source.time_of
    return None


def _timed(
    spout: ComponentSpec, streams: Mapping[str, Sequence[list[Any]]], clock: Clock
) -> list[Timed] | None:
    """The rows of a spout with their event times; None where they have none.

    Only rows of the default stream have times of their own. Rows of other streams come at the first of these
    times.
    """
    fields = next((each.fields for each in spout.outputs or () if each.name == DEFAULT_STREAM), ())
    times: list[int] = []
    for number, row in enumerate(streams.get(DEFAULT_STREAM, ()), 1):
        try:
            time_us = clock(dict(zip(fields, row, strict=False)))
        except ValueError as error:
            raise TopologyError(
                [Problem(Place(attribute="inputs"), f"row {number} of {spout.id!r}: {error}")]
            ) from None
        if time_us is None:
            return None
        times.append(time_us)
    first_us = min(times, default=0)
    return [
        (stream, times[index] if stream == DEFAULT_STREAM else first_us, tuple(row))
        for stream, rows in streams.items()
        for index, row in enumerate(rows)
    ]


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
