"""A small valid topology, and how the tests change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from framework.model.topology import (
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    Path,
    Place,
    PythonImplementation,
    Role,
    SourceMap,
    Stream,
    Topology,
    class_path,
)
from framework.operators.components import Bolt, Spout, Tuple


class Lines(Spout):
    def tuples(self) -> Iterator[list[str]]:
        yield ["a line"]


class Split(Bolt):
    def process(self, tup: Tuple) -> None:
        self.emit(tup.values)


def python(cls: type) -> PythonImplementation:
    return PythonImplementation(ObjectDef(class_path(cls), cls=cls))


def spout(
    component_id: str = "lines", outputs: tuple[Stream, ...] | None = None, **more: Any
) -> ComponentSpec:
    declared = (Stream(["line"]),) if outputs is None else outputs
    return ComponentSpec(component_id, Role.SPOUT, python(Lines), declared, **more)


def bolt(
    component_id: str, *inputs: Input, outputs: tuple[Stream, ...] | None = (), **more: Any
) -> ComponentSpec:
    return ComponentSpec(component_id, Role.BOLT, python(Split), outputs, inputs, **more)


WORDS = Stream(["word"])
SPLIT = bolt("split", Input("lines", Grouping.SHUFFLE), outputs=(WORDS,))
COUNT = bolt("count", Input("split", Grouping.fields("word")))


def topology(*components: ComponentSpec, **more: Any) -> Topology:
    """A topology whose every component, input and grouping has a place of its own.

    Component number n is on line 10 * n, its m-th input (from 0) on line 10 * n + m + 1.
    """
    places: dict[Path, Place] = {(): Place("wc.yaml", 1)}
    for number, component in enumerate(components, 1):
        places["components", component.id] = Place("wc.yaml", 10 * number)
        for position in range(len(component.inputs)):
            place = Place("wc.yaml", 10 * number + position + 1)
            places["components", component.id, "inputs", position] = place
    return replace(Topology("wc", components, sources=SourceMap(places)), **more)
