"""The imports of a process while it stands by, so that it need not once it has the place of a worker."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress

from framework.model.importing import import_class
from framework.model.topology import ObjectDef, Topology
from framework.runtime.tasks.hosts.registry import host_factory

OF_STATE = (
    "framework.operators.state.handles",
    "framework.operators.state.lists",
    "framework.operators.state.maps",
)
"""Modules that a task imports where its component declares state."""
_OF_TYPED_STREAMS = ("viper.columns.batches", "viper.columns.payload")
"""Likewise, where typed streams begin or end at it."""


def import_components(topology: Topology) -> None:
    """Import all that the making of a topology's tasks needs, and make nothing.

    Raises:
        LoadError: a class cannot be imported.
    """
    for component in topology.components:
        host_factory(component)
    for definition in _other_definitions(topology):
        if definition.cls is None:
            import_class(definition.class_name)
    for module in OF_STATE:
        importlib.import_module(module)
    streams = [stream for component in topology.components for stream in component.outputs or ()]
    if any(stream.schema is not None for stream in streams):
        with suppress(ImportError):  # of pyarrow, which single tuples do without
            for module in _OF_TYPED_STREAMS:
                importlib.import_module(module)


def _other_definitions(topology: Topology) -> Iterator[ObjectDef]:
    """The modules that make beans and custom groupings."""
    for bean in topology.beans:
        yield bean.definition
    for component in topology.components:
        for found in component.inputs:
            if found.grouping.definition is not None:
                yield found.grouping.definition
