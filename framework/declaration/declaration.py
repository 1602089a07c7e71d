"""From specs to the topology as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from framework.declaration.parallelism import chosen
from framework.declaration.spec import Spec
from framework.topology import ComponentSpec, Input, Loaded, Problem, SourceMap, Topology


@dataclass(frozen=True, slots=True)
class Declaration:
    """What any front end in Python says about a topology."""

    name: str
    """Name of the topology, if no other is asked for."""
    specs: Sequence[Spec]
    """In order of definition; every spec has its name."""
    config: Mapping[str, Any]
    sources: SourceMap

    def topology(self, name: str | None = None, environment: str | None = None) -> Loaded:
        """The topology, not validated; what cannot be said in one is a problem.

        Args:
            name: name of the topology, if not that of the declaration.
            environment: chooses from a ``par`` that is given per environment.
        """
        resolved = [self._component(spec, environment) for spec in self.specs]
        topology = Topology(
            name or self.name,
            tuple(component for component, _ in resolved),
            deepcopy(dict(self.config)),
            sources=self.sources,
        )
        return Loaded(topology, tuple(problem for _, problems in resolved for problem in problems))

    def _component(self, spec: Spec, environment: str | None) -> tuple[ComponentSpec, list[Problem]]:
        problems = list(self._unnamed_inputs(spec))
        try:
            parallelism = chosen(spec.par, environment)
        except ValueError as error:
            place = self.sources.at("components", spec.name or "", "parallelism")
            problems.append(Problem(place, str(error)))
            parallelism = 1
        return _component(spec, parallelism), problems

    def _unnamed_inputs(self, spec: Spec) -> Iterator[Problem]:
        for index, (stream, _) in enumerate(spec.inputs):
            if stream.component_name is None:
                place = self.sources.at("components", spec.name or "", "inputs", index)
                message = f"an input is {stream.componentId!r}, expected an attribute of the topology class"
                yield Problem(place, message)


def _component(spec: Spec, parallelism: int) -> ComponentSpec:
    inputs = (
        Input(stream.component_name, grouping, stream.streamId)
        for stream, grouping in spec.inputs
        if stream.component_name is not None
    )
    return ComponentSpec(
        spec.name or "",
        spec.role,
        spec.implementation,
        spec.outputs,
        tuple(inputs),
        parallelism,
        spec.tasks,
        deepcopy(spec.config),
        dict(spec.resources),
    )
