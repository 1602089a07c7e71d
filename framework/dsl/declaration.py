"""From the specs of a topology class to the topology as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from framework.dsl.parallelism import chosen
from framework.dsl.spec import Spec
from framework.python_places import ClassSource
from framework.topology import (
    ComponentSpec,
    Input,
    Loaded,
    Path,
    Place,
    Problem,
    SourceMap,
    Topology,
)

_KEYWORDS = {"par": "parallelism", "inputs": "inputs", "config": "config"}
"""Arguments of ``spec`` that have a place of their own, and what they are called in a `Path`."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A topology class, ours or streamparse's, as far as a topology depends on it."""

    source: ClassSource
    specs: Mapping[str, Spec]
    """By attribute, in order of definition; every spec has its name."""
    config: Mapping[str, Any]

    def topology(self, name: str | None = None, environment: str | None = None) -> Loaded:
        """The topology that the class declares; what cannot be said in one is a problem.

        Without a name it has that of its file, as for ``sparse``.
        """
        problems: list[Problem] = []
        components = []
        for attribute, spec in self.specs.items():
            problems += _unnamed_inputs(spec, self.source.place(attribute, "inputs"))
            try:
                parallelism = chosen(spec.par, environment)
            except ValueError as error:
                problems.append(Problem(self.source.place(attribute, "par"), str(error)))
                parallelism = 1
            components.append(_component(spec, parallelism))
        topology = Topology(
            name or PurePath(self.source.file).stem or self.source.name,
            tuple(components),
            deepcopy(dict(self.config)),
            sources=SourceMap(dict(self._places())),
        )
        return Loaded(topology, tuple(problems))

    def _places(self) -> Iterator[tuple[Path, Place]]:
        yield (), self.source.place()
        yield ("config",), self.source.place("config")
        for attribute, spec in self.specs.items():
            component: Path = ("components", spec.name or attribute)
            yield component, self.source.place(attribute)
            for keyword, part in _KEYWORDS.items():
                yield (*component, part), self.source.place(attribute, keyword)


def _component(spec: Spec, parallelism: int) -> ComponentSpec:
    return ComponentSpec(
        spec.name or "",
        spec.role,
        spec.implementation,
        spec.outputs,
        tuple(
            Input(stream.component_name, grouping, stream.streamId)
            for stream, grouping in spec.inputs
            if stream.component_name is not None
        ),
        parallelism,
        config=deepcopy(dict(spec.config)),
    )


def _unnamed_inputs(spec: Spec, place: Place) -> Iterator[Problem]:
    for stream, _ in spec.inputs:
        if stream.component_name is None:
            message = f"an input is {stream.componentId!r}, expected an attribute of the topology class"
            yield Problem(place, message)
