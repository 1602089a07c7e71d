"""From a file to a topology."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.discovery.modules import own_modules
from framework.flux.beans import check_references, read_beans, read_worker_hooks
from framework.flux.existing import existing_topology
from framework.flux.includes import Draft, Includes
from framework.flux.reading import Reading
from framework.flux.section import value_of
from framework.flux.streams import with_inputs
from framework.flux.substitution import AsFlux, InNodes, Values
from framework.flux.vertices import read_vertex
from framework.importing import importable, project_folders
from framework.topology import ComponentSpec, Loaded, Role, SourceMap, Topology, unknown

_UNNAMED = "unnamed"


def load_flux(
    path: str | os.PathLike[str],
    *,
    substitutions: Mapping[str, str] = {},
    environ: Mapping[str, str] = os.environ,
    strict: bool = False,
) -> Loaded:
    """The topology in a YAML file in Storm Flux's format.

    Whatever is wrong with the file is among the problems, with its line, and never an exception;
    the topology holds as much as could be read.

    Args:
        path: the file.
        substitutions: values of ``${key}``, e.g. from `read_properties`.
        environ: values of ``${ENV-NAME}``.
        strict: whether ``${...}`` is replaced exactly as Flux does it: in the text of the file,
            only the last of a line, and what has no value stays.
    """
    file = os.fspath(path)
    reading = Reading(project_folders(file))
    values = Values(substitutions, environ)
    substitution = AsFlux(values) if strict else InNodes(values)
    with importable(reading.import_paths), own_modules():
        draft = Includes(substitution, reading).draft(file)
        topology = None if draft is None else _topology(draft, reading)
    return Loaded(topology, tuple(sorted(reading.problems, key=lambda problem: problem.sort_key)))


def _topology(draft: Draft, reading: Reading) -> Topology | None:
    name, config = _name(draft, reading), _config(draft, reading)
    beans = reading.beans = read_beans(draft.beans, reading)
    if draft.topology_source is not None:
        topology = existing_topology(draft, Topology(name, (), config, beans), reading)
    else:
        components = _in_order(_components(draft, reading), draft, reading)
        topology = Topology(name, components, config, beans, read_worker_hooks(draft.worker_hooks, reading))
    check_references(beans, reading)
    if topology is None:
        return None
    sources = SourceMap({**topology.sources.places, **reading.places})
    return replace(topology, sources=sources, import_paths=reading.import_paths)


def _components(draft: Draft, reading: Reading) -> tuple[ComponentSpec, ...]:
    spouts = (read_vertex(section, Role.SPOUT, reading) for section in draft.spouts)
    bolts = (read_vertex(section, Role.BOLT, reading) for section in draft.bolts)
    components = [component for component in (*spouts, *bolts) if component is not None]
    return with_inputs(components, draft.streams, reading)


def _name(draft: Draft, reading: Reading) -> str:
    reading.places[()] = draft.place
    if draft.name is None:
        if draft.topology_source is None:
            reading.report(draft.place, "a topology without 'name': expected a text")
        return _UNNAMED
    reading.places["name",] = draft.name[0]
    return draft.name[1]


def _config(draft: Draft, reading: Reading) -> dict[str, Any]:
    for key, (place, _) in draft.config.items():
        reading.places["config", key] = place
    return {key: value_of(node, reading) for key, (_, node) in draft.config.items()}


def _in_order(
    components: Sequence[ComponentSpec], draft: Draft, reading: Reading
) -> tuple[ComponentSpec, ...]:
    """Spouts before bolts, unless ``order`` says that they were defined otherwise."""
    ids = [component.id for component in components]
    for component_id, place in draft.order.items():
        if component_id not in ids:
            reading.report(place, unknown("component", component_id, ids))
    position = {component_id: index for index, component_id in enumerate(draft.order)}
    # Sorting is stable: what is not named comes last, as it stands.
    return tuple(sorted(components, key=lambda component: position.get(component.id, len(position))))
