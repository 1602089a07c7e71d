"""From a topology in any of Python's forms to the topology as a value."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import cast

from framework.adapters.streamparse import from_streamparse
from framework.builder import TopologyBuilder
from framework.discovery.selection import EXPECTED, is_topology
from framework.dsl import topology_of
from framework.dsl.topology import TopologyType
from framework.errors import LoadError
from framework.topology import Loaded, Topology


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
    if isinstance(value, TopologyBuilder):
        return value.declaration(name).topology(environment=environment)
    if isinstance(value, TopologyType):
        return topology_of(value, environment, name)
    return from_streamparse(cast(type, value), environment=environment, name=name)


def renamed(loaded: Loaded, name: str | None) -> Loaded:
    """The same under another name; None keeps the name that it has."""
    if loaded.topology is None or name is None:
        return loaded
    return replace(loaded, topology=replace(loaded.topology, name=name))
