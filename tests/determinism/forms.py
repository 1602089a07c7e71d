"""The same topology in another form: its streams typed, its bolts given batches, its spouts bringing columns.

None of this may show in the output. Which component is in which form is drawn, so that every kind of producer
feeds every kind of consumer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Final

import numpy as np

from framework import Grouping, OPlus, Rows, Spout, Stream
from framework.model.importing import import_class
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
    class_path,
)
from framework.operators.sinks import Sink
from framework.operators.state import declared_states
from tests.determinism.components import Batches, Numbers
from tests.determinism.special_components import Asks, Awaits, Directs, MixedKeys, Wares
from tests.determinism.state_components import Counted, CountedInRows
from tests.framework.runtime.batches import InBatches

FORMS: Final = ("single", "typed", "mixed")
"""As it is; with typed streams; and with typed streams, in batches, by rows or by columns, as it is drawn."""
_TYPES: Final = {"key": "int64 not null", "trail": "string", "time": "int64", "side": "string"}
_UNTYPED: Final = (MixedKeys, Wares)
"""Spouts whose values are of any type, and so are those of what stands after them."""
_SINGLE: Final = (Asks, Awaits, Batches, Directs, OPlus, Sink)
"""Bolts that ask or name who gets a tuple, or wait for others; those with batches or windows; and sinks."""
_BY_ROWS: Final = {Counted: CountedInRows}
"""Bolts that do the same by rows for those that declare state, where the key is one field."""
_BY_KEY: Final = Grouping.fields("key")
MOST_ROWS: Final = 9


class InColumns(InBatches):
    """As `InBatches`, by the columns of what it receives and emits, where these are typed.

    Args:
        path: the other bolt's class.
        args: its constructor's arguments.
        is_typed: whether its own streams are.
    """

    def __init__(self, path: str, args: list[Any], is_typed: bool) -> None:
        super().__init__(path, args)
        self._is_typed = is_typed

    def process_rows(self, rows: Rows) -> None:
        values = list(rows)
        if rows.schema is not None:
            values = list(zip(*(array.to_pylist() for array in rows.batch().columns), strict=True))
        super().process_rows(Rows(values, rows.component, rows.stream, rows.fields))

    def _emit_all(self, *, within: bool) -> None:
        if not self._is_typed:
            super()._emit_all(within=within)
            return
        emitted, self._emitted = self._emitted, []
        for stream, group in groupby(emitted, key=lambda one: one[0]):
            ones = list(group)
            of = np.array([index for _, index, _ in ones]) if within else None
            fields = self._fields_of(stream or "default")
            emit_columns(partial(self.emit_rows, of=of, stream=stream), fields, [row for *_, row in ones])

    def _fields_of(self, stream: str) -> Sequence[str]:
        declared = self._bolt.outputs
        if not isinstance(declared[0], Stream):
            return tuple(declared)
        return next(one.fields for one in declared if one.name == stream)


class BringsColumns(Spout):
    """Brings the rows of a generator spout as columns.

    Args:
        path: the spout's class.
        args: its constructor's arguments.
    """

    def __init__(self, path: str, args: list[Any]) -> None:
        super().__init__()
        self._spout: Any = import_class(path)(*args)

    @property
    def outputs(self) -> Any:  # type: ignore[override]
        return self._spout.outputs

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        for name in ("component_name", "task_id", "storm_conf", "context"):
            setattr(self._spout, name, getattr(self, name))
        self._spout.initialize(storm_conf, context)

    def tuples(self) -> Iterator[Any]:
        waiting: list[Any] = []
        for row in self._spout.tuples():
            if row is not None:
                waiting.append(row)
            if waiting and (row is None or len(waiting) == MOST_ROWS):
                yield columns_of(self.outputs, waiting)
                waiting = []
            if row is None:
                yield None
        if waiting:
            yield columns_of(self.outputs, waiting)


def columns_of(fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Rows as columns by name, of which numbers are an array of NumPy."""
    columns = dict(zip(fields, map(list, zip(*rows, strict=True)), strict=True))
    return {**columns, "key": np.array(columns["key"])}


def emit_columns(emit: Any, fields: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Emit rows as columns, and write to the array of numbers afterwards."""
    columns = columns_of(fields, rows)
    emit(columns)
    columns["key"][:] = -99


def in_form(topology: Topology, form: str, seed: str) -> Topology:
    """A topology in one of `FORMS`; the seed says which of its components are in which."""
    if form == "single" or any(issubclass(_class(c), _UNTYPED) for c in topology.components):
        return topology
    draw = random.Random(f"form of {seed}")
    return replace(topology, components=tuple(_changed(c, form, draw) for c in topology.components))


def _class(component: ComponentSpec) -> type:
    cls: type = _definition(component).cls
    return cls


def _definition(component: ComponentSpec) -> Any:
    implementation: Any = component.implementation
    return implementation.definition


def _changed(component: ComponentSpec, form: str, draw: random.Random) -> ComponentSpec:
    # Where not all streams are typed, typed and untyped ones meet, too.
    is_typed = form == "typed" or draw.random() < 0.8
    if component.outputs is not None and is_typed:
        component = replace(component, outputs=tuple(map(_typed, component.outputs)))
    cls = _class(component)
    if form == "typed" or issubclass(cls, _SINGLE):
        return component
    if declared_states(cls):
        by_key = all(read.grouping == _BY_KEY for read in component.inputs)
        chosen_class = _BY_ROWS.get(cls, cls) if by_key else cls
        return _made(component, chosen_class, _definition(component).args)
    if component.role is Role.SPOUT:
        brings = is_typed and issubclass(cls, Numbers) and draw.random() < 0.6
        return _within(component, BringsColumns) if brings else component
    chosen = draw.choice((None, InBatches, InColumns, InColumns))
    if chosen is None:
        return component
    return _within(component, chosen, *([is_typed] if chosen is InColumns else []))


def _typed(stream: Stream) -> Stream:
    return Stream(stream.fields, stream.name, stream.direct, {name: _TYPES[name] for name in stream.fields})


def _within(component: ComponentSpec, cls: type, *more: Any) -> ComponentSpec:
    """The component within another one, which gets these arguments, too."""
    definition = _definition(component)
    return _made(component, cls, (definition.class_name, list(definition.args), *more))


def _made(component: ComponentSpec, cls: type, args: Sequence[Any]) -> ComponentSpec:
    made = ObjectDef(class_path(cls), tuple(args), cls=cls)
    return replace(component, implementation=PythonImplementation(made))
