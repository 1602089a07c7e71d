"""From specs to the topology as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        problems: list[Problem] = []
        components = tuple(self._component(spec, environment, problems) for spec in self.specs)
        config = deepcopy(dict(self.config))
        topology = Topology(name or self.name, components, config, sources=self.sources)
        return Loaded(topology, tuple(problems))

    def _component(self, spec: Spec, environment: str | None, problems: list[Problem]) -> ComponentSpec:
        name = spec.name or ""
        try:
            parallelism = chosen(spec.par, environment)
        except ValueError as error:
            parallelism = 1
            problems.append(Problem(self.sources.at("components", name, "parallelism"), str(error)))
        return ComponentSpec(
            name,
            spec.role,
            spec.implementation,
            spec.outputs,
            tuple(Input(stream.component_name, how, stream.streamId) for stream, how in spec.inputs),
            parallelism,
            spec.tasks,
            deepcopy(spec.config),
            dict(spec.resources),
        )
