"""The right output of a topology, computed without the runtime: sort all input, process it, sort again.

A position is (time, one mark for each depth), and a mark is (index of the component, index of the output),
with nothing where a tuple went past a depth. Components are asked one after the other, sources first;
nothing is batched, merged, buffered, laid out in bits or run at the same time as something else.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from framework import Tuple
from framework.model.topology import ComponentSpec, Role, Topology
from framework.model.topology.graph import depths
from tests.determinism.plain_states import PlainStates

Path = tuple[tuple[int, ...], ...]
Position = tuple[int, Path]
Placed = tuple[Position, str, tuple[Any, ...]]
"""Position, stream, values."""


class Oracle:
    """One topology of generator spouts and of bolts without ticks; every bolt has one task.

    What bolts declare as state is in dictionaries.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._depths = depths(topology)
        self._emitted: dict[str, list[Placed]] = {}
        parallel = [(c.id, n) for c in topology.components for n in range(c.parallelism)]
        self._tasks = {task: number for number, task in enumerate(parallel, 1)}
        self._context = {"task->component": {str(id): name for (name, _), id in self._tasks.items()}}

    def output(self, sink: str = "sink") -> Mapping[str, Sequence[str]]:
        """The rows of every stream and of the sink, in order, as text."""
        rows: dict[str, list[str]] = {}
        for component_id in self._depths:  # sources before their targets
            component = self._topology.component(component_id)
            emitted = self._emitted[component_id] = sorted(self._run(component), key=itemgetter(0))
            for stream in component.outputs or ():
                mine = [repr(values) for _, name, values in emitted if name == stream.name]
                rows[f"{component_id}/{stream.name}"] = mine
        received = self._inputs(self._topology.component(sink))
        return {**rows, "sink": [repr(values) for _, _, _, values in received]}

    def _run(self, component: ComponentSpec) -> list[Placed]:
        if component.role is Role.SPOUT:
            return [row for index in range(component.parallelism) for row in self._spout(component, index)]
        return self._bolt(component) if component.outputs else []

    def _spout(self, component: ComponentSpec, partition: int) -> list[Placed]:
        spout = self._made(component, partition)
        fields = (component.outputs or ())[0].fields
        placed: list[Placed] = []
        for row in spout.tuples():
            ts = row[fields.index("time")] if "time" in fields else len(placed) + 1
            count = sum(before[0][0] == ts for before in placed) + 1
            mark = (self._tag(component), partition, count)
            placed.append(((ts, self._marked((), 0, mark)), "default", tuple(copy.deepcopy(row))))
        return placed

    def _bolt(self, component: ComponentSpec) -> list[Placed]:
        bolt = self._made(component, 0)
        collector = bolt._collector = _Collector()
        states = PlainStates(bolt)
        depth, tag = self._depths[component.id], self._tag(component)
        placed: list[Placed] = []
        for (ts, path), source, stream, values in self._inputs(component):
            tup = Tuple("", source, stream, 0, copy.deepcopy(values))
            if states.is_empty:
                _finish(bolt.process(tup))
            else:
                states.enter(self._key(component, tup))
                _process_or_skip(bolt, tup, states)
            for ordinal, (name, emitted) in enumerate(collector.take(), 1):
                placed.append(((ts, self._marked(path, depth, (tag, ordinal))), name, emitted))
        return placed

    def _made(self, component: ComponentSpec, index: int) -> Any:
        """One of its tasks, initialized, without noise."""
        implementation: Any = component.implementation
        made = implementation.definition.cls(*implementation.definition.args)
        made.component_name, made.task_id = component.id, self._tasks[component.id, index]
        made.initialize({}, self._context)
        return made

    def _inputs(self, component: ComponentSpec) -> list[tuple[Position, str, str, tuple[Any, ...]]]:
        found = [
            (position, read.source, stream, values)
            for read in component.inputs
            for position, stream, values in self._emitted[read.source]
            if stream == read.stream
        ]
        return sorted(found, key=itemgetter(0))

    def _key(self, component: ComponentSpec, tup: Tuple) -> tuple[Any, ...]:
        """The values of the fields that a tuple is grouped by; those of the bolt if it gets all."""
        found = next(i for i in component.inputs if (i.source, i.stream) == (tup.component, tup.stream))
        outputs = self._topology.component(found.source).outputs or ()
        fields = next(stream.fields for stream in outputs if stream.name == tup.stream)
        return tuple(tup.values[fields.index(name)] for name in found.grouping.names or ("key",))

    def _tag(self, component: ComponentSpec) -> int:
        """Its place among those of its depth, in the order of their definition."""
        depth = self._depths[component.id]
        return [c.id for c in self._topology.components if self._depths[c.id] == depth].index(component.id)

    def _marked(self, path: Path, depth: int, mark: tuple[int, ...]) -> Path:
        """The path with a mark; the depths that it went past have none."""
        return (*path, *[()] * (depth - len(path)), mark)


def _process_or_skip(bolt: Any, tup: Tuple, states: PlainStates) -> None:
    """Process a tuple; one that raises before it emits anything has been there for nothing."""
    try:
        bolt.process(tup)
    except ValueError:
        states.back()


def _finish(result: Any) -> None:
    """Run what a coroutine function has returned, and that waits for nothing but other coroutines."""
    if inspect.iscoroutine(result):
        with contextlib.suppress(StopIteration):
            while True:
                result.send(None)


class _Collector:
    """Keeps what a bolt emits."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, tuple[Any, ...]]] = []

    def emit(self, tup: Sequence[Any], stream: str | None = None, **_options: Any) -> None:
        """Keep a row."""
        self._rows.append((stream or "default", tuple(copy.deepcopy(tup))))

    def take(self) -> list[tuple[str, tuple[Any, ...]]]:
        """All rows since the last time."""
        rows, self._rows = self._rows, []
        return rows
