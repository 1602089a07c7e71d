"""From a file to a topology."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.frontends.discovery import is_topology, own_modules, problems_of, topology_from
from framework.frontends.flux.components import read_vertex, with_inputs
from framework.frontends.flux.includes import Draft, Includes
from framework.frontends.flux.objects import check_references, read_beans, read_unimported, read_worker_hooks
from framework.frontends.flux.reading import Reading
from framework.frontends.flux.section import Section, value_of
from framework.frontends.flux.substitution import AsFlux, InNodes, Values
from framework.model.errors import LoadError
from framework.model.importing import import_object, importable, looks_like_java, project_folders
from framework.model.instantiate import Beans, check_method
from framework.model.topology import (
    ComponentSpec,
    Loaded,
    ObjectDef,
    Problem,
    Role,
    SourceMap,
    Topology,
    last_subscriptions,
    unknown,
)

_METHODS = ("getTopology", "get_topology")

_UNNAMED = "unnamed"


def existing_topology(draft: Draft, declared: Topology, reading: Reading) -> Topology | None:
    """The topology that the source returns, under the file's name and with the file's config over its own.

    Args:
        draft: has the topology source.
        declared: name, config and beans of the file.
        reading: collects what is wrong.
    """
    section = draft.topology_source
    assert section is not None
    for key, others in (("spouts", draft.spouts), ("bolts", draft.bolts), ("streams", draft.streams)):
        if others:
            reading.report(others[0].place, f"{key} beside 'topologySource': expected one or the other")
    definition = read_unimported(section, reading)
    loaded = _guarded(definition, section, declared, reading)
    reading.problems.extend(loaded.problems)
    if loaded.topology is None:
        return None
    name = loaded.topology.name if draft.name is None else declared.name
    return replace(loaded.topology, name=name, config={**loaded.topology.config, **declared.config})


def _guarded(definition: ObjectDef, section: Section, declared: Topology, reading: Reading) -> Loaded:
    place = section.place_of("className")
    if looks_like_java(definition.class_name):
        reading.report(
            place, f"{definition.class_name} is Java: expected Python code that makes the topology"
        )
        return Loaded(None, ())
    try:
        value = _value(definition, section.text("methodName"), declared)
        if not is_topology(value):
            raise LoadError(f"{definition.class_name} made {value!r}, expected a topology")
        return topology_from(value, declared.name)
    except LoadError as error:
        reading.report(place, str(error))
    except (Exception, SystemExit) as error:
        reading.problems.extend(problems_of(error, place, reading.import_paths))
    return Loaded(None, ())


def _value(definition: ObjectDef, method: str | None, declared: Topology) -> object:
    found = import_object(definition.class_name)
    if is_topology(found):
        return found
    if isinstance(found, type):
        source = Beans(declared.beans).make(replace(definition, cls=found))
        found = getattr(source, _method_name(found, method))
    return _called(found, dict(declared.config))


def _method_name(cls: type, method: str | None) -> str:
    """The method to call. Flux's default may have Python's style in the class, even if the file names it."""
    if method in (None, _METHODS[0]):
        method = next((name for name in _METHODS if hasattr(cls, name)), _METHODS[0])
    check_method(cls, method)
    return method


def _called(function: Any, conf: dict[str, Any]) -> object:
    """Call what makes the topology, with the configuration if it takes one."""
    if not callable(function):
        raise LoadError(f"{function!r} is no topology source: expected a class, a function or a topology")
    return function(conf) if _parameters(function) else function()


def _parameters(function: Callable[..., object]) -> int:
    return len(inspect.signature(function).parameters)


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


def without_idle_bolts(loaded: Loaded) -> Loaded:
    """A topology as Flux would build it: it makes a bolt where a stream leads to it, and no other bolt."""
    topology = loaded.topology
    idle = [] if topology is None else [bolt for bolt in topology.bolts if not bolt.inputs]
    if topology is None or not idle:
        return loaded
    warnings = [
        Problem(
            topology.sources.at("components", bolt.id),
            f"bolt {bolt.id!r} has no inputs, so it is left out, as Flux does: expected a stream to it",
            warning=True,
        )
        for bolt in idle
    ]
    made = tuple(found for found in topology.components if found.role is Role.SPOUT or found.inputs)
    return Loaded(replace(topology, components=made), (*loaded.problems, *warnings))


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
    topology = replace(topology, sources=sources, import_paths=reading.import_paths)
    topology, replaced = last_subscriptions(topology)
    reading.problems.extend(replaced)
    return topology


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
    ids = {component.id for component in components}
    for component_id, place in draft.order.items():
        if component_id not in ids:
            reading.report(place, unknown("component", component_id, ids))
    position = {component_id: index for index, component_id in enumerate(draft.order)}
    # Sorting is stable: what is not named comes last, as it stands.
    return tuple(sorted(components, key=lambda component: position.get(component.id, len(position))))
