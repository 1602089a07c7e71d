"""Any bolt of a topology as a batch bolt: what comes of it must be the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Any

from framework import BatchBolt, Rows, TopologyBuilder
from framework.model.importing import import_class
from framework.model.topology import ObjectDef, PythonImplementation, Role, Topology, class_path
from framework.operators.components import Tuple
from framework.operators.sinks import Sink
from framework.runtime.exchange.inputs import values_class


class InBatches(BatchBolt):
    """Gives the rows of a batch to another bolt, one after the other, and emits in bulk what that emits.

    Args:
        path: the other bolt's class.
        args: its constructor's arguments.
    """

    def __init__(self, path: str, args: list[Any]) -> None:
        super().__init__()
        self._bolt: Any = import_class(path)(*args)
        self._emitted: list[tuple[str | None, int, Any]] = []
        self._index = 0

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        return self._bolt.outputs

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._bolt.emit = self._take
        for name in ("component_name", "task_id", "storm_conf", "context"):
            setattr(self._bolt, name, getattr(self, name))
        self._bolt.initialize(storm_conf, context)
        self._emit_all(within=False)

    def process_rows(self, rows: Rows) -> None:
        named = values_class(rows.component, rows.stream, rows.fields)
        for self._index, values in enumerate(rows):
            self._bolt.process(Tuple("", rows.component, rows.stream, 0, named(*values)))
        self._emit_all(within=True)

    def process_tick(self, tup: Any) -> None:
        self._bolt.process_tick(tup)
        self._emit_all(within=False)

    def _take(self, values: Any, stream: str | None = None) -> None:
        self._emitted.append((stream, self._index, values))

    def _emit_all(self, *, within: bool) -> None:
        emitted, self._emitted = self._emitted, []
        for stream, group in groupby(emitted, key=lambda one: one[0]):
            ones = list(group)
            of = [index for _, index, _ in ones] if within else None
            self.emit_rows([values for *_, values in ones], of, stream)


def in_batches(builder: TopologyBuilder, name: str = "tested") -> Topology:
    """The topology with all its bolts, but for sinks, as batch bolts."""
    topology = builder.build(name)

    def changed(component: Any) -> Any:
        definition = component.implementation.definition
        if component.role is not Role.BOLT or issubclass(definition.cls, Sink):
            return component
        made = ObjectDef(class_path(InBatches), (definition.class_name, list(definition.args)), cls=InBatches)
        return replace(component, implementation=PythonImplementation(made))

    return replace(topology, components=tuple(map(changed, topology.components)))
