"""``topologySource``: a topology that Python code makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from framework.discovery.failures import problems_of
from framework.discovery.selection import is_topology
from framework.discovery.values import topology_from
from framework.errors import LoadError
from framework.flux.includes import Draft
from framework.flux.objects import read_unimported
from framework.flux.reading import Reading
from framework.flux.section import Section
from framework.importing import import_object, looks_like_java
from framework.instantiate import Beans, check_method
from framework.topology import Loaded, ObjectDef, Topology

_METHODS = ("getTopology", "get_topology")


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
    if method is None:
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
