"""From specs to the topology as a value, and whether that is well-formed.

What is malformed is refused where it is declared; everything else is judged before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from framework.frontends.declaration.python_sources import ClassSource, class_source
from framework.model.errors import TopologyError
from framework.model.specs import Par, Spec
from framework.model.specs.late import LATE, with_late_stream
from framework.model.topology import (
    ComponentSpec,
    Input,
    Loaded,
    Path,
    Place,
    Problem,
    SourceMap,
    Stream,
    Topology,
    last_subscriptions,
    unknown,
)

ANY_ENVIRONMENT = "*"
"""Stands for whatever environment will be chosen; of all numbers it takes the smallest."""

_PARTS = {"par": "parallelism", "inputs": "inputs", "config": "config"}
"""Arguments of ``spec`` that have a place of their own, and what they are called in a `Path`."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A topology as a front end in Python declares it."""

    name: str
    """Name of the topology, if no other is asked for."""
    specs: Sequence[Spec]
    """In order of definition; every spec has its name."""
    config: Mapping[str, Any]
    sources: SourceMap
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Specs, and a config, that a topology class does not inherit: the class that has each, by attribute."""

    def topology(self, name: str | None = None, environment: str | None = None) -> Loaded:
        """The topology, not validated, and a problem for each part that does not fit into one.

        Args:
            name: name of the topology, if not that of the declaration.
            environment: chooses from a ``par`` that is given per environment.
        """
        problems: list[Problem] = []
        components = tuple(self._component(spec, environment, problems) for spec in self.specs)
        config = deepcopy(dict(self.config))
        topology = Topology(name or self.name, components, config, sources=self.sources)
        topology, replaced = last_subscriptions(topology)
        return Loaded(topology, (*self._not_inherited(), *problems, *replaced))

    def _not_inherited(self) -> Iterator[Problem]:
        """A warning if the class extends one with specs that are not in its own body."""
        if self.left_out:
            owners = " and ".join(dict.fromkeys(self.left_out.values()))
            lines = "; ".join(f"{name} = {owner}.{name}" for name, owner in self.left_out.items())
            yield Problem(
                self.sources.at(),
                "a topology class has the specs and the config of its own body only, and inherits none, as "
                f"in streamparse: to have those of {owners}, too, write in its body: {lines}",
                warning=True,
            )

    def _component(self, spec: Spec, environment: str | None, problems: list[Problem]) -> ComponentSpec:
        name = spec.name or ""
        try:
            parallelism = chosen_parallelism(spec.par, environment)
        except ValueError as error:
            parallelism = 1
            problems.append(Problem(self.sources.at("components", name, "parallelism"), str(error)))
        return ComponentSpec(
            name,
            spec.role,
            spec.implementation,
            self._outputs(spec),
            tuple(Input(stream.component_name, how, stream.streamId) for stream, how in spec.inputs),
            parallelism,
            spec.tasks,
            deepcopy(spec.config),
            dict(spec.resources),
        )

    def _outputs(self, spec: Spec) -> tuple[Stream, ...]:
        """The streams of a component, with the one that its configuration or the topology's has named."""
        if not (spec.outputs and getattr(spec.component_cls, "declares_late_stream", False)):
            return spec.outputs
        return with_late_stream(spec.outputs, spec.config.get(LATE, self.config.get(LATE)))


def class_declaration(
    file: str,
    qualname: str,
    specs: Mapping[str, Spec],
    config: Mapping[str, Any],
    left_out: Mapping[str, str] = {},
) -> Declaration:
    """The declaration of a topology class.

    Args:
        file: path of the file that defines the class.
        qualname: its qualified name there.
        specs: its specs, by attribute.
        config: the topology's configuration.
        left_out: as of `Declaration`.

    Its topology has the name of its file, as for ``sparse``.
    """
    source = class_source(file, qualname)
    name = PurePath(source.file).stem or source.name
    places = SourceMap(dict(_places(source, specs)))
    return Declaration(name, list(specs.values()), config, places, left_out)


def _places(source: ClassSource, specs: Mapping[str, Spec]) -> Iterator[tuple[Path, Place]]:
    yield (), source.place()
    yield ("config",), source.place("config")
    for attribute, spec in specs.items():
        component: Path = ("components", spec.name or attribute)
        yield component, source.place(attribute)
        for keyword, part in _PARTS.items():
            yield (*component, part), source.place(attribute, keyword)


def chosen_parallelism(par: Par, environment: str | None) -> int:
    """The parallelism in an environment, or the only one there is.

    Raises:
        ValueError: it depends on the environment, and `environment` is None or not named in ``par``.
    """
    if isinstance(par, int):
        return par
    if environment == ANY_ENVIRONMENT:
        return min(par.values())
    if environment is None:
        return _the_only(par)
    if environment not in par:
        raise ValueError(unknown("environment", environment, par))
    return par[environment]


def _the_only(par: Mapping[str, int]) -> int:
    if len(set(par.values())) > 1:
        entries = ", ".join(f"{name!r}: {number}" for name, number in par.items())
        raise ValueError(f"par depends on the environment ({entries}): choose one, with --environment")
    return next(iter(par.values()))


def accepted(loaded: Loaded) -> Topology:
    """The topology, if it is well-formed: ids, inputs, streams, fields and parallelism fit together.

    Raises:
        TopologyError: it is not; the error has whatever else is wrong with it, too.
    """
    # Importing the framework needs no validation, only declaring a topology does.
    from framework.planning.validation import validate

    topology, problems = loaded.topology, loaded.problems
    if topology is None or not all(found.warning for found in problems) or not _is_well_formed(topology):
        wrong = [found for found in validate(topology) if not found.warning] if topology is not None else ()
        # A warning of the declaration may be the cause: that its class inherits no specs.
        raise TopologyError((*problems, *wrong))
    return topology


def _is_well_formed(topology: Topology) -> bool:
    from framework.planning.validation import structure, subscriptions

    rules = (
        structure.check_component_ids,
        structure.check_spouts,
        structure.check_bolts,
        subscriptions.check_sources,
        subscriptions.check_stream_names,
        subscriptions.check_fields,
        structure.check_parallelism,
    )
    return all(problem.warning for rule in rules for problem in rule(topology))
