"""Which values of a module are topologies, and the topology that each stands for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import cast

from framework.frontends import streamparse
from framework.frontends.builder import TopologyBuilder
from framework.frontends.dsl import topology_of
from framework.frontends.dsl.topology import Topology as TopologyBase
from framework.frontends.dsl.topology import TopologyType
from framework.frontends.streams import StreamBuilder
from framework.model.errors import LoadError
from framework.model.topology import Loaded, Topology, did_you_mean, one_of

EXPECTED = (
    "a Topology class, a topology, a TopologyBuilder, a StreamBuilder or a function that returns one of them"
)


def is_topology(value: object) -> bool:
    """Whether a value is a topology in any of Python's forms."""
    return (
        isinstance(value, Topology | TopologyBuilder | StreamBuilder)
        or (isinstance(value, TopologyType) and value is not TopologyBase)
        or streamparse.is_topology(value)
    )


def named(module: ModuleType, name: str) -> object:
    """The topology, or function that makes one, of that name, which may be dotted.

    Raises:
        LoadError: there is none.
    """
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise LoadError(f"{module.__name__!r} has no {name!r}{_alternatives(module, name)}")
        value = getattr(value, part)
    if not is_topology(value) and not inspect.isroutine(value):
        kind = "class" if isinstance(value, type) else type(value).__name__
        raise LoadError(f"{name!r} is a {kind}, expected {EXPECTED}")
    return value


def first(module: ModuleType) -> tuple[object, str, list[str]]:
    """The first topology of a module, its name, and the names of the others that are passed over.

    What the module defines comes before what it imports. A builder does not count where
    there is anything else: it is what a topology beside it was made with.

    Raises:
        LoadError: there is none.
    """
    found = topologies_in(module)
    own = {name: value for name, value in found.items() if _is_own(value, module)} or found
    finished = {name: value for name, value in own.items() if not _is_builder(value)} or own
    if not finished:
        raise LoadError(f"there is no topology in it: expected {EXPECTED}{_alternatives(module, '')}")
    names = list(finished)
    return finished[names[0]], names[0], names[1:]


def topologies_in(module: ModuleType) -> Mapping[str, object]:
    """All topologies of a module by name, each once, in order of definition."""
    found: dict[str, object] = {}
    for name, value in vars(module).items():
        if is_topology(value) and all(value is not other for other in found.values()):
            found[name] = value
    return found


def _is_builder(value: object) -> bool:
    return isinstance(value, TopologyBuilder | StreamBuilder)


def _is_own(value: object, module: ModuleType) -> bool:
    return not isinstance(value, type) or value.__module__ == module.__name__


def _alternatives(module: ModuleType, name: str) -> str:
    functions = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    topologies = list(topologies_in(module))
    near = did_you_mean(name, [*topologies, *functions])
    if near:
        return near
    if topologies:
        return f"; its topologies: {one_of(topologies)}"
    return f"; to take what a function returns, add its name: {one_of(functions)}" if functions else ""


def topology_from(
    value: object, default_name: str, environment: str | None = None, name: str | None = None
) -> Loaded:
    """The topology that a topology class, a builder, a topology or a function without arguments stands for.

    Args:
        value: one of these, see `is_topology`.
        default_name: name of what has no name of its own.
        environment: chooses from a ``par`` that is given per environment.
        name: the name to give to it, whatever it says.

    Raises:
        LoadError: the function returned something else.
    """
    if inspect.isroutine(value):
        function, value = value, value()
        if not is_topology(value):
            raise LoadError(f"{function.__name__}() returned {value!r}, expected {EXPECTED}")
    if isinstance(value, Topology):
        return renamed(Loaded(value, ()), name)
    name = name or default_name
    if isinstance(value, TopologyBuilder | StreamBuilder):
        return value.declaration(name).topology(environment=environment)
    if isinstance(value, TopologyType):
        return topology_of(value, environment, name)
    return streamparse.from_streamparse(cast(type, value), environment=environment, name=name)


def renamed(loaded: Loaded, name: str | None) -> Loaded:
    """The same under another name; None keeps the name that it has."""
    if loaded.topology is None or name is None:
        return loaded
    return replace(loaded, topology=replace(loaded.topology, name=name))
